//! Flags whose value is JSON.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

/// Why a text is not the JSON that a flag needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonError {
    #[error("it is not JSON: {0}")]
    Syntax(String),
    #[error("a JSON object of strings is needed, such as `{{\"key\": \"value\"}}`")]
    NoStrings,
    #[error("a JSON object or a list of objects is needed, such as `{{\"name\": \"Joe\"}}`")]
    NoMessage,
}

/// Reads an object of strings; blank text is an empty one.
pub fn strings(text: &str) -> Result<BTreeMap<String, String>, JsonError> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let Value::Object(entries) = parse(text)? else {
        return Err(JsonError::NoStrings);
    };
    entries
        .into_iter()
        .map(|(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            _ => Err(JsonError::NoStrings),
        })
        .collect()
}

/// Reads one message or a list of them, as text. It is checked only as far as templates allow: they
/// may stand where JSON allows nothing. The caller handles `@` and blank text.
pub fn messages(text: &str) -> Result<String, JsonError> {
    let text = text.trim();
    if !matches!(text, "" | "@") && !text.contains("{{") {
        match parse(text)? {
            Value::Object(_) => {}
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {}
            _ => return Err(JsonError::NoMessage),
        }
    }
    Ok(text.to_owned())
}

fn parse(text: &str) -> Result<Value, JsonError> {
    serde_json::from_str(text).map_err(|error| JsonError::Syntax(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_strings_are_read() {
        let expected = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        assert_eq!(strings(r#"{"a": "1"}"#), Ok(expected));
        assert_eq!(strings(" "), Ok(BTreeMap::new()));
    }

    #[test]
    fn other_json_is_refused_as_metadata() {
        for text in ["[]", "1", "null", r#"{"a": 1}"#, r#"{"a": {}}"#] {
            assert_eq!(strings(text), Err(JsonError::NoStrings), "{text}");
        }
    }

    #[test]
    fn messages_are_kept_as_they_stand() {
        for text in [
            r#"{"b":1,  "a":9223372036854775807}"#,
            r#"[{},{}]"#,
            "@",
            "",
            r#"{"a": {{randomInt 1 9}}}"#,
        ] {
            assert_eq!(messages(text), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_json_is_refused_as_data() {
        for text in ["[]", "1", "null", "[1]", "[{}, 1]", r#""@""#] {
            assert_eq!(messages(text), Err(JsonError::NoMessage), "{text}");
        }
        assert!(matches!(messages("{a: 1}"), Err(JsonError::Syntax(_))));
    }
}
