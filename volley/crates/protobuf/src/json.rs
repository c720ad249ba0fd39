//! Messages as JSON, in protobuf's own mapping. Whatever was decoded can be shown.

use std::cell::Cell;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use buffa::editions::FieldPresence;
use buffa_descriptor::{
    DynamicMessage, FieldDescriptor, FieldKind, MapKey, ReflectMessage as _, SingularKind, Value,
};
use serde_json::{Map, Number, Value as Json};

use super::dynamic::{DEEPEST, zero};
use super::field::Kind;
use super::types::Message;
use super::well_known::{self, WellKnown};

/// How much work goes into fields that are zero or empty, as a few bytes may be many messages of many such fields: that many
/// are looked at, and a hundredth of them shown.
const MOST: usize = 10_000_000;

/// Room for the fields of messages that are zero or empty.
#[derive(Debug)]
pub struct Zeros(Cell<Option<usize>>);

impl Default for Zeros {
    fn default() -> Self {
        Self(Cell::new(Some(MOST)))
    }
}

impl Zeros {
    /// There was no room for those of some message, which is shown without them.
    #[must_use]
    pub fn are_left_out(&self) -> bool {
        self.0.get().is_none()
    }

    fn take(&self, room: usize) -> bool {
        let left = self.0.get().and_then(|left| left.checked_sub(room));
        self.0.set(left);
        left.is_some()
    }
}

impl Message {
    /// A message of this type as JSON: all fields that have a value.
    #[must_use]
    pub fn to_json(&self, message: &DynamicMessage) -> Json {
        let (of, zeros) = (self, None);
        Writer { of, zeros }.message(message, DEEPEST)
    }

    /// The same with those that are zero or empty, if there is room.
    #[must_use]
    pub fn to_json_with(&self, message: &DynamicMessage, zeros: &Zeros) -> Json {
        let of = self;
        if !zeros.are_left_out() {
            let zeros = Some(zeros);
            let json = Writer { of, zeros }.message(message, DEEPEST);
            if zeros.is_some_and(|zeros| !zeros.are_left_out()) {
                return json;
            }
        }
        self.to_json(message)
    }
}

#[derive(Clone, Copy)]
struct Writer<'a> {
    of: &'a Message,
    /// If those fields are shown.
    zeros: Option<&'a Zeros>,
}

impl Writer<'_> {
    fn message(&self, message: &DynamicMessage, depth: u32) -> Json {
        let name = message.message_descriptor().full_name();
        if self.of.pool().is_missing(name) {
            return base64(&super::encode(message));
        }
        let known = WellKnown::of(name).and_then(|known| self.well_known(known, message, depth));
        known.unwrap_or_else(|| Json::Object(self.fields(message, depth)))
    }

    fn fields(&self, message: &DynamicMessage, depth: u32) -> Map<String, Json> {
        let mut fields = Map::new();
        let Some(depth) = depth.checked_sub(1) else {
            return fields;
        };
        let of = message.message_descriptor();
        let mut set = Vec::new();
        message.for_each_set(&mut |field, _| set.push(field.number()));
        // In the order of the file, extensions last.
        let (own, extensions): (Vec<u32>, Vec<u32>) = set
            .into_iter()
            .partition(|number| of.field(*number).is_some());
        let all = of.fields().iter();
        let own: Vec<&FieldDescriptor> = match self.zeros {
            Some(zeros) => all.take_while(|_| zeros.take(1)).collect(),
            None => {
                let place = |number| self.of.pool().places().at(message.message_index(), number);
                let mut own = own;
                own.sort_by_key(|number| place(*number));
                own.iter().filter_map(|number| of.field(*number)).collect()
            }
        };
        for field in own {
            if let Some(json) = self.field(message, field, depth) {
                fields.insert(field.json_name().to_owned(), json);
            }
        }
        for number in extensions {
            let extension = message
                .pool()
                .extension_for(message.message_index(), number);
            if let Some(extension) = extension
                && let Some(json) = self.field(message, extension.field(), depth)
            {
                fields.insert(extension.json_key().to_owned(), json);
            }
        }
        fields
    }

    fn field(&self, message: &DynamicMessage, field: &FieldDescriptor, depth: u32) -> Option<Json> {
        let value = message.field_by_number(field.number());
        let is_zero = match value {
            Some(Value::List(all)) => all.is_empty(),
            Some(Value::Map(all)) => all.is_empty(),
            Some(value) => field.presence() == FieldPresence::Implicit && is_zero(value),
            None => true,
        };
        match (field.kind(), value) {
            (FieldKind::Singular(_), None) if field.presence() != FieldPresence::Implicit => None,
            _ if is_zero && !self.zeros?.take(100) => None,
            (FieldKind::List(kind), Some(Value::List(all))) => {
                Some(all.iter().map(|one| self.value(kind, one, depth)).collect())
            }
            (FieldKind::Map { value, .. }, Some(Value::Map(all))) => {
                let entries = all.into_iter();
                let entries =
                    entries.map(|(key, one)| (key_text(key), self.value(value, one, depth)));
                Some(Json::Object(entries.collect()))
            }
            (FieldKind::List(_), _) => Some(Json::Array(Vec::new())),
            (FieldKind::Map { .. }, _) => Some(Json::Object(Map::new())),
            (FieldKind::Singular(kind), Some(value)) => Some(self.value(kind, value, depth)),
            (FieldKind::Singular(kind), None) => Some(self.value(kind, &self.zero(kind)?, depth)),
        }
    }

    fn zero(&self, kind: SingularKind) -> Option<Value> {
        zero(&Kind::new(self.of.pool(), kind))
    }

    fn value(&self, kind: SingularKind, value: &Value, depth: u32) -> Json {
        match (kind, value) {
            (SingularKind::Enum(index), Value::EnumNumber(number)) => {
                let values = self.of.pool().descriptors().enumeration(index);
                match values.value(*number) {
                    _ if values.full_name() == "google.protobuf.NullValue" => Json::Null,
                    Some(value) => value.name().into(),
                    None => (*number).into(),
                }
            }
            (_, Value::Message(message)) => self.message(message, depth),
            (_, value) => scalar(value),
        }
    }

    /// `None` if it has no such form.
    fn well_known(&self, known: WellKnown, message: &DynamicMessage, depth: u32) -> Option<Json> {
        let get = |number| message.field_by_number(number);
        let time = |show: fn(i64, i32) -> Option<String>| {
            let (mut seconds, mut nanos) = (0, 0);
            if let Some(Value::I64(value)) = get(1) {
                seconds = *value;
            }
            if let Some(Value::I32(value)) = get(2) {
                nanos = *value;
            }
            show(seconds, nanos).map(Json::from)
        };
        match known {
            WellKnown::Any => self.any(message, depth),
            WellKnown::Timestamp => time(well_known::timestamp),
            WellKnown::Duration => time(well_known::duration),
            WellKnown::FieldMask => {
                let paths = match get(1) {
                    Some(Value::List(paths)) => paths.as_slice(),
                    _ => &[],
                };
                let paths = paths.iter().map(|path| match path {
                    Value::String(path) => well_known::camel(path),
                    _ => None,
                });
                let paths: Option<Vec<String>> = paths.collect();
                Some(paths?.join(",").into())
            }
            WellKnown::Wrapper => {
                let field = message.message_descriptor().field(1)?;
                let FieldKind::Singular(kind) = field.kind() else {
                    return None;
                };
                Some(match get(1) {
                    Some(value) => scalar(value),
                    None => scalar(&self.zero(kind)?),
                })
            }
            WellKnown::Struct => {
                let depth = depth.checked_sub(1)?;
                let mut fields = Map::new();
                if let Some(Value::Map(all)) = get(1) {
                    for (key, value) in all {
                        let Value::Message(value) = value else {
                            return None;
                        };
                        fields.insert(key_text(key), self.message(value, depth));
                    }
                }
                Some(Json::Object(fields))
            }
            WellKnown::List => {
                let depth = depth.checked_sub(1)?;
                let all = match get(1) {
                    Some(Value::List(all)) => all.as_slice(),
                    _ => &[],
                };
                let all = all.iter().map(|value| match value {
                    Value::Message(value) => Some(self.message(value, depth)),
                    _ => None,
                });
                all.collect::<Option<_>>().map(Json::Array)
            }
            WellKnown::Value => {
                let depth = depth.checked_sub(1)?;
                let found = (2..=6).find_map(get);
                Some(match found {
                    Some(Value::Message(inner)) => self.message(inner, depth),
                    Some(value) => scalar(value),
                    None => Json::Null,
                })
            }
        }
    }

    /// With the fields of its message, or else with its bytes.
    fn any(&self, any: &DynamicMessage, depth: u32) -> Option<Json> {
        let depth = depth.checked_sub(1)?;
        let url = match any.field_by_number(1) {
            Some(Value::String(url)) => url.as_str(),
            _ => "",
        };
        let bytes = match any.field_by_number(2) {
            Some(Value::Bytes(bytes)) => bytes.as_slice(),
            _ => &[],
        };
        if url.is_empty() && bytes.is_empty() {
            return Some(Json::Object(Map::new()));
        }
        let mut json = Map::from_iter([("@type".to_owned(), Json::from(url))]);
        let name = url.rsplit('/').next().unwrap_or(url);
        let of = self.of.pool().message_or_known(name);
        let of = of.as_ref();
        match of.and_then(|of| Some((of, of.decode_part(bytes, depth).ok()?))) {
            Some((of, inner)) => {
                let writer = Writer { of, ..*self };
                match WellKnown::of(name) {
                    Some(_) => {
                        json.insert("value".to_owned(), writer.message(&inner, depth));
                    }
                    None => json.extend(writer.fields(&inner, depth)),
                }
            }
            None => {
                json.insert("value".to_owned(), base64(bytes));
            }
        }
        Some(Json::Object(json))
    }
}

fn scalar(value: &Value) -> Json {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::I32(value) | Value::EnumNumber(value) => (*value).into(),
        Value::U32(value) => (*value).into(),
        Value::I64(value) => value.to_string().into(),
        Value::U64(value) => value.to_string().into(),
        // The shortest digits that name this float name another double.
        Value::F32(value) if value.is_finite() => double(value.to_string().parse().unwrap_or(0.0)),
        Value::F32(value) => double(f64::from(*value)),
        Value::F64(value) => double(*value),
        Value::String(text) => text.as_str().into(),
        Value::Bytes(bytes) => base64(bytes),
        Value::Message(_) | Value::List(_) | Value::Map(_) => Json::Null,
    }
}

fn double(value: f64) -> Json {
    match Number::from_f64(value) {
        Some(number) => Json::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

fn base64(bytes: &[u8]) -> Json {
    BASE64_STANDARD.encode(bytes).into()
}

/// A key of a map as JSON has it.
#[must_use]
pub fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

/// -0.0 is not.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::I32(value) | Value::EnumNumber(value) => *value == 0,
        Value::I64(value) => *value == 0,
        Value::U32(value) => *value == 0,
        Value::U64(value) => *value == 0,
        Value::F32(value) => value.to_bits() == 0,
        Value::F64(value) => value.to_bits() == 0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Message(_) | Value::List(_) | Value::Map(_) => false,
    }
}
