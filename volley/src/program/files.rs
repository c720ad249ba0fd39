//! The files that a command writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::cli::STDOUT;

/// The files that a command has created. Those in which nothing is written are removed, unless the command succeeds.
#[derive(Default)]
pub struct Files {
    created: Vec<PathBuf>,
}

impl Files {
    /// Opens a file, and creates it if it is missing. What it holds stays.
    pub fn open(&mut self, flag: &str, path: &Path) -> Result<File, Failure> {
        let mut options = OpenOptions::new();
        let file = match options.write(true).create_new(true).open(path) {
            Ok(file) => {
                self.created.push(path.to_owned());
                Ok(file)
            }
            // The file that a link leads to may be missing.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                options.create_new(false).create(true).open(path)
            }
            Err(error) => Err(error),
        };
        file.map_err(|error| unwritable(flag, path, &error).into())
    }

    /// Opens a file for new content, or stdout.
    pub fn empty(&mut self, flag: &str, path: &Path) -> Result<Box<dyn Write + Send>, Failure> {
        if path == Path::new(STDOUT) {
            return Ok(Box::new(io::stdout()));
        }
        let file = self.open(flag, path)?;
        empty(&file).map_err(|error| unwritable(flag, path, &error))?;
        Ok(Box::new(file))
    }

    /// The same, if a file is named.
    pub fn empty_if(
        &mut self,
        flag: &str,
        path: Option<&Path>,
    ) -> Result<Option<Box<dyn Write + Send>>, Failure> {
        path.map(|path| self.empty(flag, path)).transpose()
    }

    /// The command has succeeded.
    pub fn keep(&mut self) {
        self.created.clear();
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in &self.created {
            if fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) {
                // An empty file does no harm.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Truncates the file of an older report. A device or a pipe cannot be truncated, and refuses.
pub fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(())
}

pub fn unwritable(flag: &str, path: &Path, error: &io::Error) -> io::Error {
    let path = path.display();
    let reason = match error.kind() {
        ErrorKind::NotFound => "its folder is missing: make it".to_owned(),
        _ => error.to_string(),
    };
    io::Error::other(format!("`{flag}`: cannot write `{path}`: {reason}"))
}
