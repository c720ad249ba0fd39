//! What the tests of commands share.

use std::ffi::OsString;
use std::fmt::Debug;

use super::usage::CliExit;

/// What a line of words asks for, or the error. `␣` is a blank in a word.
pub fn parsed<T>(
    parse: impl Fn(&[OsString]) -> Result<T, CliExit>,
    line: &str,
) -> Result<T, String> {
    let words = line.split_whitespace().map(|word| word.replace('␣', " "));
    let words: Vec<OsString> = words.map(OsString::from).collect();
    parse(&words).map_err(|exit| exit.to_string())
}

/// Each of these lines is refused, in one line.
#[track_caller]
pub fn refused<T: Debug>(
    parse: impl Fn(&[OsString]) -> Result<T, CliExit>,
    lines: &[impl AsRef<str>],
) {
    for line in lines {
        let error = parsed(&parse, line.as_ref()).unwrap_err();
        assert!(
            error.starts_with("error: ") && !error.contains('\n'),
            "{error}"
        );
    }
}
