//! Durations as Go writes and reads them: `1h2m3.5s`, `500ms`, `0`.
//!
//! Format: <https://pkg.go.dev/time#ParseDuration>. volley has no negative durations.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

/// Durations longer than Go's own maximum (about 292 years) are refused, as in Go.
const MAX_NS: u128 = i64::MAX as u128;

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    #[error("a duration is a number with a unit, such as `500ms`, `5s` or `1m30s`")]
    NoNumber,
    #[error("the unit is missing: write `{0}s` for seconds, or use h, m, ms, us or ns")]
    NoUnit(String),
    #[error("`{0}` is not a unit of time: use h, m, s, ms, us or ns, as in `5s` or `1m30s`")]
    Unit(String),
    #[error("a duration cannot be negative")]
    Negative,
    #[error("the duration is longer than 292 years")]
    TooLong,
}

/// Reads a duration: one or more numbers, each with its unit. A number may have a fraction, and
/// blanks may stand around units. A bare `0` needs no unit.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    if text.starts_with('-') {
        return Err(DurationError::Negative);
    }
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    if text.is_empty() {
        return Err(DurationError::NoNumber);
    }
    let mut rest = text;
    let mut total = 0u128;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        total += part;
        if total > MAX_NS {
            return Err(DurationError::TooLong);
        }
        rest = after;
    }
    let total = u64::try_from(total).map_err(|_| DurationError::TooLong)?;
    Ok(Duration::from_nanos(total))
}

/// Reads one number with its unit. Returns nanoseconds, and the text behind it.
fn part(text: &str) -> Result<(u128, &str), DurationError> {
    let (whole, rest) = split(text, |c| c.is_ascii_digit());
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => split(rest, |c| c.is_ascii_digit()),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationError::NoNumber);
    }
    let (unit, after) = split(rest, |c| !c.is_ascii_digit() && c != '.');
    let unit_ns = match unit.trim() {
        "ns" => 1,
        // U+00B5 and U+03BC look the same; Go accepts both.
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" => {
            let number = text.strip_suffix(after).unwrap_or(text);
            return Err(DurationError::NoUnit(number.trim_end().to_owned()));
        }
        other => return Err(DurationError::Unit(other.to_owned())),
    };
    let whole = match whole {
        "" => 0,
        digits => digits.parse::<u64>().map_err(|_| DurationError::TooLong)?,
    };
    let whole_ns = u128::from(whole) * unit_ns;
    Ok((whole_ns + fraction_ns(fraction, unit_ns), after))
}

/// Nanoseconds of the digits after the point; anything finer than a nanosecond is dropped.
fn fraction_ns(digits: &str, unit_ns: u128) -> u128 {
    let (mut parts, mut scale) = (0, 1);
    // 10^18 parts of an hour are far below one nanosecond, so further digits cannot matter.
    for digit in digits.bytes().take(18) {
        parts = parts * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    parts * unit_ns / scale
}

fn split(text: &str, of: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !of(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// A duration printed as Go prints it: `1m30s`, `1.5ms`, `0s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoDuration(pub Duration);

impl fmt::Display for GoDuration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        match ns {
            0 => out.write_str("0s"),
            1..1_000 => write!(out, "{ns}ns"),
            1_000..1_000_000 => write!(out, "{}µs", Decimal(ns, 3)),
            1_000_000..1_000_000_000 => write!(out, "{}ms", Decimal(ns, 6)),
            _ => {
                let (minutes, rest) = (ns / 60_000_000_000, ns % 60_000_000_000);
                if minutes >= 60 {
                    write!(out, "{}h", minutes / 60)?;
                }
                if minutes > 0 {
                    write!(out, "{}m", minutes % 60)?;
                }
                write!(out, "{}s", Decimal(rest, 9))
            }
        }
    }
}

/// A number divided by 10 to the power of `.1`, without trailing zeros.
struct Decimal(u128, u32);

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10u128.pow(self.1);
        write!(out, "{}", self.0 / unit)?;
        let fraction = self.0 % unit;
        if fraction == 0 {
            return Ok(());
        }
        let digits = format!("{fraction:0width$}", width = self.1 as usize);
        write!(out, ".{}", digits.trim_end_matches('0'))
    }
}

/// For serde: a duration as text, such as `1m30s`.
pub mod text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use serde_json::Value;

    use super::GoDuration;

    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&GoDuration(*time))
    }

    /// # Errors
    ///
    /// If the text is no duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        read(&Value::deserialize(from)?)
    }

    fn read<E: Error>(value: &Value) -> Result<Duration, E> {
        let text = match value {
            Value::String(text) => text,
            // Only 0 needs no unit.
            Value::Number(number) => &number.to_string(),
            _ => return Err(E::custom("write a time such as `1s`")),
        };
        super::parse(text).map_err(E::custom)
    }

    /// The same for a duration that may be missing.
    pub mod option {
        use super::{Deserialize, Deserializer, Duration, Serializer, Value};

        /// # Errors
        ///
        /// Those of the serializer.
        pub fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => super::serialize(time, to),
                None => to.serialize_none(),
            }
        }

        /// # Errors
        ///
        /// If the text is no duration.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Duration>, D::Error> {
            let value = Option::<Value>::deserialize(from)?;
            value.as_ref().map(super::read).transpose()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn go_durations_are_read_to_the_nanosecond() {
        for (text, ns) in [
            ("0", 0),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("+5s", 5_000_000_000),
            ("500ms", 500_000_000),
            ("1.5ms", 1_500_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("1h2m3.5s", 3_723_500_000_000),
            (" 1 m  30 s ", 90_000_000_000),
            ("1us2µs3μs4ns", 6_004),
            ("0.000000001s", 1),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("9223372036854775807ns", i64::MAX as u64),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_remedy() {
        let line =
            "`parsecs` is not a unit of time: use h, m, s, ms, us or ns, as in `5s` or `1m30s`";
        assert_eq!(refusal("5 parsecs"), line);
        let line = "the unit is missing: write `5s` for seconds, or use h, m, ms, us or ns";
        assert_eq!(refusal("5"), line);
        for text in ["", " ", "s", ".s", "five", "5s."] {
            assert_eq!(parse(text), Err(DurationError::NoNumber), "{text:?}");
        }
        assert_eq!(parse("1 30s"), Err(DurationError::NoUnit("1".into())));
        assert_eq!(parse("-1s"), Err(DurationError::Negative));
        assert_eq!(parse("293y"), Err(DurationError::Unit("y".into())));
        for text in ["9223372036854775808ns", "99999999999999999999s", "3000000h"] {
            assert_eq!(parse(text), Err(DurationError::TooLong), "{text}");
        }
    }

    #[test]
    fn durations_print_as_go_prints_them() {
        for (ns, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (245_000_000_000, "4m5s"),
            (245_001_000_000, "4m5.001s"),
            (18_367_001_000_000, "5h6m7.001s"),
            (480_000_000_001, "8m0.000000001s"),
            (3_600_000_000_000, "1h0m0s"),
        ] {
            assert_eq!(GoDuration(Duration::from_nanos(ns)).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(ns in 0..=i64::MAX as u64) {
            let duration = Duration::from_nanos(ns);
            prop_assert_eq!(parse(&GoDuration(duration).to_string()), Ok(duration));
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
