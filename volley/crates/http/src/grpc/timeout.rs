//! The value of `grpc-timeout`.

use std::time::Duration;

/// The largest number of eight digits.
const MAX_NUMBER: u128 = 99_999_999;

/// Units from the finest, in nanoseconds.
const UNITS: [(u128, char); 6] = [
    (1, 'n'),
    (1_000, 'u'),
    (1_000_000, 'm'),
    (1_000_000_000, 'S'),
    (60_000_000_000, 'M'),
    (3_600_000_000_000, 'H'),
];

/// Writes a timeout in the finest unit that needs at most eight digits (gRPC over HTTP/2, "Timeout").
///
/// Rounded up, so that the server never gives up before the client. Timeouts over 11,000 years are cut to that.
pub fn header_value(timeout: Duration) -> String {
    let ns = timeout.as_nanos();
    let values = UNITS.map(|(unit_ns, unit)| (ns.div_ceil(unit_ns), unit));
    let fitting = values.into_iter().find(|(number, _)| *number <= MAX_NUMBER);
    let (number, unit) = fitting.unwrap_or((MAX_NUMBER, 'H'));
    format!("{number}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_finest_unit_that_fits_eight_digits_is_used() {
        let written = [
            (Duration::ZERO, "0n"),
            (Duration::from_nanos(99_999_999), "99999999n"),
            (Duration::from_millis(100), "100000u"),
            (Duration::from_secs(20), "20000000u"),
            (Duration::from_secs(100), "100000m"),
            (Duration::from_secs(100_000), "100000S"),
            (Duration::from_secs(6_000_000_000), "1666667H"),
        ];
        for (timeout, value) in written {
            assert_eq!(header_value(timeout), value);
        }
    }

    #[test]
    fn what_the_unit_cannot_hold_is_rounded_up() {
        assert_eq!(header_value(Duration::from_nanos(100_000_001)), "100001u");
        assert_eq!(header_value(Duration::new(100, 1)), "100001m");
    }

    #[test]
    fn a_timeout_for_ever_is_cut_to_eight_digits() {
        assert_eq!(header_value(Duration::MAX), "99999999H");
    }

    proptest! {
        #[test]
        fn the_value_is_never_shorter_than_the_timeout_and_never_much_longer(secs in 0u64..1 << 38, nanos in 0u32..1_000_000_000) {
            let timeout = Duration::new(secs, nanos);
            let value = header_value(timeout);
            let (digits, unit) = value.split_at(value.len() - 1);
            prop_assert!(digits.len() <= 8);
            let unit_ns = UNITS.iter().find(|(_, name)| unit.starts_with(*name)).map(|(ns, _)| *ns).unwrap();
            let read = digits.parse::<u128>().unwrap() * unit_ns;
            prop_assert!(read >= timeout.as_nanos() && read - timeout.as_nanos() < unit_ns);
        }
    }
}
