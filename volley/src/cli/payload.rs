//! Data and metadata, read from their sources.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use super::apply::{filled, filled_path};
use super::args::DataArgs;
use super::usage::UsageError;
use super::value;
use crate::input;
use crate::spec::Data;

/// Whether stdin is the payload.
pub fn is_on_stdin(args: &DataArgs) -> bool {
    args.binary == Some(true) || args.data.as_deref().map(str::trim) == Some("@")
}

/// Whether a flag gives the payload.
pub fn is_given(args: &DataArgs) -> bool {
    args.data.is_some()
        || args.data_file.is_some()
        || args.binary == Some(true)
        || args.binary_file.is_some()
}

/// The payload, if one is given.
pub fn data(args: &DataArgs, stdin: &mut impl Read) -> Result<Option<Data>, UsageError> {
    let inline = filled(args.data.as_deref());
    let json_file = filled_path(&args.data_file);
    let binary = args.binary == Some(true);
    let binary_file = filled_path(&args.binary_file);
    let flags = [
        ("--data", inline.is_some()),
        ("--data-file", json_file.is_some()),
        ("--binary", binary),
        ("--binary-file", binary_file.is_some()),
    ];
    only_one("payload", &flags)?;
    if let Some(path) = binary_file {
        return Ok(Some(Data::Binary(read("binary-file", &path, input::DATA)?)));
    }
    if binary {
        return Ok(Some(Data::Binary(read_stdin("--binary", stdin)?)));
    }
    if let Some(path) = json_file {
        let bytes = read("data-file", &path, input::DATA)?;
        let text = text("--data-file", &format!("`{}`", path.display()), bytes)?;
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        let extension = extension.as_ref().and_then(|name| name.to_str());
        return Ok(Some(match extension {
            Some("csv") => Data::Csv(text),
            Some("jsonl" | "ndjson") => Data::JsonLines(text),
            _ => Data::Json(text),
        }));
    }
    match inline.as_deref() {
        None => Ok(None),
        Some("@") => text("--data @", "stdin", read_stdin("--data @", stdin)?)
            .map(|text| Some(Data::Json(text))),
        Some(json) => Ok(Some(Data::Json(json.to_owned()))),
    }
}

/// The metadata, if some is given, from a flag or a file.
pub fn metadata(args: &DataArgs) -> Result<Option<BTreeMap<String, String>>, UsageError> {
    let inline = args.metadata.clone();
    let Some(path) = filled_path(&args.metadata_file) else {
        return Ok(inline);
    };
    let is_inline = inline.is_some_and(|given| !given.is_empty());
    let flags = [("--metadata", is_inline), ("--metadata-file", true)];
    only_one("metadata", &flags)?;
    let bytes = input::unmarked(read("metadata-file", &path, input::TEXT)?);
    value::strings(&String::from_utf8_lossy(&bytes))
        .map(Some)
        .map_err(|reason| UsageError::Metadata { path, reason })
}

/// JSON from a file or stdin. It is parsed when requests are made, because templates may make it
/// JSON only then.
fn text(flag: &'static str, from: &str, bytes: Vec<u8>) -> Result<String, UsageError> {
    let source = from.to_owned();
    match String::from_utf8(input::unmarked(bytes)) {
        Err(_) => Err(UsageError::Encoding { flag, from: source }),
        Ok(text) if text.trim().is_empty() => Err(UsageError::Empty { flag, from: source }),
        Ok(text) => Ok(text),
    }
}

fn only_one(what: &'static str, flags: &[(&'static str, bool)]) -> Result<(), UsageError> {
    let mut given = flags.iter().filter(|(_, given)| *given);
    match (given.next(), given.next()) {
        (Some((first, _)), Some((second, _))) => Err(UsageError::Twice {
            first,
            second,
            what,
        }),
        _ => Ok(()),
    }
}

fn read(flag: &'static str, path: &Path, most: u64) -> Result<Vec<u8>, UsageError> {
    input::read(path, most).map_err(|error| UsageError::File {
        flag,
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn read_stdin(flag: &'static str, stdin: &mut impl Read) -> Result<Vec<u8>, UsageError> {
    input::all(stdin, input::DATA).map_err(|error| UsageError::Stdin {
        flag,
        reason: error.to_string(),
    })
}
