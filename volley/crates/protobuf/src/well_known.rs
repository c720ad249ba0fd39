//! Google's own types that have a JSON form of their own, and times as they are in it.

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};

/// Where seconds begin.
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// The most seconds of a duration: ten thousand years.
const MOST_SECONDS: i64 = 315_576_000_000;

/// The first and the last second of a timestamp: the years 1 and 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Such a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WellKnown {
    Any,
    Duration,
    FieldMask,
    List,
    Struct,
    Timestamp,
    Value,
    /// A message that holds one value.
    Wrapper,
}

impl WellKnown {
    pub(super) fn of(full_name: &str) -> Option<Self> {
        Some(match full_name.strip_prefix("google.protobuf.")? {
            "Any" => Self::Any,
            "Duration" => Self::Duration,
            "FieldMask" => Self::FieldMask,
            "ListValue" => Self::List,
            "Struct" => Self::Struct,
            "Timestamp" => Self::Timestamp,
            "Value" => Self::Value,
            "BoolValue" | "BytesValue" | "DoubleValue" | "FloatValue" | "Int32Value"
            | "Int64Value" | "StringValue" | "UInt32Value" | "UInt64Value" => Self::Wrapper,
            _ => return None,
        })
    }
}

/// `2024-01-02T03:04:05.5Z`; `None` if there is no such time.
pub(super) fn timestamp(seconds: i64, nanos: i32) -> Option<String> {
    if !SECONDS.contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    let time = EPOCH.checked_add(SignedDuration::from_secs(seconds)).ok()?;
    Some(format!("{time}{}Z", fraction(nanos.unsigned_abs())))
}

/// The seconds and nanoseconds of a time in RFC 3339, with capital letters.
pub(super) fn parse_timestamp(text: &str) -> Option<(i64, i32)> {
    let (date, time) = text.split_at_checked(10)?;
    let (clock, rest) = time.strip_prefix('T')?.split_at_checked(8)?;
    let shape = |text: &str, like: &str| {
        text.len() == like.len()
            && text
                .bytes()
                .zip(like.bytes())
                .all(|(byte, like)| match like {
                    b'0' => byte.is_ascii_digit(),
                    like => byte == like,
                })
    };
    let end = rest.find(['Z', '+', '-'])?;
    let (part, zone) = rest.split_at_checked(end)?;
    if !shape(date, "0000-00-00") || !shape(clock, "00:00:00") || clock.ends_with(":60") {
        return None;
    }
    let offset = match zone {
        "Z" => 0,
        zone if shape(zone.get(1..)?, "00:00") => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
            let seconds = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            match zone.starts_with('-') {
                true => -seconds,
                false => seconds,
            }
        }
        _ => return None,
    };
    let nanos = match part {
        "" => 0,
        part => nanos(part.strip_prefix('.')?)?,
    };
    let civil: DateTime = format!("{date}T{clock}").parse().ok()?;
    let seconds = civil.duration_since(EPOCH).as_secs() - offset;
    SECONDS.contains(&seconds).then_some((seconds, nanos))
}

/// `-1.5s`; `None` if it is too long, or its parts have different signs.
pub(super) fn duration(seconds: i64, nanos: i32) -> Option<String> {
    let is_mixed = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
    if seconds.unsigned_abs() > MOST_SECONDS.unsigned_abs()
        || nanos.unsigned_abs() >= 1_000_000_000
        || is_mixed
    {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let part = fraction(nanos.unsigned_abs());
    Some(format!("{sign}{}{part}s", seconds.unsigned_abs()))
}

/// The seconds and nanoseconds of a duration.
pub(super) fn parse_duration(text: &str) -> Option<(i64, i32)> {
    let text = text.strip_suffix('s')?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_digits = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: i64 = is_digits.then(|| whole.parse().ok()).flatten()?;
    let nanos = nanos(part)?;
    (seconds <= MOST_SECONDS).then_some((sign * seconds, i32::try_from(sign).ok()? * nanos))
}

/// Three, six or nine digits, as far as they are needed.
fn fraction(nanos: u32) -> String {
    match nanos {
        0 => String::new(),
        nanos if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
        nanos => format!(".{nanos:09}"),
    }
}

/// One to nine digits behind a point.
fn nanos(digits: &str) -> Option<i32> {
    let is_part =
        (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_part
        .then(|| format!("{digits:0<9}").parse().ok())
        .flatten()
}

/// `userName` of `user_name`; `None` if there is no way back.
pub(super) fn camel(path: &str) -> Option<String> {
    let json = super::json_name(path);
    (snake(&json)? == path).then_some(json)
}

/// `user_name` of `userName`.
pub(super) fn snake(path: &str) -> Option<String> {
    let mut snake = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '_' => return None,
            c if c.is_ascii_uppercase() => snake.extend(['_', c.to_ascii_lowercase()]),
            c => snake.push(c),
        }
    }
    Some(snake)
}
