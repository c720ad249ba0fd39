//! Values of a gRPC reply by a path of field names: `session.id`, `items.0.name`, `[package.extension].id`.
//!
//! A path is compiled into field numbers, and a reply is read as it is on the wire. Whole messages, whole lists, maps and
//! groups are rare: for them the reply is decoded and becomes JSON.

use std::fmt::{Display, LowerExp};
use std::io::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use volley_base::excerpt::list;
use volley_protobuf::{Field, Kind, Message, Zeros};
use volley_request::expect::{Fault, Number, Reader, Wire, skip};

/// A compiled path.
#[derive(Debug)]
pub(super) enum Path {
    /// Through fields to a number or a text.
    Wire { hops: Vec<Hop>, leaf: Leaf },
    /// As JSON.
    Decoded { message: Message, keys: Vec<String> },
}

/// A field; of a list, one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    number: u32,
    wire: Wire,
    index: Option<usize>,
}

/// The field at the end of a path.
#[derive(Debug)]
pub(super) struct Leaf {
    form: Form,
    /// Of a field that always has a value: what it is if the reply leaves it out.
    absent: Option<Vec<u8>>,
}

#[derive(Debug)]
enum Form {
    Number(Number),
    Float,
    Double,
    Text,
    Bytes,
}

/// What was found so far.
#[derive(Clone, Copy)]
enum Raw<'a> {
    Word(u64),
    Bytes(&'a [u8]),
    /// The message of the leaf is there, the leaf is not.
    Absent,
}

impl Path {
    /// Compiles a path of fields of `message`.
    pub(super) fn new(message: &Message, keys: &[Box<str>]) -> Result<Self, String> {
        let mut at = message.clone();
        let (mut hops, mut decoded, mut is_wire) = (Vec::new(), Vec::new(), true);
        let mut rest = keys.iter();
        while let Some(key) = rest.next() {
            let field = field(&at, key)?;
            decoded.push(match key.starts_with('[') {
                true => key.to_string(),
                false => field.json_name().to_owned(),
            });
            let mut index = None;
            if field.is_map() || field.is_list() {
                is_wire &= field.is_list();
                let Some(key) = rest.next() else {
                    break;
                };
                index = key.parse().ok();
                if field.is_list() && index.is_none() {
                    return Err(format!(
                        "takes `{key}` of a list: write a number, such as `{}.0`",
                        field.name()
                    ));
                }
                decoded.push(key.to_string());
            }
            let kind = field.map_kinds().map_or(field.kind(), |(_, value)| value);
            hops.push(Hop {
                number: field.number(),
                wire: wire(&kind),
                index,
            });
            // An unknown number of a closed enum counts as absent.
            is_wire &= !field.is_delimited() && !field.is_closed_enum();
            match (kind, rest.as_slice()) {
                (Kind::Message(_), []) => is_wire = false,
                (Kind::Message(inner), _) => at = inner,
                (kind, []) if is_wire => {
                    let leaf = Leaf::new(&field, kind);
                    return Ok(Self::Wire { hops, leaf });
                }
                (_, []) => {}
                (_, [key, ..]) => {
                    return Err(format!(
                        "takes `{key}` of `{}`, which is no message",
                        field.name()
                    ));
                }
            }
        }
        Ok(Self::Decoded {
            message: message.clone(),
            keys: decoded,
        })
    }

    /// The value as text, or as JSON if it is no number or text.
    pub(super) fn get<'a>(
        &'a self,
        reply: &'a [u8],
        room: &'a mut Vec<u8>,
    ) -> Result<Option<&'a [u8]>, String> {
        match self {
            Self::Wire { hops, leaf } => {
                let mut raw = None;
                walk(Reader::new(reply), hops, &mut raw).map_err(|fault| {
                    format!("invalid protobuf at byte {}: {}", fault.at, fault.what)
                })?;
                Ok(raw.and_then(|raw| leaf.text(raw, room)))
            }
            Self::Decoded { message, keys } => {
                let reply = message
                    .decode(reply)
                    .map_err(|error| format!("invalid protobuf: {error}"))?;
                let zeros = Zeros::default();
                let json = message.to_json_with(&reply, &zeros);
                if zeros.are_left_out() {
                    return Err("has too many fields that are zero or empty".to_owned());
                }
                let value = keys.iter().try_fold(&json, |value, key| match value {
                    Value::Array(all) => all.get(key.parse::<usize>().ok()?),
                    value => value.get(key),
                });
                Ok(value.map(|value| {
                    *room = match value {
                        Value::String(text) => text.clone(),
                        value => value.to_string(),
                    }
                    .into_bytes();
                    &room[..]
                }))
            }
        }
    }
}

/// A field by its name in the schema or in JSON.
fn field(message: &Message, name: &str) -> Result<Field, String> {
    message.field_by_key(name).ok_or_else(|| {
        let fields: Vec<_> = message.fields().collect();
        let fields = list(fields.iter().map(Field::name));
        format!(
            "takes `{name}`, which is no field of `{}`; its fields are {fields}",
            message.full_name()
        )
    })
}

fn wire(kind: &Kind) -> Wire {
    match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Wire::Fixed64,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Wire::Fixed32,
        Kind::String | Kind::Bytes | Kind::Message(_) => Wire::Delimited,
        _ => Wire::Varint,
    }
}

/// Follows the hops. Of a field that occurs several times, the last one counts (protobuf, "Last One Wins").
fn walk<'a>(mut message: Reader<'a>, hops: &[Hop], raw: &mut Option<Raw<'a>>) -> Result<(), Fault> {
    let Some((hop, rest)) = hops.split_first() else {
        return Ok(());
    };
    if rest.is_empty() && hop.index.is_none() {
        raw.get_or_insert(Raw::Absent);
    }
    let mut index = 0;
    while !message.is_empty() {
        let (number, wire) = message.key()?;
        if number != hop.number {
            skip(&mut message, number, wire)?;
        } else if hop.index.is_some() && wire == Wire::Delimited && hop.wire != Wire::Delimited {
            let mut packed = message.delimited()?;
            while !packed.is_empty() {
                let word = word(&mut packed, hop.wire)?;
                if hop.index == Some(index) {
                    *raw = Some(Raw::Word(word));
                }
                index += 1;
            }
        } else if wire != hop.wire {
            // An unknown field.
            skip(&mut message, number, wire)?;
        } else {
            let is_wanted = hop.index.is_none_or(|wanted| wanted == index);
            index += 1;
            if wire != Wire::Delimited {
                let word = word(&mut message, wire)?;
                if is_wanted {
                    *raw = Some(Raw::Word(word));
                }
                continue;
            }
            let inner = message.delimited()?;
            match rest {
                _ if !is_wanted => {}
                [] => *raw = Some(Raw::Bytes(inner.rest())),
                rest => walk(inner, rest, raw)?,
            }
        }
    }
    Ok(())
}

fn word(reader: &mut Reader, wire: Wire) -> Result<u64, Fault> {
    match wire {
        Wire::Fixed32 => reader.fixed32(),
        Wire::Fixed64 => reader.fixed64(),
        _ => reader.varint(),
    }
}

impl Leaf {
    fn new(field: &Field, kind: Kind) -> Self {
        let form = match kind {
            Kind::Float => Form::Float,
            Kind::Double => Form::Double,
            Kind::Bytes => Form::Bytes,
            kind => Number::of_kind(kind).map_or(Form::Text, Form::Number),
        };
        let mut leaf = Self { form, absent: None };
        if !field.has_presence() && !field.is_list() {
            let zero = match leaf.form {
                Form::Text | Form::Bytes => Raw::Bytes(&[]),
                _ => Raw::Word(0),
            };
            let mut room = Vec::new();
            leaf.absent = leaf.text(zero, &mut room).map(<[u8]>::to_vec);
        }
        leaf
    }

    fn text<'a>(&'a self, raw: Raw<'a>, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        room.clear();
        match (&self.form, raw) {
            (_, Raw::Absent) => return self.absent.as_deref(),
            (Form::Bytes, Raw::Bytes(bytes)) => {
                room.extend_from_slice(BASE64_STANDARD.encode(bytes).as_bytes());
            }
            (_, Raw::Bytes(bytes)) => return Some(bytes),
            (Form::Number(number), Raw::Word(word)) => number.write(number.decode(word), room),
            (Form::Float, Raw::Word(word)) => {
                let value = f32::from_bits(u32::try_from(word).ok()?);
                float(value.into(), &value, room)?;
            }
            (_, Raw::Word(word)) => {
                let value = f64::from_bits(word);
                float(value, &value, room)?;
            }
        }
        Some(room)
    }
}

/// Appends a number as protobuf's JSON has it; `value` is `size` in its own type.
fn float(size: f64, value: &(impl Display + LowerExp), out: &mut Vec<u8>) -> Option<()> {
    match size.abs() {
        _ if size.is_nan() => write!(out, "NaN"),
        f64::INFINITY if size > 0.0 => write!(out, "Infinity"),
        f64::INFINITY => write!(out, "-Infinity"),
        0.0 | 1e-6..1e21 => write!(out, "{value}"),
        _ => write!(out, "{value:e}"),
    }
    .ok()
}

#[cfg(test)]
mod tests;
