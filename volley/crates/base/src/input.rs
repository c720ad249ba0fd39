//! Files that a user names. They are plain files or pipes, and have a limit each: a wrong name costs no memory.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

pub mod table;

/// The most bytes of a `--config`.
pub const CONFIG: u64 = 1 << 20;

/// The most bytes of what people write: scenarios, scripts, metadata. Also of certificates, and of bodies.
pub const TEXT: u64 = 16 << 20;

/// The most bytes of a descriptor set, and of a `.proto` file.
pub const SCHEMA: u64 = 64 << 20;

/// The most bytes of what programs write: reports, and data for calls.
pub const DATA: u64 = 1 << 30;

/// Opens a file to read it. A pipe may have no writer yet: this then waits for one, as `cat` does.
///
/// # Errors
///
/// It is missing, or neither a plain file nor a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_fifo() {
        return File::open(path);
    }
    let what = match kind.is_dir() {
        true => "a folder",
        false if kind.is_socket() => "a socket",
        false => "a device",
    };
    let problem = format!("it is {what}, and neither a file nor a pipe");
    Err(io::Error::other(problem))
}

/// Whether a file can be read whole, more than once: it is a plain one of at most so many bytes.
///
/// # Errors
///
/// It is missing, something else, or longer.
pub fn check(path: &Path, most: u64) -> io::Result<()> {
    let file = fs::metadata(path)?;
    match file.is_file() {
        false => Err(io::Error::other("it is not a file")),
        true if file.len() > most => Err(too_long(most)),
        true => Ok(()),
    }
}

/// Reads a file of at most so many bytes.
///
/// # Errors
///
/// It cannot be opened or read, or is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    // Of a pipe, the length is not known.
    if length > most {
        return Err(too_long(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    read_into(file, most, &mut bytes)?;
    Ok(bytes)
}

/// Reads the text of a file, which has at most so many bytes; a byte order mark at its start is left out.
///
/// # Errors
///
/// As for [`read`]; or it is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    utf8(unmarked(read(path, most)?))
}

/// Bytes as text.
///
/// # Errors
///
/// It is not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Text without a byte order mark at its start.
#[must_use]
pub fn unmarked(mut text: Vec<u8>) -> Vec<u8> {
    if text.starts_with("\u{feff}".as_bytes()) {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// Reads to the end: at most so many bytes.
///
/// # Errors
///
/// It cannot be read, or is longer.
pub fn all(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(from, most, &mut bytes)?;
    Ok(bytes)
}

fn read_into(from: impl Read, most: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    match from.take(most + 1).read_to_end(bytes)? as u64 > most {
        true => Err(too_long(most)),
        false => Ok(()),
    }
}

fn too_long(most: u64) -> io::Error {
    let problem = format!("it has more than {} MiB", most >> 20);
    io::Error::new(ErrorKind::FileTooLarge, problem)
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    fn refusal(path: &str) -> String {
        read(Path::new(path), TEXT).unwrap_err().to_string()
    }

    #[test]
    fn what_is_neither_a_file_nor_a_pipe_is_named() {
        let device = "it is a device, and neither a file nor a pipe";
        assert_eq!(refusal("/dev/zero"), device);
        assert_eq!(refusal("/dev/null"), device);
        let folder = "it is a folder, and neither a file nor a pipe";
        assert_eq!(refusal("/"), folder);
        let path = std::env::temp_dir().join(format!("volley-input-{}", std::process::id()));
        let _listener = UnixListener::bind(&path).unwrap();
        let refused = refusal(path.to_str().unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(refused, "it is a socket, and neither a file nor a pipe");
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = Path::new("Cargo.toml");
        let length = fs::metadata(path).unwrap().len();
        assert_eq!(read(path, length).unwrap(), fs::read(path).unwrap());
        let error = read(path, length - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let path = std::env::temp_dir().join(format!("volley-mark-{}", std::process::id()));
        for (written, read) in [
            ("\u{feff}a\u{feff}", "a\u{feff}"),
            ("a", "a"),
            ("\u{feff}", ""),
        ] {
            fs::write(&path, written).unwrap();
            assert_eq!(text(&path, TEXT).unwrap(), read);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(unmarked(vec![0xef, 0xbb]), [0xef, 0xbb]);
    }

    #[test]
    fn a_pipe_is_read_to_its_end_or_its_limit() {
        for (length, most, is_read) in [(1 << 17, 1 << 17, true), (1 << 20, CONFIG - 1, false)] {
            let (reader, mut writer) = pipe().unwrap();
            let name = format!("/dev/fd/{}", reader.as_raw_fd());
            // It may be refused before its end.
            let sender = thread::spawn(move || drop(writer.write_all(&vec![b'x'; length])));
            let found = text(Path::new(&name), most);
            drop(reader);
            sender.join().unwrap();
            match found {
                Ok(text) => assert!(is_read && text.len() == length),
                Err(error) => {
                    assert!(!is_read, "{error}");
                    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
                }
            }
        }
    }
}
