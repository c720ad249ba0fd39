//! Values that need no rows.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::plan::{Source, TimeFormat};
use volley_base::uuid::Uuid;

/// Appends a new value of a source without rows.
pub(super) fn write(source: &Source, random: &mut fastrand::Rng, out: &mut Vec<u8>) {
    match source {
        Source::Random { low, high } => {
            let number = random.i64(*low.min(high)..=*high.max(low));
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        Source::RandomText { length } => {
            out.extend((0..*length).map(|_| random.alphanumeric() as u8));
        }
        Source::Uuid => out.extend_from_slice(&Uuid::new(random).text()),
        Source::Time(format) => time(*format, out),
        Source::Csv { .. } | Source::JsonLines { .. } | Source::Rows(_) | Source::Range { .. } => {}
    }
}

/// Appends the present time.
fn time(format: TimeFormat, out: &mut Vec<u8>) {
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    // Writing to memory does not fail.
    let _ = match format {
        TimeFormat::Rfc3339 => match jiff::Timestamp::try_from(now) {
            Ok(time) => write!(out, "{time:.3}"),
            Err(_) => Ok(()),
        },
        TimeFormat::UnixSeconds => write!(out, "{}", since.as_secs()),
        TimeFormat::UnixMillis => write!(out, "{}", since.as_millis()),
        TimeFormat::UnixNanos => write!(out, "{}", since.as_nanos()),
    };
}

/// Appends a number with zeros in front, up to `width` digits.
pub(super) fn padded(number: u64, width: usize, out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number).as_bytes();
    out.resize(out.len() + width.saturating_sub(digits.len()), b'0');
    out.extend_from_slice(digits);
}
