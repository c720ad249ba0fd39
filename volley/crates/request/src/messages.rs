//! Request messages from JSON and binary data, and messages as JSON.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use volley_base::excerpt::excerpt;
use volley_load::spec::Data;
use volley_protobuf as protobuf;
use volley_protobuf::{DynamicMessage, KnownSeed, Seed, Undecodable, Zeros};

use super::RequestError;
use super::misfit::Misfit;

/// What is said where there was no room for fields that are zero or empty.
pub const LEFT_OUT: &str = "there are too many: some messages are shown without them";

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
    let reading = match is_array(json) {
        true => Reading::Several(input),
        false => Reading::One(input),
    };
    let messages = reading.read(json)?.into_iter();
    let messages = messages.map(|fields| Message {
        bytes: protobuf::encode(&fields),
        fields,
    });
    Ok(messages.collect())
}

/// Checks the values that are known of a message, as a JSON object. Others may be missing, required ones too.
///
/// # Errors
///
/// If the text is not JSON, or a value does not fit its field.
pub fn require_known(json: &str, input: &protobuf::Message) -> Result<(), RequestError> {
    Reading::Known(input).read(json).map(drop)
}

/// A message as JSON, fields that are zero or empty included as far as there is room; as base64 if it is not of this type.
#[must_use]
pub fn to_json(bytes: &[u8], kind: &protobuf::Message, zeros: &Zeros) -> Value {
    match kind.decode(bytes) {
        Ok(message) => kind.to_json_with(&message, zeros),
        Err(_) => Data::in_file(bytes),
    }
}

/// The keys of a path, between dots. The name of an extension, in brackets, has dots of its own.
#[must_use]
pub fn keys(text: &str) -> Vec<&str> {
    let mut is_name = false;
    let is_end = |c| {
        is_name = (is_name || c == '[') && c != ']';
        c == '.' && !is_name
    };
    text.split(is_end).collect()
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

/// How JSON is read.
#[derive(Clone, Copy)]
pub(super) enum Reading<'a> {
    /// As a list of messages.
    Several(&'a protobuf::Message),
    One(&'a protobuf::Message),
    /// As one message, which may lack what must be there.
    Known(&'a protobuf::Message),
}

impl<'a> Reading<'a> {
    pub(super) fn input(self) -> &'a protobuf::Message {
        match self {
            Self::Several(input) | Self::One(input) | Self::Known(input) => input,
        }
    }

    fn read(self, text: &str) -> Result<Vec<DynamicMessage>, RequestError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let messages = self.deserialize(&mut json);
        let messages = messages.and_then(|messages| json.end().map(|()| messages));
        messages.map_err(|error| {
            let reason = excerpt(&error.to_string(), 300);
            if !error.is_data() {
                return RequestError::NotJson {
                    reason,
                    hint: None,
                    rendered: None,
                };
            }
            let Misfit { field, hint } = Misfit::find(text, self, &reason);
            RequestError::DoesNotFit {
                input: excerpt(self.input().full_name(), 200),
                reason: field + &reason,
                hint,
                rendered: None,
            }
        })
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Vec<DynamicMessage>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        let one = match self {
            Self::Several(input) => return json.deserialize_seq(Several(input)),
            Self::One(input) => Seed(input).deserialize(json),
            Self::Known(input) => KnownSeed(input).deserialize(json),
        };
        one.map(|message| vec![message])
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
