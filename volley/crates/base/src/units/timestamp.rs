//! Wall-clock times as RFC 3339 text in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

/// Nanoseconds since 1970. An earlier time counts as 1970.
pub fn unix_ns(wall: SystemTime) -> u64 {
    let since = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// To the second, as in `2026-11-20T09:08:36Z`.
pub fn to_the_second(unix_ns: u64) -> String {
    text(unix_ns, 0)
}

/// To the nanosecond, as in `2026-11-20T09:08:36.611263826Z`.
pub fn to_the_ns(unix_ns: u64) -> String {
    text(unix_ns, 9)
}

fn text(unix_ns: u64, digits: u8) -> String {
    // Any u64 is a time before the year 2600.
    let at = Timestamp::from_nanosecond(unix_ns.into()).unwrap_or_default();
    let printer = DateTimePrinter::new().precision(Some(digits));
    printer.timestamp_to_string(&at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_as_known() {
        assert_eq!(to_the_second(0), "1970-01-01T00:00:00Z");
        let day_before = to_the_second(951_782_399_999_999_999);
        assert_eq!(day_before, "2000-02-28T23:59:59Z");
        let exact = to_the_ns(1_795_165_716_000_000_007);
        assert_eq!(exact, "2026-11-20T09:08:36.000000007Z");
    }
}
