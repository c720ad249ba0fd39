//! The same JSON for eyes: indented by two spaces.

use std::io::{self, Write};

use super::json;
use super::model::Report;

/// Writes what [`json::write`](super::json::write) does, over many lines.
///
/// # Errors
///
/// Those of `out`.
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
