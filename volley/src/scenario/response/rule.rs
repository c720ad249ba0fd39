//! What a part must be.

use memchr::memmem;

use crate::request::excerpt::excerpt;
use crate::scenario::plan::Rule;
use crate::scenario::{Slot, Text, Unrendered, Values};

/// How many characters of a value a message shows.
const SHOWN: usize = 80;

/// Whether a part and a text fit.
type Holds = fn(&[u8], &[u8]) -> bool;

/// A value as a message shows it.
pub(super) fn shown(value: &[u8]) -> String {
    // A character takes at most four bytes; one more, so that the cut shows.
    let start = value.get(..4 * (SHOWN + 1)).unwrap_or(value);
    format!("`{}`", excerpt(&String::from_utf8_lossy(start), SHOWN))
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
    values: &Values,
    room: &mut Vec<u8>,
    names: &[(Slot, String)],
) -> Result<(), String> {
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
                    shown(regex.as_str().as_bytes()),
                    shown(part)
                )),
            };
        }
        Rule::Between(low, high) => return between(*low, *high, part.ok_or_else(missing)?),
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
    let part = part.ok_or_else(|| format!("{}, was missing", expectation(rule, expected)))?;
    match holds(part, expected) {
        true => Ok(()),
        false => Err(format!(
            "{}, was {}",
            expectation(rule, expected),
            shown(part)
        )),
    }
}

fn missing() -> String {
    "it is missing".to_owned()
}

#[cold]
fn expectation(rule: &Rule, expected: &[u8]) -> String {
    let expected = shown(expected);
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

fn between(low: f64, high: f64, part: &[u8]) -> Result<(), String> {
    let number = number(part);
    if number.is_some_and(|number| (low..=high).contains(&number)) {
        return Ok(());
    }
    let expected = match (low.is_finite(), high.is_finite()) {
        (true, false) => format!("at least {low}"),
        (false, true) => format!("at most {high}"),
        _ => format!("{low} to {high}"),
    };
    Err(format!("expected {expected}, was {}", shown(part)))
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
