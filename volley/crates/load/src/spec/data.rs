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
        let value = Value::deserialize(from)?;
        let only = value.as_object().filter(|entries| entries.len() == 1);
        let only = only.and_then(|entries| entries.iter().next());
        match only.map(|(key, value)| (key.as_str(), value.as_str())) {
            Some((BINARY, text)) => {
                let bytes = text.and_then(|text| BASE64_STANDARD.decode(text).ok());
                let bytes = bytes.map(Self::Binary);
                return bytes.ok_or_else(|| D::Error::custom("`$protobuf` must be base64"));
            }
            Some((LINES, Some(text))) => return Ok(Self::JsonLines(text.to_owned())),
            Some((CSV, Some(text))) => return Ok(Self::Csv(text.to_owned())),
            _ => {}
        }
        match value {
            Value::String(text) => Ok(Self::Json(text)),
            Value::Object(_) | Value::Array(_) => Ok(Self::Json(value.to_string())),
            _ => Err(D::Error::custom("an object or a list of objects is needed")),
        }
    }
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
