//! Messages with holes: JSON with templates, compiled once into protobuf.
//!
//! Most templates stand where a field's value stands. Then only such values are made for each call, and written between
//! bytes that never change. A message that cannot be molded, or a value that does not fit its hole, is left to the JSON
//! parser: the bytes are the same.

mod build;
mod form;
#[cfg(test)]
mod tests;

use std::ops::Range;

use form::{Form, Value};
use volley_protobuf as protobuf;
use volley_protobuf::Field;
use volley_protobuf::wire::encode_varint;

use super::expect::Fields;
use super::template::{Action, Give, Template};

/// A message with holes.
#[derive(Clone, Debug)]
pub struct Mold<A = Action> {
    /// One for each action, in the order of the text: so random numbers are drawn. `None`: it belongs to an earlier one.
    holes: Box<[Option<Template<A>>]>,
    parts: Box<[Part]>,
    /// The numbers of the outermost message that are the same in every call: field number and word.
    words: Box<[(u32, u64)]>,
}

#[derive(Clone, Debug)]
enum Part {
    /// Fields that are the same in every call.
    Fixed(Vec<u8>),
    /// A field whose value differs from call to call.
    Hole(Hole),
    /// A field that is a message with holes.
    Message { key: Vec<u8>, parts: Box<[Part]> },
    /// A field that the JSON parser reads, and how its JSON begins.
    Parsed {
        place: usize,
        message: protobuf::Message,
        begin: String,
    },
}

#[derive(Clone, Debug)]
struct Hole {
    /// Which of the mold's holes it is.
    place: usize,
    number: u32,
    key: Vec<u8>,
    form: Form,
    /// It is written even if it is zero or empty.
    keeps_default: bool,
}

/// What one call fills in; kept from call to call.
#[derive(Debug, Default)]
pub struct Filling {
    text: String,
    values: Vec<Filled>,
    /// Numbers of the outermost message: field number and word.
    words: Vec<(u32, u64)>,
}

#[derive(Clone, Debug)]
enum Filled {
    Integer(i64),
    /// JSON: a part of the filling's text.
    Text(Range<usize>),
}

/// Why a mold cannot be filled for a call.
#[derive(Debug)]
pub enum Unfillable<E> {
    /// The template itself fails.
    Template(E),
    /// What it gives needs a look at the whole JSON.
    Odd,
}

impl<A: Give> Mold<A> {
    /// Appends the message of one call.
    pub fn fill(
        &self,
        call: &mut A::Call<'_>,
        filling: &mut Filling,
        out: &mut Vec<u8>,
    ) -> Result<(), Unfillable<A::Error>> {
        filling.text.clear();
        filling.values.clear();
        filling.words.clear();
        for hole in &self.holes {
            let value = match hole {
                None => Filled::Integer(0),
                Some(hole) => match hole.integer(call) {
                    Ok(integer) => Filled::Integer(integer),
                    Err(Some(error)) => return Err(Unfillable::Template(error)),
                    Err(None) => {
                        let begin = filling.text.len();
                        hole.render(call, &mut filling.text)
                            .map_err(Unfillable::Template)?;
                        Filled::Text(begin..filling.text.len())
                    }
                },
            };
            filling.values.push(value);
        }
        write(&self.parts, filling, true, out).ok_or(Unfillable::Odd)
    }

    /// The fields of the outermost message, in one call.
    pub fn fields<'a>(&'a self, filling: &'a Filling) -> Molded<'a> {
        Molded {
            words: &self.words,
            filling,
        }
    }
}

/// The outermost message's fields, in one call.
pub struct Molded<'a> {
    words: &'a [(u32, u64)],
    filling: &'a Filling,
}

impl Fields for Molded<'_> {
    fn word(&self, field: &Field) -> u64 {
        let number = field.number();
        let find = |words: &[(u32, u64)]| {
            let found = words.iter().find(|(own, _)| *own == number);
            found.map(|(_, word)| *word)
        };
        let filled = find(&self.filling.words);
        filled.or_else(|| find(self.words)).unwrap_or(0)
    }
}

/// Writes parts; `None`: a value does not fit its hole.
fn write(
    parts: &[Part],
    filling: &mut Filling,
    is_outermost: bool,
    out: &mut Vec<u8>,
) -> Option<()> {
    for part in parts {
        match part {
            Part::Fixed(bytes) => out.extend_from_slice(bytes),
            Part::Hole(hole) => {
                let word = hole.write(filling, out)?;
                if let (true, Some(word)) = (is_outermost, word) {
                    filling.words.push((hole.number, word));
                }
            }
            Part::Message { key, parts } => {
                out.extend_from_slice(key);
                let at = out.len();
                out.push(0);
                write(parts, filling, false, out)?;
                let length = out.len() - at - 1;
                match u8::try_from(length).ok().filter(|length| *length < 0x80) {
                    Some(length) => *out.get_mut(at)? = length,
                    None => {
                        let mut varint = Vec::new();
                        encode_varint(length as u64, &mut varint);
                        out.splice(at..=at, varint);
                    }
                }
            }
            Part::Parsed {
                place,
                message,
                begin,
            } => {
                let value = match filling.values.get(*place)? {
                    Filled::Text(range) => filling.text.get(range.clone())?.to_owned(),
                    Filled::Integer(integer) => integer.to_string(),
                };
                form::parsed(&value, begin, message, out)?;
            }
        }
    }
    Some(())
}

impl Hole {
    /// Writes its field, and returns the word if it is a number.
    fn write(&self, filling: &Filling, out: &mut Vec<u8>) -> Option<Option<u64>> {
        let value = match filling.values.get(self.place)? {
            Filled::Integer(integer) => match self.form.integer(*integer) {
                Some((word, wire)) => {
                    wire.write(word, &self.key, self.keeps_default, out);
                    return Some(Some(word));
                }
                None => Value::Integer(*integer),
            },
            Filled::Text(range) => Value::new(filling.text.get(range.clone())?)?,
        };
        self.form.write(&value, &self.key, self.keeps_default, out)
    }
}
