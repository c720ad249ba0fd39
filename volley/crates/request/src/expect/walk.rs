//! Walks through a message without decoding it into a structure.

use std::collections::BTreeSet;

use super::layout::{Field, Form, Layouts};
use super::wire::{Fault, Reader, What, Wire};

/// The maximum nesting of messages; the same as buffa's.
const DEEPEST: u32 = 100;

/// Receives the numbers of the outermost message's non-repeated fields, as encoded on the wire.
pub(super) trait Sink {
    fn take(&mut self, number: u32, raw: u64);
}

/// Receives nothing: for nested messages, whose numbers are not needed.
struct Nobody;

impl Sink for Nobody {
    fn take(&mut self, _: u32, _: u64) {}
}

/// Walks through the whole message.
///
/// # Errors
///
/// At the first byte that is invalid for a message of this type.
pub(super) fn walk(layouts: &Layouts, message: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
    fields(layouts, Reader::new(message), 0, DEEPEST, sink)
}

fn fields(
    layouts: &Layouts,
    mut reader: Reader,
    layout: usize,
    depth: u32,
    sink: &mut impl Sink,
) -> Result<(), Fault> {
    let mut seen = Seen::default();
    while !reader.is_empty() {
        let key = reader.key()?;
        seen.add(field(layouts, &mut reader, layout, key, depth, sink)?);
    }
    whole(layouts, &reader, layout, &seen)
}

/// Places of fields that must be there, and are.
#[derive(Default)]
struct Seen {
    first: u64,
    /// Those that have no bit in `first`: few messages have as many.
    more: BTreeSet<u32>,
}

impl Seen {
    fn add(&mut self, place: Option<u32>) {
        let Some(place) = place else {
            return;
        };
        match 1_u64.checked_shl(place) {
            Some(bit) => self.first |= bit,
            None => {
                self.more.insert(place);
            }
        }
    }

    fn has(&self, place: u32) -> bool {
        match 1_u64.checked_shl(place) {
            Some(bit) => self.first & bit > 0,
            None => self.more.contains(&place),
        }
    }
}

/// Whether all fields are there that must be.
fn whole(layouts: &Layouts, reader: &Reader, layout: usize, seen: &Seen) -> Result<(), Fault> {
    let mut places = (0..).zip(layouts.required(layout));
    match places.find(|(place, _)| !seen.has(*place)) {
        Some((_, number)) => Err(reader.fault(What::Required(*number))),
        None => Ok(()),
    }
}

/// Returns the place of the field, if it must be there.
fn field(
    layouts: &Layouts,
    reader: &mut Reader,
    layout: usize,
    (number, wire): (u32, Wire),
    depth: u32,
    sink: &mut impl Sink,
) -> Result<Option<u32>, Fault> {
    let Some(field) = layouts.field(layout, number) else {
        return unknown(reader, number, wire, depth).map(|()| None);
    };
    let Field { form, list, .. } = field;
    if list && wire == Wire::Delimited && is_packable(form) {
        let mut values = reader.delimited()?;
        while !values.is_empty() {
            scalar(&mut values, form.wire())?;
        }
        return Ok(field.required);
    }
    if form.wire() != wire {
        return unknown(reader, number, wire, depth).map(|()| None);
    }
    match form {
        Form::Varint | Form::Fixed32 | Form::Fixed64 => {
            let raw = scalar(reader, wire)?;
            if !list {
                sink.take(number, raw);
            }
        }
        Form::Bytes => {
            reader.delimited()?;
        }
        Form::Text => {
            let text = reader.delimited()?;
            if !text.is_utf8() {
                return Err(text.fault(What::Utf8));
            }
        }
        Form::Entry(inner) => {
            fields(layouts, reader.delimited()?, inner, depth, &mut Nobody)?;
        }
        Form::Message(inner) => {
            let depth = deeper(reader, depth)?;
            fields(layouts, reader.delimited()?, inner, depth, &mut Nobody)?;
        }
        Form::Group(inner) => {
            let depth = deeper(reader, depth)?;
            let mut seen = Seen::default();
            group(reader, number, |reader, key| {
                seen.add(self::field(
                    layouts,
                    reader,
                    inner,
                    key,
                    depth,
                    &mut Nobody,
                )?);
                Ok(())
            })?;
            whole(layouts, reader, inner, &seen)?;
        }
    }
    Ok(field.required)
}

/// Skips a field whose key was read.
///
/// # Errors
///
/// If it is cut short or no protobuf.
pub fn skip(reader: &mut Reader, number: u32, wire: Wire) -> Result<(), Fault> {
    unknown(reader, number, wire, DEEPEST)
}

/// Skips a field that the schema does not have.
fn unknown(reader: &mut Reader, number: u32, wire: Wire, depth: u32) -> Result<(), Fault> {
    match wire {
        Wire::Varint | Wire::Fixed32 | Wire::Fixed64 => scalar(reader, wire).map(|_| ()),
        Wire::Delimited => reader.delimited().map(|_| ()),
        Wire::StartGroup => {
            let depth = deeper(reader, depth)?;
            group(reader, number, |reader, (number, wire)| {
                unknown(reader, number, wire, depth)
            })
        }
        Wire::EndGroup => Err(reader.fault_of_key(What::Group)),
    }
}

fn group<'a>(
    reader: &mut Reader<'a>,
    number: u32,
    mut field: impl FnMut(&mut Reader<'a>, (u32, Wire)) -> Result<(), Fault>,
) -> Result<(), Fault> {
    loop {
        match reader.key()? {
            (end, Wire::EndGroup) if end == number => return Ok(()),
            (_, Wire::EndGroup) => return Err(reader.fault_of_key(What::Group)),
            key => field(reader, key)?,
        }
    }
}

fn scalar(reader: &mut Reader, wire: Wire) -> Result<u64, Fault> {
    match wire {
        Wire::Varint => reader.varint(),
        Wire::Fixed32 => reader.fixed32(),
        Wire::Fixed64 => reader.fixed64(),
        Wire::Delimited | Wire::StartGroup | Wire::EndGroup => {
            Err(reader.fault(What::OtherWireType))
        }
    }
}

fn is_packable(form: Form) -> bool {
    matches!(form, Form::Varint | Form::Fixed32 | Form::Fixed64)
}

fn deeper(reader: &Reader, depth: u32) -> Result<u32, Fault> {
    depth
        .checked_sub(1)
        .ok_or_else(|| reader.fault(What::Depth))
}
