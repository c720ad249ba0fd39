//! Messages from JSON, in protobuf's own mapping. Errors of values keep the parser's place.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use buffa::editions::EnumType;
use buffa_descriptor::{
    DynamicMessage, FieldDescriptor, FieldKind, MapKey, MapValue, MessageIndex,
    ReflectMessageMut as _, SingularKind, Value,
};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use volley_base::excerpt::excerpt;

use super::dynamic::missing;
use super::plain::{bytes_of, integer, map_key, scalar};
use super::pool::Pool;
use super::strict;
use super::types::Message;
use super::well_known::{self, WellKnown};

/// Reads one message of a type, which must be whole.
#[derive(Clone, Copy)]
pub struct Seed<'a>(pub &'a Message);

/// Reads some fields of a message. Others that must be there may be elsewhere.
#[derive(Clone, Copy)]
pub struct PartSeed<'a>(pub &'a Message);

/// Reads what is known of a message. Fields that must be there may be elsewhere, at any depth.
#[derive(Clone, Copy)]
pub struct KnownSeed<'a>(pub &'a Message);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<DynamicMessage, D::Error> {
        whole(self.0.pool(), One::of(self.0).deserialize(json)?, true)
    }
}

impl<'de> DeserializeSeed<'de> for PartSeed<'_> {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<DynamicMessage, D::Error> {
        whole(self.0.pool(), One::of(self.0).deserialize(json)?, false)
    }
}

impl<'de> DeserializeSeed<'de> for KnownSeed<'_> {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<DynamicMessage, D::Error> {
        One::of(self.0).deserialize(json)
    }
}

fn whole<E: Error>(
    pool: &Pool,
    message: DynamicMessage,
    is_whole: bool,
) -> Result<DynamicMessage, E> {
    match missing(pool, &message, is_whole) {
        Some(field) => Err(E::custom(format!(
            "the required field `{field}` is missing"
        ))),
        None => Ok(message),
    }
}

/// No file declares a type that is needed.
fn lost<E: Error>(name: &str) -> E {
    let name = excerpt(name, 100);
    E::custom(format!("the type `{name}` is missing from the schema"))
}

/// A message, which may lack fields.
#[derive(Clone, Copy)]
struct One<'a> {
    pool: &'a Pool,
    index: MessageIndex,
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<DynamicMessage, D::Error> {
        let name = self.name();
        if self.pool.is_missing(name) {
            return Err(lost(name));
        }
        let Some(known) = WellKnown::of(name) else {
            return json.deserialize_map(Members(self));
        };
        let mut message = self.empty();
        match known {
            WellKnown::Any => self.any(strict::object(json)?, &mut message)?,
            WellKnown::Timestamp | WellKnown::Duration => {
                let text = strict::plain(json, "text")?;
                let text = text.as_str().unwrap_or_default();
                let (read, wanted) = match known {
                    WellKnown::Timestamp => (
                        well_known::parse_timestamp(text),
                        "a time of the years 1 to 9999 is needed, such as \"2024-01-02T03:04:05Z\"",
                    ),
                    _ => (
                        well_known::parse_duration(text),
                        "a duration of at most 315576000000s is needed, such as \"1.5s\"",
                    ),
                };
                let (seconds, nanos) = read.ok_or_else(|| Error::custom(wanted))?;
                self.put(&mut message, 1, Value::I64(seconds));
                self.put(&mut message, 2, Value::I32(nanos));
            }
            WellKnown::FieldMask => {
                let paths = match strict::plain(json, "text")?.as_str() {
                    Some("") => Some(Vec::new()),
                    Some(text) => {
                        let paths = text.split(',');
                        paths
                            .map(|path| well_known::snake(path).map(Value::String))
                            .collect()
                    }
                    None => None,
                };
                let paths = paths.ok_or_else(|| {
                    Error::custom("names of fields are needed, such as \"a,bC.d\"")
                })?;
                self.put(&mut message, 1, Value::List(paths));
            }
            WellKnown::Wrapper => {
                let field = self.pool.descriptors().message(self.index).field(1);
                if let Some(FieldKind::Singular(SingularKind::Scalar(kind))) =
                    field.map(FieldDescriptor::kind)
                {
                    let value = scalar(strict::plain(json, "a value")?, kind);
                    self.put(&mut message, 1, value.map_err(Error::custom)?);
                }
            }
            WellKnown::Struct => {
                let value = self.structure(strict::object(json)?);
                return value.ok_or_else(|| incomplete("Struct"));
            }
            WellKnown::List => {
                let value = self.list(strict::list(json)?);
                return value.ok_or_else(|| incomplete("ListValue"));
            }
            WellKnown::Value => {
                let value = self.any_value(strict::value(json)?);
                return value.ok_or_else(|| incomplete("Value"));
            }
        }
        Ok(message)
    }
}

/// The schema has another type of this name than Google's.
fn incomplete<E: Error>(name: &str) -> E {
    E::custom(format!(
        "the schema's google.protobuf.{name} is not the one of protobuf"
    ))
}

impl<'a> One<'a> {
    fn of(message: &'a Message) -> Self {
        let (pool, index) = (message.pool(), message.index());
        Self { pool, index }
    }

    fn name(self) -> &'a str {
        self.pool.descriptors().message(self.index).full_name()
    }

    fn empty(self) -> DynamicMessage {
        DynamicMessage::new(Arc::clone(self.pool.descriptors()), self.index)
    }

    fn put(self, message: &mut DynamicMessage, number: u32, value: Value) {
        if let Some(field) = self.pool.descriptors().message(self.index).field(number) {
            // Only a schema that has another type of this name refuses it: the field stays empty.
            let _ = message.try_set(field, value);
        }
    }

    fn other(self, name: &str) -> Option<Self> {
        let index = self.pool.descriptors().message_index(name)?;
        Some(Self { index, ..self })
    }

    fn structure(self, json: Map<String, Json>) -> Option<DynamicMessage> {
        let value = self.other("google.protobuf.Value")?;
        let fields = json
            .into_iter()
            .map(|(key, json)| Some((MapKey::String(key), Value::Message(value.any_value(json)?))));
        let fields: Option<Vec<_>> = fields.collect();
        let mut message = self.empty();
        self.put(&mut message, 1, Value::Map(MapValue::from_entries(fields?)));
        Some(message)
    }

    fn list(self, json: Vec<Json>) -> Option<DynamicMessage> {
        let value = self.other("google.protobuf.Value")?;
        let all = json
            .into_iter()
            .map(|json| value.any_value(json).map(Value::Message));
        let all: Option<Vec<_>> = all.collect();
        let mut message = self.empty();
        self.put(&mut message, 1, Value::List(all?));
        Some(message)
    }

    fn any_value(self, json: Json) -> Option<DynamicMessage> {
        let (number, value) = match json {
            Json::Null => (1, Value::EnumNumber(0)),
            Json::Number(number) => (2, Value::F64(number.as_f64()?)),
            Json::String(text) => (3, Value::String(text)),
            Json::Bool(value) => (4, Value::Bool(value)),
            Json::Object(fields) => {
                let structure = self.other("google.protobuf.Struct")?;
                (5, Value::Message(structure.structure(fields)?))
            }
            Json::Array(all) => {
                let list = self.other("google.protobuf.ListValue")?;
                (6, Value::Message(list.list(all)?))
            }
        };
        let mut message = self.empty();
        self.put(&mut message, number, value);
        Some(message)
    }

    fn any<E: Error>(
        self,
        mut json: Map<String, Json>,
        message: &mut DynamicMessage,
    ) -> Result<(), E> {
        if json.is_empty() {
            return Ok(());
        }
        let Some(Json::String(url)) = json.shift_remove("@type") else {
            return Err(E::custom(
                "a google.protobuf.Any names its type: give `@type`, such as \"type.googleapis.com/package.Message\"",
            ));
        };
        let name = url.rsplit('/').next().unwrap_or(&url);
        let inner = self.pool.message_or_known(name);
        let inner = inner.as_ref().map(One::of);
        let bytes = match (inner, json.get("value")) {
            (Some(of), value) => {
                let content = match (WellKnown::of(name), value) {
                    (None, _) => Json::Object(json),
                    (Some(_), Some(value)) if json.len() == 1 => value.clone(),
                    (Some(_), _) => {
                        let reason =
                            format!("beside `@type`, `{name}` has `value` and nothing else");
                        return Err(E::custom(reason));
                    }
                };
                let message = of.deserialize(content).map_err(E::custom)?;
                super::encode(&whole(of.pool, message, true)?)
            }
            // As a reply shows it. Types with a form of their own are not shown so elsewhere.
            (None, Some(Json::String(text)))
                if json.len() == 1 && WellKnown::of(name).is_none() =>
            {
                bytes_of(text).ok_or_else(|| E::custom("base64 is needed"))?
            }
            (None, _) => return Err(lost(name)),
        };
        self.put(message, 1, Value::String(url));
        self.put(message, 2, Value::Bytes(bytes));
        Ok(())
    }

    /// A field of this message by a key of JSON.
    fn field(self, key: &str) -> Result<&'a FieldDescriptor, String> {
        let pool = self.pool.descriptors();
        let extension = key.strip_prefix('[').and_then(|key| key.strip_suffix(']'));
        let found = match extension {
            Some(name) => {
                let extension = pool.extension_by_name(name);
                extension
                    .filter(|one| one.extendee() == self.index)
                    .map(|one| one.field())
            }
            None => pool.message(self.index).field_by_name(key),
        };
        found.ok_or_else(|| format!("unrecognized field name '{key}'"))
    }
}

/// Reads an object as the fields of a message.
struct Members<'a>(One<'a>);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = DynamicMessage;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a map of the fields of `{}`", self.0.name())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<DynamicMessage, A::Error> {
        let mut message = self.0.empty();
        let (mut seen, mut oneofs) = (Vec::new(), Vec::<(u16, &str)>::new());
        while let Some(key) = members.next_key::<Cow<str>>()? {
            let field = self.0.field(&key).map_err(Error::custom)?;
            if seen.contains(&field.number()) {
                return Err(Error::custom(format!("the field '{key}' is there twice")));
            }
            seen.push(field.number());
            let pool = self.0.pool;
            let Some(value) = members.next_value_seed(Content { pool, field })? else {
                continue;
            };
            if let Some(index) = field.oneof_index().filter(|_| is_own(&self.0, field)) {
                if let Some((_, other)) = oneofs.iter().find(|(taken, _)| *taken == index) {
                    let of = pool.descriptors().message(self.0.index);
                    let oneof = of
                        .oneofs()
                        .get(usize::from(index))
                        .map(|oneof| oneof.name());
                    let oneof = excerpt(oneof.unwrap_or_default(), 100);
                    let (other, name) = (excerpt(other, 100), excerpt(field.name(), 100));
                    return Err(Error::custom(format!(
                        "multiple fields provided for oneof '{oneof}': `{other}` and `{name}`"
                    )));
                }
                oneofs.push((index, field.name()));
            }
            message.try_set(field, value).map_err(Error::custom)?;
        }
        Ok(message)
    }
}

/// Not an extension.
fn is_own(of: &One, field: &FieldDescriptor) -> bool {
    let own = of
        .pool
        .descriptors()
        .message(of.index)
        .field(field.number());
    own.is_some_and(|own| std::ptr::eq(own, field))
}

/// What a field holds; `None` if it stays absent.
#[derive(Clone, Copy)]
struct Content<'a> {
    pool: &'a Pool,
    field: &'a FieldDescriptor,
}

impl<'de> DeserializeSeed<'de> for Content<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<Value>, D::Error> {
        match self.field.kind() {
            FieldKind::Singular(kind) => Single {
                pool: self.pool,
                kind,
            }
            .deserialize(json),
            FieldKind::List(_) | FieldKind::Map { .. } => json.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Content<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self.field.kind() {
            FieldKind::List(_) => "a list",
            _ => "a map",
        })
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut json: A) -> Result<Option<Value>, A::Error> {
        let FieldKind::List(kind) = self.field.kind() else {
            return Err(Error::invalid_type(serde::de::Unexpected::Seq, &self));
        };
        let mut all = Vec::new();
        while let Some(value) = json.next_element_seed(Single {
            pool: self.pool,
            kind,
        })? {
            all.push(value.ok_or_else(|| Error::custom("a list has no `null`"))?);
        }
        Ok(Some(Value::List(all)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut json: A) -> Result<Option<Value>, A::Error> {
        let FieldKind::Map { key, value } = self.field.kind() else {
            return Err(Error::invalid_type(serde::de::Unexpected::Map, &self));
        };
        let mut all = Vec::new();
        while let Some(text) = json.next_key::<Cow<str>>()? {
            let key = map_key(key, &text).map_err(Error::custom)?;
            let pool = self.pool;
            let value = json.next_value_seed(Single { pool, kind: value })?;
            let value = value.ok_or_else(|| Error::custom("a map has no `null`"))?;
            all.push((key, value));
        }
        let count = all.len();
        let all = MapValue::from_entries(all);
        match all.len() == count {
            true => Ok(Some(Value::Map(all))),
            false => Err(Error::custom("a key of the map is there twice")),
        }
    }
}

/// One value; `None`: `null`.
#[derive(Clone, Copy)]
struct Single<'a> {
    pool: &'a Pool,
    kind: SingularKind,
}

impl<'de> DeserializeSeed<'de> for Single<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<Value>, D::Error> {
        let pool = self.pool;
        match self.kind {
            SingularKind::Message(index) => {
                let one = One { pool, index };
                match WellKnown::of(one.name()) {
                    Some(WellKnown::Value) => Ok(Some(Value::Message(one.deserialize(json)?))),
                    _ => json.deserialize_option(Present(one)),
                }
            }
            SingularKind::Scalar(kind) => match strict::plain(json, "a value")? {
                Json::Null => Ok(None),
                value => scalar(value, kind).map(Some).map_err(Error::custom),
            },
            SingularKind::Enum(index) => {
                let values = pool.descriptors().enumeration(index);
                let name = values.full_name();
                if pool.is_missing(name) {
                    return Err(lost(name));
                }
                let number = match strict::plain(json, "a name or a number")? {
                    Json::Null if name == "google.protobuf.NullValue" => 0,
                    Json::Null => return Ok(None),
                    Json::String(text) => {
                        let number = values.value_by_name(&text).map(|value| value.number());
                        // "+1" and "01" are numbers here, as for Python's protobuf.
                        let number = number.or_else(|| text.parse().ok());
                        number.ok_or_else(|| unrecognized(&text))?
                    }
                    Json::Bool(_) => return Err(Error::custom("a name or a number is needed")),
                    number => integer(&number).map_err(Error::custom)?,
                };
                let is_closed = values.enum_type() == EnumType::Closed;
                match is_closed && values.value(number).is_none() {
                    true => Err(unrecognized(number)),
                    false => Ok(Some(Value::EnumNumber(number))),
                }
            }
        }
    }
}

fn unrecognized<E: Error>(value: impl fmt::Display) -> E {
    E::custom(format!("unrecognized enum value '{value}'"))
}

/// A message that is not `null`.
struct Present<'a>(One<'a>);

impl<'de> Visitor<'de> for Present<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        Members(self.0).expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<Option<Value>, D::Error> {
        self.0
            .deserialize(json)
            .map(|message| Some(Value::Message(message)))
    }
}
