//! Reads a file of any of the three formats into one table.

use std::path::Path;

use serde_json::{Map, Value};

use super::ConfigError;
use crate::input;

/// The entries of a file, in its order.
pub fn read(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let text = input::text(path, input::CONFIG).map_err(|error| ConfigError::Read {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    if text.trim().is_empty() {
        return Err(ConfigError::Empty(path.to_owned()));
    }
    let extension = path.extension();
    let extension = extension.map(|name| name.to_string_lossy().to_ascii_lowercase());
    let value = match extension.as_deref() {
        Some("json") => json(&text),
        Some("toml") => toml(&text),
        Some("yaml" | "yml") => yaml(&text),
        // A pipe such as /dev/fd/63 has no extension, but JSON is recognizable.
        _ if text.trim_start().starts_with('{') => json(&text),
        _ => return Err(ConfigError::Format(path.to_owned())),
    };
    match value {
        Ok(Value::Object(table)) if !table.is_empty() => Ok(table),
        // `Null` is an empty YAML document.
        Ok(Value::Object(_) | Value::Null) => Err(ConfigError::Empty(path.to_owned())),
        Ok(_) => Err(ConfigError::NoTable(path.to_owned())),
        Err(reason) => Err(ConfigError::Syntax {
            path: path.to_owned(),
            reason,
        }),
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn toml(text: &str) -> Result<Value, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        let message = error.message().lines().next().unwrap_or_default();
        format!("{message} at line {line}")
    })
}

fn yaml(text: &str) -> Result<Value, String> {
    // Without this, `y` and `on` would be booleans, even in a list of names.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let whole = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
        whole.lines().next().unwrap_or_default().to_owned()
    })
}
