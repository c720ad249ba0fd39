//! How many iterations begin, and when.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Time;
use super::scalar::{scalar, words};
use volley_load::spec::threshold::number;

/// The most iterations a second, in millionths.
const MOST_RATE: f64 = 1e9 * 1e6;

/// The most users.
const MOST_USERS: u32 = 10_000_000;

/// A time with a rate, or a number of users: one that stays, or one that changes evenly.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Phase {
    /// Iterations that begin, such as `200/s`, `0..5000/s` or `90/m`.
    pub rate: Option<Rate>,
    /// Users, each of which begins an iteration when its last one is over, such as `10` or `0..100`.
    pub users: Option<Users>,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub length: Option<Time>,
    /// The most iterations that begin.
    pub iterations: Option<u64>,
}

/// From one number to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    pub from: u64,
    pub to: u64,
}

/// In millionths a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Ramp);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users(pub Ramp);

/// Both ends of `a..b`, or `a` twice.
fn ends(text: &str) -> (&str, &str) {
    text.split_once("..").unwrap_or((text, text))
}

fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || format!("`{text}` is no rate: write `200/s`, `0..5000/s` or `90/m`");
    let (ends_text, unit) = text.rsplit_once('/').ok_or_else(wrong)?;
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let millionths = |text: &str| {
        let rate = (number(text).ok_or_else(wrong)? * 1e6 / seconds).round();
        if rate > MOST_RATE {
            return Err(format!(
                "`{text}` is too much: a rate is at most 1,000,000,000/s"
            ));
        }
        // At least 0 and at most 1e15, so the cast keeps it.
        Ok(rate as u64)
    };
    let (from, to) = ends(ends_text);
    Ok(Rate(Ramp {
        from: millionths(from)?,
        to: millionths(to)?,
    }))
}

fn users(text: &str) -> Result<Users, String> {
    let read = |text: &str| {
        let plain = text.trim().replace('_', "");
        let number: Result<u32, _> = plain.parse();
        let number = number.ok().filter(|users| *users <= MOST_USERS);
        number.map(u64::from).ok_or_else(|| {
            format!("`{text}` is no number of users up to 10,000,000: write `10`, or `0..100` for a ramp")
        })
    };
    let (from, to) = ends(text);
    Ok(Users(Ramp {
        from: read(from)?,
        to: read(to)?,
    }))
}

/// A rate of JSON that does not change, such as `"0.5/s"`, in millionths a second; a number is per second.
///
/// # Errors
///
/// Why it is none.
pub fn constant_rate(value: &Value) -> Result<u64, String> {
    let text = match value {
        Value::Number(number) => format!("{number}/s"),
        Value::String(text) => text.clone(),
        _ => return Err("a rate is needed, such as `200/s`".to_owned()),
    };
    constant(rate(&text)?.0, &text)
}

/// A number of users of JSON that does not change.
///
/// # Errors
///
/// Why it is none.
pub fn constant_users(value: &Value) -> Result<u64, String> {
    let text = words(value).ok_or("a number of users is needed")?;
    constant(users(&text)?.0, &text)
}

fn constant(ramp: Ramp, text: &str) -> Result<u64, String> {
    match ramp.from == ramp.to {
        true => Ok(ramp.from),
        false => Err(format!("`{text}` is a ramp: give one number")),
    }
}

scalar!(Rate, value => match words(&value) {
    Some(text) => rate(&text),
    None => Err("a rate is needed, such as `200/s`".to_owned()),
}, {"type": "string", "pattern": "^[0-9._, ]+/ *[smh]$", "examples": ["200/s", "0..5000/s"]});

scalar!(Users, value => match words(&value) {
    Some(text) => users(&text),
    None => Err("a number of users is needed".to_owned()),
}, {"type": ["integer", "string"], "examples": [10, "0..100"]});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_to_a_millionth() {
        for (text, from, to) in [
            ("200/s", 200_000_000, 200_000_000),
            ("0..5_000/s", 0, 5_000_000_000),
            ("90/m", 1_500_000, 1_500_000),
            ("0.5 .. 1,000/ s", 500_000, 1_000_000_000),
            ("1/h", 278, 278),
        ] {
            assert_eq!(rate(text), Ok(Rate(Ramp { from, to })), "{text}");
        }
        for text in ["200", "200/x", "-1/s", "a..b/s", "/s", "1e30/s", ""] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn users_are_whole_numbers() {
        assert_eq!(users("0..100"), Ok(Users(Ramp { from: 0, to: 100 })));
        assert_eq!(
            users("1_000"),
            Ok(Users(Ramp {
                from: 1000,
                to: 1000
            }))
        );
        for text in ["1.5", "-1", "many", "", "10000001"] {
            assert!(users(text).is_err(), "{text}");
        }
    }
}
