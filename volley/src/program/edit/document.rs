//! The file on disk.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::Builder;

use crate::input;
use crate::report::ghz_options::sha256;
use crate::scenario::file::LARGEST;

/// The version of a file that does not exist.
const ABSENT: &str = "absent";

/// A file that is replaced in one step, and only if nothing else has changed it.
#[derive(Debug)]
pub struct Document {
    /// Without links.
    path: PathBuf,
    /// Held while the file is replaced.
    turn: Mutex<()>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// `None`: there is no file.
    pub text: Option<String>,
    /// Another content has another one.
    pub version: String,
}

/// Why a file was not saved.
#[derive(Debug)]
pub enum Unsaved {
    /// It is not what it was.
    Changed,
    Host(io::Error),
}

impl From<io::Error> for Unsaved {
    fn from(error: io::Error) -> Self {
        Self::Host(error)
    }
}

impl Document {
    /// The file at a path, or where there will be one.
    ///
    /// # Errors
    ///
    /// Its folder is missing, or it is a link that leads nowhere.
    pub fn new(path: &Path) -> io::Result<Self> {
        let path = match fs::canonicalize(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if path.is_symlink() {
                    return Err(io::Error::other("the link leads nowhere"));
                }
                let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
                let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
                folder.join(path.file_name().unwrap_or_default())
            }
            found => found?,
        };
        Ok(Self {
            path,
            turn: Mutex::new(()),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its name is that of a JSON file.
    pub fn is_json(&self) -> bool {
        let extension = self.path.extension();
        extension.is_some_and(|extension| extension == "json")
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no UTF-8.
    pub fn read(&self) -> io::Result<Content> {
        // Its byte order mark stays.
        match input::read(&self.path, LARGEST).and_then(input::utf8) {
            Ok(text) => Ok(Content {
                version: sha256(text.as_bytes()),
                text: Some(text),
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Content {
                text: None,
                version: ABSENT.to_owned(),
            }),
            Err(error) => Err(error),
        }
    }

    /// Whether it is there, and may not be written to.
    pub fn is_read_only(&self) -> bool {
        let opened = OpenOptions::new().write(true).open(&self.path);
        opened.is_err_and(|error| error.kind() != ErrorKind::NotFound)
    }

    /// Replaces it in one step if its version is still the one that was `seen`. Returns the new version. The mode stays.
    ///
    /// # Errors
    ///
    /// It has changed, or the host refuses.
    pub fn save(&self, text: &str, seen: &str) -> Result<String, Unsaved> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let old = match input::read(&self.path, LARGEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            read => Some(read?),
        };
        if old.as_deref().map_or(ABSENT.to_owned(), sha256) != seen {
            return Err(Unsaved::Changed);
        }
        let mut prefix = OsString::from(".");
        prefix.push(self.path.file_name().unwrap_or_default());
        // A new file has what the process's umask leaves; what is there already stays as private as it is.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let mut new = Builder::new()
            .prefix(&prefix)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)
            // Its own words name a file of which nobody knows.
            .map_err(|error| {
                let kind = error.kind();
                io::Error::new(kind, format!("its folder takes no new file: {kind}"))
            })?;
        new.write_all(text.as_bytes())?;
        match old {
            Some(_) => {
                // A file that may not be written to is not replaced either.
                let old = OpenOptions::new().write(true).open(&self.path)?;
                let old = old.metadata()?;
                // Only root can give a file away.
                let _ = fchown(new.as_file(), Some(old.uid()), Some(old.gid()));
                new.as_file().set_permissions(old.permissions())?;
                new.as_file().sync_all()?;
                new.persist(&self.path).map_err(|error| error.error)?;
            }
            None => {
                new.as_file().sync_all()?;
                new.persist_noclobber(&self.path)
                    .map_err(|error| match error.error.kind() {
                        ErrorKind::AlreadyExists => Unsaved::Changed,
                        _ => error.error.into(),
                    })?;
            }
        }
        // The file is there; where the file system can do that, its name survives a crash of the host, too.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(sha256(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_save_keeps_the_mode_and_the_link_and_leaves_nothing_else_behind() {
        let folder = folder();
        let (path, link) = (folder.path().join("a.yaml"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let document = Document::new(&link).unwrap();
        let seen = document.read().unwrap();
        assert_eq!(seen.text.as_deref(), Some("old"));
        let version = document.save("new", &seen.version).unwrap();
        assert_eq!(version, document.read().unwrap().version);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), ["a.yaml", "link"]);
    }

    #[test]
    fn a_file_that_something_else_has_changed_made_or_removed_stays() {
        let folder = folder();
        let path = folder.path().join("a.yaml");
        let document = Document::new(&path).unwrap();
        let absent = document.read().unwrap();
        assert_eq!(absent.text, None);
        fs::write(&path, "theirs").unwrap();
        let save = |seen: &str| document.save("ours", seen);
        assert!(matches!(save(&absent.version), Err(Unsaved::Changed)));
        let theirs = document.read().unwrap();
        fs::write(&path, "theirs again").unwrap();
        assert!(matches!(save(&theirs.version), Err(Unsaved::Changed)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs again");
        fs::remove_file(&path).unwrap();
        assert!(matches!(save(&theirs.version), Err(Unsaved::Changed)));
        assert!(save(&absent.version).is_ok());
        assert_eq!(names(folder.path()), ["a.yaml"]);
    }

    #[test]
    fn a_folder_that_takes_no_file_is_named_and_not_the_file_in_between() {
        let folder = folder();
        let document = Document::new(&folder.path().join("a.yaml")).unwrap();
        assert!(!document.is_read_only());
        folder.close().unwrap();
        let Err(Unsaved::Host(error)) = document.save("new", ABSENT) else {
            panic!("it was saved");
        };
        let expected = "its folder takes no new file: entity not found";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_may_not_be_written_to_is_known_before_a_save() {
        let folder = folder();
        let path = folder.path().join("a.yaml");
        fs::write(&path, "").unwrap();
        assert!(!Document::new(&path).unwrap().is_read_only());
        // Root may write to any file, but not to a folder.
        assert!(Document::new(folder.path()).unwrap().is_read_only());
    }

    #[test]
    fn a_folder_that_is_missing_and_a_link_that_leads_nowhere_are_found_at_once() {
        let folder = folder();
        assert!(Document::new(&folder.path().join("no/a.yaml")).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("none.yaml", &link).unwrap();
        assert!(Document::new(&link).is_err());
    }
}
