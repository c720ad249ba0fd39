//! The same JSON for people: indented by two spaces.

use std::io::{self, Write};

use super::json;
use super::model::Report;

/// Writes the output of [`json::write`](super::json::write) over many lines.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &json::view(report))?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_few_calls_read_as_expected() {
        let mut out = Vec::new();
        write(&samples::few_calls(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            include_str!("samples/few_calls.json")
        );
    }
}
