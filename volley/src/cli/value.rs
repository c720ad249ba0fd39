//! Value parsers of flags. Their error text follows "invalid value `…` for `--flag`: ".

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::excerpt::excerpt;
use crate::units::duration::{self, DurationError};

/// A whole number of type `T`, at least 0.
pub fn whole<T: FromStr + Bounds>(text: &str) -> Result<T, String> {
    let number = text.trim().parse();
    number.map_err(|_| format!("a whole number from {} to {} is needed", T::LOW, T::HIGH))
}

/// A whole number of at least 1.
pub fn positive<T: FromStr + Bounds + Default + PartialEq>(text: &str) -> Result<T, String> {
    let number = whole(text).ok().filter(|number| *number != T::default());
    number.ok_or_else(|| format!("a whole number from 1 to {} is needed", T::HIGH))
}

/// A whole number from 1 to `MOST`.
pub fn up_to<const MOST: u32>(text: &str) -> Result<u32, String> {
    let number = positive(text).ok().filter(|number| *number <= MOST);
    number.ok_or_else(|| format!("a whole number from 1 to {MOST} is needed"))
}

/// A duration above zero.
pub fn span(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(Duration::ZERO) => Err("a duration above 0 is needed".to_owned()),
        Ok(span) => Ok(span),
        Err(error) => Err(error.to_string()),
    }
}

/// A duration; 0 often means none.
pub fn time(text: &str) -> Result<Duration, DurationError> {
    duration::parse(text)
}

/// A path as given; an empty one counts as not given, but clap's own parser would refuse it.
pub fn path(text: &str) -> Result<PathBuf, Infallible> {
    Ok(PathBuf::from(text))
}

/// One of some words, which a file has for this type, too.
pub fn one_of<T>(words: [&'static str; 3]) -> impl TypedValueParser<Value = T>
where
    T: Clone + DeserializeOwned + Send + Sync + 'static,
{
    let words = PossibleValuesParser::new(words);
    words.try_map(|word| serde_json::from_value(word.to_ascii_lowercase().into()))
}

/// The range of an integer type, for messages.
pub trait Bounds {
    const LOW: &'static dyn Display;
    const HIGH: &'static dyn Display;
}

macro_rules! bounds {
    ($($number:ty),+) => {$(
        impl Bounds for $number {
            const LOW: &'static dyn Display = &<$number>::MIN;
            const HIGH: &'static dyn Display = &<$number>::MAX;
        }
    )+};
}
bounds!(u32, i32, u64);

/// Why a text is not the JSON that a flag needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonError {
    #[error("it is not JSON: {0}")]
    Syntax(String),
    #[error("a JSON object of strings is needed, such as `{{\"key\": \"value\"}}`")]
    NoStrings,
    #[error("the value of `{0}` is no string: put it in quotes")]
    NoString(String),
    #[error("it is the name of a file: give it with `{flag} {name}`")]
    File { flag: &'static str, name: String },
    #[error("a JSON object or a list of objects is needed, such as `{{\"name\": \"Joe\"}}`")]
    NoMessage,
}

/// Reads metadata, as [`strings`] does.
pub fn metadata(text: &str) -> Result<BTreeMap<String, String>, JsonError> {
    no_file(text, "--metadata-file")?;
    strings(text)
}

/// Reads an object of strings; blank text is an empty one.
pub fn strings(text: &str) -> Result<BTreeMap<String, String>, JsonError> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let Value::Object(entries) = parse(text)? else {
        return Err(JsonError::NoStrings);
    };
    let strings = entries.into_iter().map(|(key, value)| match value {
        Value::String(text) => Ok((key, text)),
        _ => Err(JsonError::NoString(excerpt(&key, 60))),
    });
    strings.collect()
}

/// Reads one message or a list of them, as text. It is checked only as far as templates allow: they
/// may stand where JSON allows nothing. The caller handles `@` and blank text.
pub fn messages(text: &str) -> Result<String, JsonError> {
    let text = text.trim();
    if !matches!(text, "" | "@") && !text.contains("{{") {
        no_file(text, "--data-file")?;
        let value = parse(text)?;
        let mut items = value.as_array().into_iter().flatten();
        // A well-known type may be a bare value, as in `"text"` for a StringValue.
        if value.is_null() || items.any(Value::is_null) {
            return Err(JsonError::NoMessage);
        }
    }
    Ok(text.to_owned())
}

/// Refuses what curl and others take for a file.
fn no_file(text: &str, flag: &'static str) -> Result<(), JsonError> {
    match text.trim().strip_prefix('@') {
        Some(name) => Err(JsonError::File {
            flag,
            name: excerpt(name, 100),
        }),
        None => Ok(()),
    }
}

fn parse(text: &str) -> Result<Value, JsonError> {
    serde_json::from_str(text).map_err(|error| JsonError::Syntax(error.to_string()))
}

#[cfg(test)]
mod tests {
    use volley_testkit::table::table;

    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused_with_the_range() {
        assert_eq!(whole::<u32>("7"), Ok(7));
        assert_eq!(whole::<i32>("-7"), Ok(-7));
        for (refused, range) in [
            (whole::<u32>("-7").err(), "0 to 4294967295"),
            (whole::<i32>("1.5").err(), "-2147483648 to 2147483647"),
            (positive::<u32>("0").err(), "1 to 4294967295"),
        ] {
            let words = format!("a whole number from {range} is needed");
            assert_eq!(refused, Some(words));
        }
    }

    #[test]
    fn objects_of_strings_are_read() {
        let expected = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        assert_eq!(strings(r#"{"a": "1"}"#), Ok(expected));
        assert_eq!(strings(" "), Ok(BTreeMap::new()));
    }

    #[test]
    fn other_json_is_refused_as_metadata() {
        for text in ["[]", "1", "null"] {
            assert_eq!(strings(text), Err(JsonError::NoStrings), "{text}");
        }
    }

    #[test]
    fn metadata_that_is_none_is_refused_with_its_key() {
        for [text, words] in table(
            r#"
            {"a": "1", "b": 2} => the value of `b` is no string: put it in quotes
            {"a\n": null} => the value of `a ` is no string: put it in quotes
            @m.json => it is the name of a file: give it with `--metadata-file m.json`
            [] => a JSON object of strings is needed, such as `{"key": "value"}`
        "#,
        ) {
            assert_eq!(metadata(text).unwrap_err().to_string(), words);
        }
    }

    #[test]
    fn messages_are_kept_as_they_stand() {
        for text in [
            r#"{"b":1,  "a":9223372036854775807}"#,
            r#"[{},{}]"#,
            "[]",
            r#""text""#,
            "@",
            "",
            r#"{"a": {{randomInt 1 9}}}"#,
        ] {
            assert_eq!(messages(text), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_json_is_refused_as_data() {
        for text in ["null", "[{}, null]"] {
            assert_eq!(messages(text), Err(JsonError::NoMessage), "{text}");
        }
        let words = "it is the name of a file: give it with `--data-file users.csv`";
        assert_eq!(messages(" @users.csv").unwrap_err().to_string(), words);
        assert!(matches!(messages("{a: 1}"), Err(JsonError::Syntax(_))));
    }
}
