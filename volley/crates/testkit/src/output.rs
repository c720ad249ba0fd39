//! What is written.

use std::io;

/// What an output says of a run.
pub fn written_by<R>(run: &R, write: impl Fn(&R, &mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(run, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
