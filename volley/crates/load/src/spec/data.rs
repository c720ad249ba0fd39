//! The request messages, as given.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// The key of messages that are not JSON.
const BINARY: &str = "$protobuf";
const LINES: &str = "$jsonl";
const CSV: &str = "$csv";

/// The request messages. A file holds JSON as it is, or as text if only its templates make it JSON; protobuf stands in
/// `{"$protobuf": "<base64>"}`, CSV in `{"$csv": "<text>"}`, JSON lines in `{"$jsonl": "<text>"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// A JSON object, or a list of objects, possibly with templates.
    Json(String),
    /// A JSON object on each line, possibly with templates: as a list.
    JsonLines(String),
    /// Comma-separated values: a message in each row, its fields named by the header.
    Csv(String),
    /// One protobuf message, or several, each preceded by its length as a varint.
    Binary(Vec<u8>),
}

impl Data {
    /// A message that is not JSON, as it stands in a file.
    #[must_use]
    pub fn in_file(protobuf: &[u8]) -> Value {
        json!({ BINARY: BASE64_STANDARD.encode(protobuf) })
    }
}

impl Default for Data {
    /// An empty message.
    fn default() -> Self {
        Self::Json("{}".to_owned())
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(text) => match serde_json::from_str::<Value>(text) {
                Ok(value) if !value.is_string() => value.serialize(to),
                _ => text.serialize(to),
            },
            Self::JsonLines(text) => json!({ LINES: text }).serialize(to),
            Self::Csv(text) => json!({ CSV: text }).serialize(to),
            Self::Binary(bytes) => Self::in_file(bytes).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(text) => Ok(Self::Json(text)),
            Value::Object(entries) if entries.len() == 1 && entries.contains_key(BINARY) => {
                let text = entries.get(BINARY).and_then(Value::as_str);
                let bytes = text.and_then(|text| BASE64_STANDARD.decode(text).ok());
                bytes
                    .map(Self::Binary)
                    .ok_or_else(|| D::Error::custom("`$protobuf` must be base64"))
            }
            Value::Object(entries) if entries.len() == 1 && text_of(&entries, LINES).is_some() => {
                Ok(Self::JsonLines(
                    text_of(&entries, LINES).unwrap_or_default(),
                ))
            }
            Value::Object(entries) if entries.len() == 1 && text_of(&entries, CSV).is_some() => {
                Ok(Self::Csv(text_of(&entries, CSV).unwrap_or_default()))
            }
            value @ (Value::Object(_) | Value::Array(_)) => Ok(Self::Json(value.to_string())),
            _ => Err(D::Error::custom("an object or a list of objects is needed")),
        }
    }
}

fn text_of(entries: &serde_json::Map<String, Value>, key: &str) -> Option<String> {
    entries.get(key)?.as_str().map(str::to_owned)
}

#[cfg(feature = "docs")]
impl schemars::JsonSchema for Data {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Data".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The request message as JSON, or a list of messages; as text if only its templates make it JSON; protobuf as {\"$protobuf\": \"<base64>\"}, CSV as {\"$csv\": \"<text>\"}, JSON lines as {\"$jsonl\": \"<text>\"}.",
            "type": ["object", "array", "string"],
        })
    }
}
