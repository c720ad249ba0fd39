//! The numbers and names of a message's fields: each is used once, and not if it is reserved.

use std::collections::{HashMap, HashSet};

use super::super::error::{Fault, Pos, shown};
use super::super::parse::MAX_NUMBER;
use super::super::tree::Message;
use super::super::universe::Universe;

/// Numbers that protocol buffers keep for themselves.
const IMPLEMENTATION: std::ops::RangeInclusive<i32> = 19_000..=19_999;

pub(super) fn message(universe: &Universe, message: &Message) -> Result<(), Fault> {
    let info = universe.messages.get(message.index);
    let is_set = info.is_some_and(|info| info.message_set);
    let mut taken: HashMap<i32, &str> = HashMap::new();
    for field in &message.fields {
        number(field.number(), MAX_NUMBER, field.number_at)?;
        if let Some(other) = taken.insert(field.number(), field.name()) {
            let message = format!(
                "the number {} is that of {} already",
                field.number(),
                shown(other)
            );
            return Err(field.number_at.fault(message));
        }
    }
    let max = if is_set { i32::MAX } else { MAX_NUMBER + 1 };
    let mut used: Vec<Span> = Vec::new();
    for (range, at) in &message.reserved {
        used.push(of_fields(
            range.start,
            range.end,
            i32::MAX,
            *at,
            "reserved",
        )?);
    }
    for range in &message.ranges {
        let (start, end) = (range.proto.start, range.proto.end);
        used.push(of_fields(start, end, max, range.at, "for extensions")?);
    }
    disjoint(&mut used)?;
    for field in &message.fields {
        is_free(&used, field.number(), field.number_at)?;
    }
    let names = reserved_names(&message.reserved_names)?;
    let mut fields = message.fields.iter();
    fields.try_for_each(|field| is_free_name(&names, field.name(), field.at))
}

/// The names that are reserved, each once.
pub(super) fn reserved_names(all: &[(String, Pos)]) -> Result<HashSet<&str>, Fault> {
    let mut names = HashSet::new();
    for (name, at) in all {
        if !names.insert(name.as_str()) {
            return Err(at.fault(format!("{} is reserved twice", shown(name))));
        }
    }
    Ok(names)
}

/// Checks that a name is not reserved.
pub(super) fn is_free_name(names: &HashSet<&str>, name: &str, at: Pos) -> Result<(), Fault> {
    match names.contains(name) {
        true => Err(at.fault(format!("{} is reserved", shown(name)))),
        false => Ok(()),
    }
}

/// Numbers that are used for something, from the first to the last.
pub(super) struct Span {
    pub first: i32,
    pub last: i32,
    pub at: Pos,
    pub what: &'static str,
}

/// A span of numbers of fields, without its end.
fn of_fields(
    start: Option<i32>,
    end: Option<i32>,
    max: i32,
    at: Pos,
    what: &'static str,
) -> Result<Span, Fault> {
    let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
    if start <= 0 {
        return Err(at.fault("the number of a field is 1 or more"));
    }
    if end > max {
        return Err(at.fault(format!("the number of a field is at most {}", max - 1)));
    }
    if start >= end {
        return Err(at.fault("the range ends before it starts"));
    }
    Ok(Span {
        first: start,
        last: end - 1,
        at,
        what,
    })
}

/// Sorts spans; two with a number in common are a fault of the later one.
pub(super) fn disjoint(spans: &mut [Span]) -> Result<(), Fault> {
    spans.sort_by_key(|span| span.first);
    for pair in spans.windows(2) {
        if let [one, other] = pair
            && other.first <= one.last
        {
            let (one, other) = match (one.at.line, one.at.column) > (other.at.line, other.at.column)
            {
                true => (other, one),
                false => (one, other),
            };
            let Span {
                first, last, what, ..
            } = one;
            let message = format!("numbers from {first} to {last} are {what} already");
            return Err(other.at.fault(message));
        }
    }
    Ok(())
}

/// Checks that a number is in none of the spans, which are disjoint.
pub(super) fn is_free(spans: &[Span], number: i32, at: Pos) -> Result<(), Fault> {
    let after = spans.partition_point(|span| span.first <= number);
    let before = after.checked_sub(1).and_then(|index| spans.get(index));
    match before.filter(|span| number <= span.last) {
        Some(span) => Err(at.fault(format!("the number {number} is {}", span.what))),
        None => Ok(()),
    }
}

/// Checks the number of a field.
pub(super) fn number(number: i32, max: i32, at: Pos) -> Result<(), Fault> {
    if number <= 0 {
        return Err(at.fault("the number of a field is 1 or more"));
    }
    if number > max {
        return Err(at.fault(format!("the number of a field is at most {max}")));
    }
    if IMPLEMENTATION.contains(&number) {
        return Err(at.fault("the numbers 19000 to 19999 are those of protocol buffers themselves"));
    }
    Ok(())
}

/// Whether a message can have no field: it is a home of names.
pub(super) fn is_namespace(message: &Message) -> bool {
    let all =
        |start: Option<i32>, end: Option<i32>| start == Some(1) && end == Some(MAX_NUMBER + 1);
    message.fields.is_empty()
        && message
            .reserved
            .iter()
            .any(|(range, _)| all(range.start, range.end))
}
