//! What a part must be.

use memchr::memmem;
use regex::bytes::Regex;

use crate::plan::{JsonType, Rule};
use crate::secrets::{SHORTEST, masked};
use crate::{Slot, Text, Unrendered, Values};
use volley_base::excerpt::excerpt;
use volley_load::spec::secret::MASK;

/// How many characters of a value a message shows.
pub(super) const SHOWN: usize = 80;

/// Whether a part and a text fit.
type Holds = fn(&[u8], &[u8]) -> bool;

/// What no message shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hidden<'a> {
    /// The part's name, or what it is compared with, promises a secret.
    pub is_secret: bool,
    /// Slots whose names promise one.
    pub slots: &'a [Slot],
}

impl Hidden<'_> {
    /// A value as a message shows it.
    #[cold]
    pub(super) fn shown(self, value: &[u8], values: &Values) -> String {
        let mut secrets = self.slots.iter().filter_map(|slot| values.get(*slot));
        let holds =
            |secret: &[u8]| secret.len() >= SHORTEST && memmem::find(value, secret).is_some();
        if self.is_secret || secrets.any(holds) {
            return format!("`{MASK}`");
        }
        // A character takes at most four bytes; one more, so that the cut shows.
        let start = value.get(..4 * (SHOWN + 1)).unwrap_or(value);
        let start = masked(&String::from_utf8_lossy(start));
        format!("`{}`", excerpt(&start, SHOWN))
    }
}

/// A regex as a message shows it.
pub(super) fn pattern(regex: &Regex) -> String {
    format!("`{}`", excerpt(regex.as_str(), SHOWN))
}

/// Whether a part keeps a rule.
///
/// # Errors
///
/// What was expected, and what was there.
#[inline]
pub(super) fn check(
    rule: &Rule,
    part: Option<&[u8]>,
    hidden: Hidden,
    values: &Values,
    room: &mut Vec<u8>,
    names: &[(Slot, String)],
) -> Result<(), String> {
    let shown = |value: &[u8]| hidden.shown(value, values);
    let (text, holds): (_, Holds) = match rule {
        Rule::Exists if part.is_some() => return Ok(()),
        Rule::IsAbsent => {
            return part.map_or(Ok(()), |part| {
                Err(format!("expected none, was {}", shown(part)))
            });
        }
        Rule::Matches(regex) => {
            let part = part.ok_or_else(missing)?;
            return match regex.is_match(part) {
                true => Ok(()),
                false => Err(format!(
                    "expected a match of {}, was {}",
                    pattern(regex),
                    shown(part)
                )),
            };
        }
        Rule::Between(low, high) => {
            let part = part.ok_or_else(missing)?;
            return between(*low, *high, part)
                .map_err(|expected| format!("expected {expected}, was {}", shown(part)));
        }
        Rule::Exists => return Err(missing()),
        Rule::Equals(text) => (text, |part, text| part == text),
        Rule::Differs(text) => (text, |part, text| part != text),
        Rule::EqualsNumber(text) => (text, is_number),
        Rule::DiffersFromNumber(text) => (text, |part, text| !is_number(part, text)),
        Rule::StartsWith(text) => (text, |part, text| part.starts_with(text)),
        Rule::EndsWith(text) => (text, |part, text| part.ends_with(text)),
        Rule::Contains(text) => (text, |part, text| memmem::find(part, text).is_some()),
    };
    let expected = rendered(text, values, room, names)?;
    let expectation = || expectation(rule, &shown(expected));
    let part = part.ok_or_else(|| format!("{}, was missing", expectation()))?;
    match holds(part, expected) {
        true => Ok(()),
        false => Err(format!("{}, was {}", expectation(), shown(part))),
    }
}

/// A literal and a JSON value of another type.
///
/// # Errors
///
/// What was expected, and what was there, unless they are to differ.
#[cold]
pub(super) fn differs(
    rule: &Rule,
    (wanted, is): (JsonType, JsonType),
    part: &[u8],
    hidden: Hidden,
    values: &Values,
) -> Result<(), String> {
    let (Rule::Equals(text) | Rule::EqualsNumber(text)) = rule else {
        return Ok(());
    };
    let shown = |of: JsonType, value: &[u8]| {
        let value = hidden.shown(value, values);
        match of {
            JsonType::Text => format!("the text {value}"),
            JsonType::Number => format!("the number {value}"),
            JsonType::Word => value,
        }
    };
    let expected = shown(wanted, text.constant().unwrap_or_default());
    Err(format!("expected {expected}, was {}", shown(is, part)))
}

fn missing() -> String {
    "it is missing".to_owned()
}

#[cold]
fn expectation(rule: &Rule, expected: &str) -> String {
    match rule {
        Rule::Differs(_) | Rule::DiffersFromNumber(_) => {
            format!("expected anything but {expected}")
        }
        Rule::StartsWith(_) => format!("expected a start of {expected}"),
        Rule::EndsWith(_) => format!("expected an end of {expected}"),
        Rule::Contains(_) => format!("expected {expected} in it"),
        _ => format!("expected {expected}"),
    }
}

/// Whether two texts are one number.
fn is_number(part: &[u8], text: &[u8]) -> bool {
    part == text || number(part).is_some_and(|part| number(text) == Some(part))
}

fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Otherwise the error says what is expected.
fn between(low: f64, high: f64, part: &[u8]) -> Result<(), String> {
    let number = number(part);
    if number.is_some_and(|number| (low..=high).contains(&number)) {
        return Ok(());
    }
    Err(match (low.is_finite(), high.is_finite()) {
        (true, false) => format!("at least {low}"),
        (false, true) => format!("at most {high}"),
        _ => format!("{low} to {high}"),
    })
}

#[inline]
fn rendered<'a>(
    text: &'a Text,
    values: &Values,
    room: &'a mut Vec<u8>,
    names: &[(Slot, String)],
) -> Result<&'a [u8], String> {
    if let Some(constant) = text.constant() {
        return Ok(constant);
    }
    room.clear();
    text.render(values, room)
        .map_err(|error| unrendered(error, names))?;
    Ok(room)
}

#[cold]
fn unrendered(error: Unrendered, names: &[(Slot, String)]) -> String {
    let (slot, what) = match error {
        Unrendered::Empty(slot) => (slot, "has no value"),
        Unrendered::Control(slot) => (slot, "has a line end"),
    };
    let name = names.iter().find(|(known, _)| *known == slot);
    let name = name.map_or("a value", |(_, name)| name);
    format!(
        "`${{{}}}` {what}, so nothing can be compared with it",
        excerpt(name, SHOWN)
    )
}
