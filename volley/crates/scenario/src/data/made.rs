//! Values that need no rows.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::plan::{Source, TimeFormat};
use volley_base::uuid::Uuid;

/// Appends a new value of a source without rows.
pub(super) fn write(source: &Source, random: &mut fastrand::Rng, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match source {
        Source::Random { low, high } => {
            integer(random.i64(*low.min(high)..=*high.max(low)), out);
            Ok(())
        }
        Source::RandomText { length } => {
            out.extend((0..*length).map(|_| random.alphanumeric() as u8));
            Ok(())
        }
        Source::Uuid => {
            out.extend_from_slice(&Uuid::new(random).text());
            Ok(())
        }
        Source::Time(format) => {
            let now = SystemTime::now();
            let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
            match format {
                TimeFormat::Rfc3339 => match jiff::Timestamp::try_from(now) {
                    Ok(time) => write!(out, "{time:.3}"),
                    Err(_) => Ok(()),
                },
                TimeFormat::UnixSeconds => write!(out, "{}", since.as_secs()),
                TimeFormat::UnixMillis => write!(out, "{}", since.as_millis()),
                TimeFormat::UnixNanos => write!(out, "{}", since.as_nanos()),
            }
        }
        Source::Csv { .. } | Source::JsonLines { .. } | Source::Rows(_) | Source::Range { .. } => {
            Ok(())
        }
    };
}

/// Appends a number with zeros in front, up to `width` digits.
pub(super) fn padded(number: u64, width: usize, out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number).as_bytes();
    out.resize(out.len() + width.saturating_sub(digits.len()), b'0');
    out.extend_from_slice(digits);
}

fn integer(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
