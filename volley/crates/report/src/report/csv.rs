//! The single calls that were kept, one per line, in ghz's columns.

use std::io::{self, Write};

use super::escape;
use super::ghz;
use super::model::Report;

/// Writes a header and one line per call; durations in ms, exact to the nanosecond.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "duration (ms),status,error")?;
    for detail in &report.details {
        let (status, error) = ghz::status_and_error(detail);
        let (ms, ns) = (detail.latency_ns / 1_000_000, detail.latency_ns % 1_000_000);
        let (status, error) = (escape::csv(status), escape::csv(&error));
        writeln!(out, "{ms}.{ns:06},{status},{error}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn every_kept_call_is_a_line() {
        let mut out = Vec::new();
        write(&samples::few_calls(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            include_str!("samples/few_calls.csv")
        );
    }
}
