//! Request messages from JSON and binary data, and messages as JSON.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::RequestError;
use super::excerpt::{excerpt, list};
use crate::protobuf::{self, DynamicMessage, Field, KnownSeed, Seed, Undecodable};
use crate::spec::Data;

/// A message, and its encoding.
#[derive(Clone, Debug)]
pub struct Message {
    pub fields: DynamicMessage,
    pub bytes: Vec<u8>,
}

/// Whether the JSON is an array, that is, several messages.
#[must_use]
pub fn is_array(json: &str) -> bool {
    json.trim_start().starts_with('[')
}

/// The messages of a JSON object, or of an array of them. Empty text gives no message.
///
/// # Errors
///
/// If the text is not JSON, or does not fit `input`.
pub fn from_json(json: &str, input: &protobuf::Message) -> Result<Vec<Message>, RequestError> {
    if json.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let messages = if is_array(json) {
        deserializer.deserialize_seq(Several(input))
    } else {
        Seed(input)
            .deserialize(&mut deserializer)
            .map(|message| vec![message])
    };
    let messages = messages.and_then(|messages| deserializer.end().map(|()| messages));
    messages
        .map(|messages| {
            messages
                .into_iter()
                .map(|fields| Message {
                    bytes: protobuf::encode(&fields),
                    fields,
                })
                .collect()
        })
        .map_err(|error| wrong_json(&error, input))
}

/// Checks the values that are known of a message, as a JSON object. Others may be missing, required ones too.
///
/// # Errors
///
/// If the text is not JSON, or a value does not fit its field.
pub fn require_known(json: &str, input: &protobuf::Message) -> Result<(), RequestError> {
    let mut json = serde_json::Deserializer::from_str(json);
    let read = KnownSeed(input).deserialize(&mut json);
    read.map(drop).map_err(|error| wrong_json(&error, input))
}

/// A message as JSON, fields with default values included; as base64 if it is not of this type.
#[must_use]
pub fn to_json(bytes: &[u8], kind: &protobuf::Message) -> Value {
    match kind.decode(bytes) {
        Ok(message) => kind.to_json(&message, true),
        Err(_) => Data::in_file(bytes),
    }
}

/// The messages of binary data: several if all of it parses as length-prefixed messages, otherwise
/// one. No data gives no message.
///
/// # Errors
///
/// If it is neither.
pub fn from_binary(data: &[u8], input: &protobuf::Message) -> Result<Vec<Message>, RequestError> {
    if data.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(messages) = delimited(data, input) {
        return Ok(messages);
    }
    from_bytes(data, input).map(|message| vec![message])
}

/// One message of binary data.
///
/// # Errors
///
/// If it is none.
pub fn from_bytes(data: &[u8], input: &protobuf::Message) -> Result<Message, RequestError> {
    message(data, input).map_err(|error| RequestError::NotBinary {
        input: excerpt(input.full_name(), 200),
        reason: error.to_string(),
    })
}

fn delimited(mut data: &[u8], input: &protobuf::Message) -> Option<Vec<Message>> {
    let mut messages = Vec::new();
    while !data.is_empty() {
        let length = buffa::encoding::decode_varint(&mut data).ok()?;
        let length = usize::try_from(length).ok()?;
        let (bytes, rest) = data.split_at_checked(length)?;
        messages.push(message(bytes, input).ok()?);
        data = rest;
    }
    Some(messages)
}

fn message(bytes: &[u8], input: &protobuf::Message) -> Result<Message, Undecodable> {
    input.decode(bytes).map(|fields| Message {
        fields,
        bytes: bytes.to_vec(),
    })
}

fn wrong_json(error: &serde_json::Error, input: &protobuf::Message) -> RequestError {
    let reason = excerpt(&error.to_string(), 300);
    if !error.is_data() {
        return RequestError::NotJson {
            reason,
            rendered: None,
        };
    }
    // If messages are nested, the unknown field may belong to one of those.
    let is_flat = input
        .fields()
        .all(|field| field.kind().as_message().is_none());
    let fields = (is_flat && reason.starts_with("unrecognized field")).then(|| {
        let fields: Vec<_> = input.fields().collect();
        list(fields.iter().map(Field::name))
    });
    let input = excerpt(input.full_name(), 200);
    RequestError::DoesNotFit {
        input,
        reason,
        fields,
        rendered: None,
    }
}

struct Several<'a>(&'a protobuf::Message);

impl<'de> Visitor<'de> for Several<'_> {
    type Value = Vec<DynamicMessage>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut messages = Vec::new();
        while let Some(message) = elements.next_element_seed(Seed(self.0))? {
            messages.push(message);
        }
        Ok(messages)
    }
}
