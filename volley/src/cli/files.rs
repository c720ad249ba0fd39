//! Which files a command reads and writes: nothing may overwrite another output, or what is read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::args::RunArgs;
use super::options::STDOUT;
use super::usage::{CliExit, UsageError};
use crate::spec::{SchemaSource, Spec};

/// A flag, or the name of an argument, and its file.
pub type Named<'a> = (&'static str, &'a Path);

/// What can be overwritten.
#[derive(PartialEq, Eq)]
enum Place {
    Stdout,
    /// A file that exists: its device and its number there.
    File(u64, u64),
    Missing(PathBuf),
}

/// Checks the files of a run.
///
/// # Errors
///
/// If two of them are one.
pub fn check_run(args: &RunArgs, spec: &Spec) -> Result<(), UsageError> {
    let (target, data, watch) = (&args.target, &args.data, &args.watch);
    let schema = match &spec.request.schema {
        SchemaSource::Reflection => None,
        SchemaSource::Proto { file, .. } => Some(("--proto", file.as_path())),
        SchemaSource::Protoset(file) => Some(("--protoset", file.as_path())),
    };
    let tls = &spec.target.tls;
    let read = [
        ("--config", &target.config),
        ("--data-file", &data.data_file),
        ("--binary-file", &data.binary_file),
        ("--metadata-file", &data.metadata_file),
        ("--cacert", &tls.cacert),
        ("--cert", &tls.cert),
        ("--key", &tls.key),
    ];
    let written = [
        ("--live-json", &watch.live_json),
        ("--debug", &watch.debug),
        ("--save-replies", &watch.save_replies),
    ];
    let read: Vec<Named<'_>> = given(&read).chain(schema).collect();
    let report = output(args.output.report.output.as_deref());
    let written: Vec<Named<'_>> = std::iter::once(report).chain(given(&written)).collect();
    check(&written, &read)
}

/// Refuses an empty name: it counts as not given.
pub fn need_file(file: &Path, what: &str) -> Result<(), CliExit> {
    match file.as_os_str().is_empty() {
        true => Err(CliExit::usage(format!("no FILE: give {what}"))),
        false => Ok(()),
    }
}

/// Where a report goes.
pub fn output(path: Option<&Path>) -> Named<'_> {
    let path = path.filter(|path| !path.as_os_str().is_empty());
    ("--output", path.unwrap_or(Path::new(STDOUT)))
}

/// Those that are given.
pub fn given<'a>(files: &[(&'static str, &'a Option<PathBuf>)]) -> impl Iterator<Item = Named<'a>> {
    let files = files.iter();
    let given = files.filter_map(|(flag, path)| Some((*flag, path.as_deref()?)));
    given.filter(|(_, path)| !path.as_os_str().is_empty())
}

/// Checks that each of `written` is a file of its own, and none of `read`.
///
/// # Errors
///
/// If two of them are one.
pub fn check(written: &[Named<'_>], read: &[Named<'_>]) -> Result<(), UsageError> {
    for (at, (flag, path)) in written.iter().enumerate() {
        let Some(place) = place(path) else {
            continue;
        };
        let is_same = |other: &&Named<'_>| self::place(other.1).as_ref() == Some(&place);
        if let Some((first, _)) = written.iter().take(at).find(is_same) {
            return Err(match place {
                Place::Stdout if *first == "--output" => UsageError::StdoutTwice { flag },
                _ => UsageError::WrittenTwice {
                    first,
                    second: flag,
                    path: path.to_path_buf(),
                },
            });
        }
        let is_read = |other: &&Named<'_>| other.1 != Path::new(STDOUT) && is_same(other);
        if let Some((reads, _)) = read.iter().find(is_read) {
            return Err(UsageError::Overwritten {
                flag,
                reads,
                path: path.to_path_buf(),
            });
        }
    }
    Ok(())
}

/// `None`: what is written there overwrites nothing, as in a pipe or a device.
fn place(path: &Path) -> Option<Place> {
    if path == Path::new(STDOUT) {
        return Some(Place::Stdout);
    }
    if let Ok(file) = fs::metadata(path) {
        return file.is_file().then(|| Place::File(file.dev(), file.ino()));
    }
    let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
    // In a folder that is missing, nothing can be written.
    Some(Place::Missing(folder.ok()?.join(path.file_name()?)))
}
