//! Turns a value of a file into command-line words.

use clap::{Arg, ArgAction};
use serde_json::Value;

/// Flags whose text is JSON; a file holds tables and lists for them.
const JSON: [&str; 3] = ["data", "metadata", "tags"];

/// The words that give `arg` this value; none if the value is null or empty, which leaves the flag
/// unset.
pub fn of(arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let long = arg.get_long();
    match value {
        Value::Array(items) if matches!(arg.get_action(), ArgAction::Append) => items
            .iter()
            .map(|item| {
                let text = scalar(item).ok_or("a list of strings is needed")?;
                Ok(word(long, &text))
            })
            .collect(),
        Value::Array(_) | Value::Object(_) if long.is_some_and(|long| JSON.contains(&long)) => {
            Ok(vec![word(long, &value.to_string())])
        }
        Value::Array(_) => Err("one value is needed, not a list".to_owned()),
        Value::Object(_) => Err("one value is needed, not a table".to_owned()),
        value => match scalar(value) {
            None => Ok(Vec::new()),
            Some(text) if text.is_empty() => Ok(Vec::new()),
            Some(text) if long.is_none() => Ok(vec!["--".to_owned(), text]),
            Some(text) => Ok(vec![word(long, &text)]),
        },
    }
}

/// Whether a value switches nothing on: ghz writes such entries for flags that were not given.
pub fn asks_for_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(true) => false,
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn word(long: Option<&str>, value: &str) -> String {
    format!("--{}={value}", long.unwrap_or_default())
}
