//! From JSON with templates to a mold.

use serde::de::DeserializeSeed as _;
use serde_json::{Map, Value};
use volley_protobuf as protobuf;
use volley_protobuf::wire::{WireType, encode_key};
use volley_protobuf::{DynamicMessage, Field, Kind, Message, PartSeed};

use super::form::Form;
use super::{Hole, Mold, Part};
use crate::expect::Fields as _;
use crate::marked::{Marked, has_mark};
use crate::template::{Give, Piece, Template};

/// These have one field, whose value is their JSON.
const WRAPPERS: [&str; 9] = [
    "google.protobuf.BoolValue",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.FloatValue",
    "google.protobuf.Int32Value",
    "google.protobuf.Int64Value",
    "google.protobuf.StringValue",
    "google.protobuf.UInt32Value",
    "google.protobuf.UInt64Value",
];

impl<A: Give> Mold<A> {
    /// Compiles JSON with templates; `None` if it must be rendered and parsed for each call: a template gives the name
    /// of a field, or several fields, or what it gives is only part of a value.
    pub fn new(template: &Template<A>, input: &Message) -> Option<Self> {
        if !is_plain(input) {
            return None;
        }
        let marked = Marked::new(template)?;
        let Value::Object(fields) = &marked.json else {
            return None;
        };
        let mut builder = Builder {
            holes: vec![None; marked.actions.len()],
            taken: 0,
            marked: &marked,
        };
        let parts = builder.message(fields, input)?;
        // An action that no hole took stands where none may stand.
        if builder.taken != builder.holes.len() {
            return None;
        }
        let is_fixed = |(_, value): &(&String, &Value)| !has_mark(value);
        let fixed = fields.iter().filter(is_fixed);
        let fixed = fixed.map(|(key, value)| (key.clone(), value.clone()));
        let fixed = parse(Value::Object(fixed.collect()), input)?;
        let words = input
            .fields()
            .map(|field| (field.number(), fixed.word(&field)));
        Some(Self {
            holes: builder.holes.into(),
            parts: parts.into(),
            words: words.collect(),
        })
    }
}

fn parse(json: Value, message: &Message) -> Option<DynamicMessage> {
    PartSeed(message).deserialize(json).ok()
}

/// Whether a message has no JSON form of its own.
fn is_plain(message: &Message) -> bool {
    !message.full_name().starts_with("google.protobuf.")
}

struct Builder<'a, A> {
    marked: &'a Marked<'a, A>,
    /// By the number of their first action.
    holes: Vec<Option<Template<A>>>,
    /// How many actions have a hole.
    taken: usize,
}

impl<A: Give> Builder<'_, A> {
    /// The parts of a message, by field number, as encoders write them.
    fn message(&mut self, fields: &Map<String, Value>, message: &Message) -> Option<Vec<Part>> {
        let mut parts: Vec<(Field, Part)> = Vec::new();
        for (key, value) in fields {
            let field = message.field_by_name(key)?;
            if value.is_null() && field.is_required() {
                return None;
            }
            // Of several, the last one would win, or all would be refused.
            let oneof = field.oneof();
            let excludes =
                |other: &Field| *other == field || (oneof.is_some() && other.oneof() == oneof);
            if parts.iter().any(|(other, _)| excludes(other)) {
                return None;
            }
            let part = if has_mark(value) {
                self.field(&field, value, message)?
            } else {
                let alone = Map::from_iter([(key.clone(), value.clone())]);
                Part::Fixed(protobuf::encode(&parse(Value::Object(alone), message)?))
            };
            parts.push((field, part));
        }
        let is_there = |field: &Field| parts.iter().any(|(other, _)| other == field);
        if !message
            .fields()
            .filter(Field::is_required)
            .all(|field| is_there(&field))
        {
            return None;
        }
        parts.sort_by_key(|(field, _)| field.number());
        let mut joined: Vec<Part> = Vec::new();
        for (_, part) in parts {
            match (joined.last_mut(), part) {
                (Some(Part::Fixed(bytes)), Part::Fixed(more)) => bytes.extend(more),
                (_, part) => joined.push(part),
            }
        }
        Some(joined)
    }

    fn field(&mut self, field: &Field, value: &Value, message: &Message) -> Option<Part> {
        let is_single = !field.is_map() && !field.is_list() && !field.is_delimited();
        match (value, field.kind()) {
            (Value::Object(fields), Kind::Message(inner)) if is_single && is_plain(&inner) => {
                Some(nested(field, self.message(fields, &inner)?))
            }
            (Value::String(_), Kind::Message(wrapper))
                if is_single && WRAPPERS.contains(&wrapper.full_name()) =>
            {
                let inner = wrapper.field(1)?;
                Some(nested(field, vec![self.hole(&inner, value)?]))
            }
            (Value::String(_), kind) if is_single && Form::new(&kind).is_some() => {
                self.hole(field, value)
            }
            _ => Some(Part::Parsed {
                place: self.take(value, false)?,
                message: message.clone(),
                begin: format!("{{{}:", Value::from(field.json_name())),
            }),
        }
    }

    fn hole(&mut self, field: &Field, value: &Value) -> Option<Part> {
        let (form, wire) = Form::new(&field.kind())?;
        Some(Part::Hole(Hole {
            place: self.take(value, form.ignores_quotes())?,
            number: field.number(),
            key: key(field, wire),
            keeps_default: field.has_presence(),
            form,
        }))
    }

    /// Makes a hole of a value, and returns its place.
    fn take(&mut self, value: &Value, ignores_quotes: bool) -> Option<usize> {
        let (template, first) = self.marked.template(value)?;
        let pieces = template.pieces();
        let is_action = |piece: &&Piece<A>| matches!(piece, Piece::Action(_));
        self.taken += pieces.iter().filter(is_action).count();
        let template = match pieces {
            [Piece::Text(first), Piece::Action(action), Piece::Text(last)]
                if ignores_quotes && action.is_integer() && first == "\"" && last == "\"" =>
            {
                Template::from(vec![Piece::Action(action.clone())])
            }
            _ => template,
        };
        *self.holes.get_mut(first?)? = Some(template);
        first
    }
}

fn nested(field: &Field, parts: Vec<Part>) -> Part {
    Part::Message {
        key: key(field, WireType::Delimited),
        parts: parts.into(),
    }
}

fn key(field: &Field, wire: WireType) -> Vec<u8> {
    let mut key = Vec::new();
    encode_key(field.number(), wire, &mut key);
    key
}
