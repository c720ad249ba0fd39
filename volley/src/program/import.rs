//! `volley import`: a file of another load generator becomes a scenario file.

use std::path::Path;
use std::process::ExitCode;

use super::check::{refuse, warn};
use super::{Failure, Out};
use crate::cli::Import;
use crate::scenario::file::{self, How};

/// Imports a file, and prints what it becomes, or everything that is wrong with it.
///
/// # Errors
///
/// If the new file cannot be written.
pub fn import(args: &Import) -> Result<ExitCode, Failure> {
    let folder = args.output.as_deref().and_then(Path::parent);
    let how = How {
        as_run: args.as_run,
        from: Path::new(""),
        to: folder.unwrap_or(Path::new("")),
    };
    let imported = file::text(&args.file).and_then(|text| file::import(&text, &args.file, how));
    let imported = match imported {
        Ok(imported) => imported,
        Err(mistakes) => return Ok(refuse(&mistakes)),
    };
    let out = Out::open(args.output.as_deref())?;
    warn(&imported.warnings().collect::<Vec<_>>());
    out.print(|out| {
        if args.is_json() {
            serde_json::to_writer_pretty(&mut *out, &imported.json())?;
            return writeln!(out);
        }
        out.write_all(imported.yaml().as_bytes())
    })?;
    Ok(ExitCode::SUCCESS)
}
