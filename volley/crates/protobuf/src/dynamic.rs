//! Messages of a type that is known only at run time.

use std::sync::Arc;

use buffa::DecodeError;
use buffa_descriptor::{DynamicMessage, ReflectMessage as _, Value, ValueRef};
use thiserror::Error;
use volley_base::excerpt::excerpt;

use super::compile::unescaped;
use super::field::{Field, Kind};
use super::json::key_text;
use super::lossy;
use super::pool::Pool;
use super::types::Message;

/// So deep messages are read and shown, those in an `Any` included.
pub(super) const DEEPEST: u32 = buffa::RECURSION_LIMIT;

/// Why bytes are no message of a type.
#[derive(Debug, Error)]
pub enum Undecodable {
    #[error("{0}")]
    Wire(#[from] DecodeError),
    #[error("the required field `{0}` is missing")]
    Required(String),
}

impl Message {
    /// Decodes a message.
    ///
    /// # Errors
    ///
    /// The bytes are none of this type, or lack a field that must be there.
    pub fn decode(&self, bytes: &[u8]) -> Result<DynamicMessage, Undecodable> {
        let message = self.decode_part(bytes, DEEPEST)?;
        match missing(self.pool(), &message, true) {
            Some(field) => Err(Undecodable::Required(field)),
            None => Ok(message),
        }
    }

    /// Decodes a message of at most this depth, which may lack fields. Text that is not UTF-8 gets replacement characters,
    /// where it need not be.
    pub(super) fn decode_part(
        &self,
        bytes: &[u8],
        depth: u32,
    ) -> Result<DynamicMessage, DecodeError> {
        let decode = |bytes: &[u8]| {
            let options = super::options().with_recursion_limit(depth);
            let pool = Arc::clone(self.pool().descriptors());
            DynamicMessage::decode_with_options(pool, self.index(), bytes, &options)
        };
        match decode(bytes) {
            Err(DecodeError::InvalidUtf8) => {
                let changed = lossy::text(self, bytes, depth);
                decode(&changed.ok_or(DecodeError::InvalidUtf8)?)
            }
            read => read,
        }
    }

    /// A message without any field.
    #[must_use]
    pub fn empty(&self) -> DynamicMessage {
        DynamicMessage::new(Arc::clone(self.pool().descriptors()), self.index())
    }
}

/// The encoding of a message: nothing if it were longer than any protobuf message is.
#[must_use]
pub fn encode(message: &DynamicMessage) -> Vec<u8> {
    message.try_encode_to_vec().unwrap_or_default()
}

/// The name of a field that must be there and is not, by the names that lead to it. The message itself may lack some, unless
/// `is_whole`.
pub(super) fn missing(pool: &Pool, message: &DynamicMessage, is_whole: bool) -> Option<String> {
    let may_lack = pool.has_required();
    may_lack
        .then(|| missing_in(pool, message, is_whole))
        .flatten()
}

/// As many steps as there are fields that must be there or are: few bytes may be many messages of many other ones.
fn missing_in(pool: &Pool, message: &DynamicMessage, is_whole: bool) -> Option<String> {
    let (of, index) = (message.message_descriptor(), message.message_index());
    let mut required = pool.required(index).iter();
    let lacks = |number: &&u32| is_whole && message.field_by_number(**number).is_none();
    if let Some(lacking) = required.find(lacks) {
        return of.field(*lacking).map(|field| field.name().to_owned());
    }
    let mut deep = Vec::new();
    message.for_each_set(&mut |field, value| {
        if matches!(
            value,
            ValueRef::Message(_) | ValueRef::List(_) | ValueRef::Map(_)
        ) {
            deep.push(field.number());
        }
    });
    deep.into_iter().find_map(|number| {
        let inner = match message.field_by_number(number)? {
            Value::List(all) => all.iter().enumerate().find_map(|(index, one)| {
                Some(format!("[{index}].{}", missing_in_value(pool, one)?))
            }),
            Value::Map(all) => all.into_iter().find_map(|(key, one)| {
                let key = excerpt(&key_text(key), 40);
                Some(format!("[\"{key}\"].{}", missing_in_value(pool, one)?))
            }),
            value => missing_in_value(pool, value).map(|inner| format!(".{inner}")),
        }?;
        let extension = || message.pool().extension_for(index, number);
        let name = match of.field(number) {
            Some(field) => field.name(),
            None => extension()?.full_name(),
        };
        Some(format!("{name}{inner}"))
    })
}

fn missing_in_value(pool: &Pool, value: &Value) -> Option<String> {
    match value {
        Value::Message(message) => missing_in(pool, message, true),
        _ => None,
    }
}

/// What a field counts as where it is absent; `None` for lists, maps and messages.
#[must_use]
pub fn default_value(field: &Field) -> Option<Value> {
    if field.is_list() || field.is_map() {
        return None;
    }
    let kind = field.kind();
    let declared = field
        .proto()
        .and_then(|proto| proto.default_value.as_deref());
    let declared = declared.and_then(|text| parsed(&kind, text));
    declared.or_else(|| zero(&kind))
}

/// The value that stands in a file as this text.
fn parsed(kind: &Kind, text: &str) -> Option<Value> {
    Some(match kind {
        Kind::Double => Value::F64(text.parse().ok()?),
        Kind::Float => Value::F32(text.parse().ok()?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(text.parse().ok()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(text.parse().ok()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(text.parse().ok()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(text.parse().ok()?),
        Kind::Bool => Value::Bool(text == "true"),
        Kind::String => Value::String(text.to_owned()),
        Kind::Enum(values) => Value::EnumNumber(values.number_of(text)?),
        Kind::Bytes => Value::Bytes(unescaped(text)),
        Kind::Message(_) => return None,
    })
}

/// Zero, empty, or an enum's first value.
pub(super) fn zero(kind: &Kind) -> Option<Value> {
    Some(match kind {
        Kind::Double => Value::F64(0.0),
        Kind::Float => Value::F32(0.0),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(0),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(0),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(0),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(0),
        Kind::Bool => Value::Bool(false),
        Kind::String => Value::String(String::new()),
        Kind::Bytes => Value::Bytes(Vec::new()),
        Kind::Enum(values) => {
            let first = values.descriptor().values().first();
            Value::EnumNumber(first.map_or(0, |first| first.number()))
        }
        Kind::Message(_) => return None,
    })
}
