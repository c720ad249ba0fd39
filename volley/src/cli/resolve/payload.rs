//! Data and metadata, read from their sources.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use crate::cli::args::DataArgs;
use crate::cli::json;
use crate::cli::options::DataSource;

use super::error::UsageError;
use super::{filled, filled_path, on};

/// The payload that is given; an empty message if none is.
pub fn data(args: &DataArgs, stdin: &mut impl Read) -> Result<DataSource, UsageError> {
    let inline = filled(args.data.as_deref());
    let json_file = filled_path(args.data_file.clone());
    let binary = on(args.binary);
    let binary_file = filled_path(args.binary_file.clone());
    only_one(
        "payload",
        &[
            ("--data", inline.is_some()),
            ("--data-file", json_file.is_some()),
            ("--binary", binary),
            ("--binary-file", binary_file.is_some()),
        ],
    )?;
    if let Some(path) = binary_file {
        return Ok(DataSource::Binary(read("binary-file", &path)?));
    }
    if binary {
        return Ok(DataSource::Binary(read_stdin("--binary", stdin)?));
    }
    if let Some(path) = json_file {
        let bytes = read("data-file", &path)?;
        return text("--data-file", &format!("`{}`", path.display()), bytes);
    }
    match inline.as_deref() {
        None => Ok(DataSource::Json("{}".to_owned())),
        Some("@") => text("--data @", "stdin", read_stdin("--data @", stdin)?),
        Some(json) => Ok(DataSource::Json(json.to_owned())),
    }
}

/// The metadata that is given, from a flag or a file.
pub fn metadata(args: &DataArgs) -> Result<BTreeMap<String, String>, UsageError> {
    let inline = args.metadata.clone().unwrap_or_default();
    let Some(path) = filled_path(args.metadata_file.clone()) else {
        return Ok(inline);
    };
    only_one(
        "metadata",
        &[
            ("--metadata", !inline.is_empty()),
            ("--metadata-file", true),
        ],
    )?;
    let bytes = read("metadata-file", &path)?;
    json::strings(&String::from_utf8_lossy(&bytes))
        .map_err(|reason| UsageError::Metadata { path, reason })
}

/// JSON from a file or stdin. It is parsed when requests are made, because templates may make it
/// JSON only then.
fn text(flag: &'static str, from: &str, bytes: Vec<u8>) -> Result<DataSource, UsageError> {
    let text = String::from_utf8(bytes).map_err(|_| UsageError::Encoding {
        flag,
        from: from.to_owned(),
    })?;
    if text.trim().is_empty() {
        return Err(UsageError::Empty {
            flag,
            from: from.to_owned(),
        });
    }
    Ok(DataSource::Json(text))
}

fn only_one(what: &'static str, flags: &[(&'static str, bool)]) -> Result<(), UsageError> {
    let mut given = flags
        .iter()
        .filter(|(_, given)| *given)
        .map(|(flag, _)| *flag);
    match (given.next(), given.next()) {
        (Some(first), Some(second)) => Err(UsageError::Twice {
            first,
            second,
            what,
        }),
        _ => Ok(()),
    }
}

fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, UsageError> {
    fs::read(path).map_err(|error| UsageError::File {
        flag,
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn read_stdin(flag: &'static str, stdin: &mut impl Read) -> Result<Vec<u8>, UsageError> {
    let mut bytes = Vec::new();
    stdin
        .read_to_end(&mut bytes)
        .map_err(|error| UsageError::Stdin {
            flag,
            reason: error.to_string(),
        })?;
    Ok(bytes)
}
