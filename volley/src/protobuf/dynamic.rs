//! Messages of a type that is known only at run time.

use std::sync::Arc;

use buffa::editions::FieldPresence;
use buffa_descriptor::{DynamicMessage, ReflectMessage as _, Value};
use thiserror::Error;

use super::descriptor::EnumDescriptorProto;
use super::field::{Field, Kind};
use super::json::key_text;
use super::pool::Pool;
use super::types::Message;
use crate::excerpt::excerpt;

/// Why bytes are no message of a type.
#[derive(Debug, Error)]
pub enum Undecodable {
    #[error("{0}")]
    Wire(#[from] buffa::DecodeError),
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
        let (pool, options) = (Arc::clone(self.pool().descriptors()), super::options());
        let message = DynamicMessage::decode_with_options(pool, self.index(), bytes, &options)?;
        match missing(self.pool(), &message) {
            Some(field) => Err(Undecodable::Required(field)),
            None => Ok(message),
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

/// The name of a field that must be there and is not, by the names that lead to it.
pub(super) fn missing(pool: &Pool, message: &DynamicMessage) -> Option<String> {
    let may_lack = pool.has_required();
    may_lack.then(|| missing_in(message, true)).flatten()
}

/// The same below a message that may itself lack fields.
pub(super) fn missing_below(pool: &Pool, message: &DynamicMessage) -> Option<String> {
    let may_lack = pool.has_required();
    may_lack.then(|| missing_in(message, false)).flatten()
}

fn missing_in(message: &DynamicMessage, needs_own: bool) -> Option<String> {
    let (pool, of) = (message.pool(), message.message_descriptor());
    let extensions = pool.extensions_of(message.message_index());
    let extensions = extensions.map(|one| (one.field(), one.full_name()));
    let fields = of.fields().iter().map(|field| (field, field.name()));
    for (field, name) in fields.chain(extensions) {
        let Some(value) = message.field_by_number(field.number()) else {
            match needs_own && field.presence() == FieldPresence::LegacyRequired {
                true => return Some(name.to_owned()),
                false => continue,
            }
        };
        let inner = match value {
            Value::List(all) => all
                .iter()
                .enumerate()
                .find_map(|(index, value)| Some(format!("[{index}].{}", missing_in_value(value)?))),
            Value::Map(all) => all.into_iter().find_map(|(key, value)| {
                let key = excerpt(&key_text(key), 40);
                Some(format!("[\"{key}\"].{}", missing_in_value(value)?))
            }),
            value => missing_in_value(value).map(|inner| format!(".{inner}")),
        };
        if let Some(inner) = inner {
            return Some(format!("{name}{inner}"));
        }
    }
    None
}

fn missing_in_value(value: &Value) -> Option<String> {
    match value {
        Value::Message(message) => missing_in(message, true),
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
        Kind::Bytes | Kind::Message(_) => return None,
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
            let proto = values.proto();
            Value::EnumNumber(proto.map_or(0, first_number))
        }
        Kind::Message(_) => return None,
    })
}

fn first_number(of: &EnumDescriptorProto) -> i32 {
    of.value.first().and_then(|value| value.number).unwrap_or(0)
}
