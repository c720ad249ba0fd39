//! JSON with names in its texts.

use serde_json::{Number, Value};

use super::Compiler;
use super::names::Found;
use super::text::{Part, parts};
use crate::file::mistake::Path;
use crate::{Escape, Piece, Text};

impl Compiler<'_> {
    /// Compiles a JSON value.
    pub(super) fn json(&mut self, at: &Path, value: &Value) -> Option<Text> {
        let mut pieces = Vec::new();
        let before = self.mistakes.len();
        self.json_value(at, value, &mut pieces);
        (self.mistakes.len() == before).then(|| Text::new(pieces))
    }

    fn json_value(&mut self, at: &Path, value: &Value, out: &mut Vec<Piece>) {
        match value {
            Value::String(text) => self.json_text(at, text, out),
            Value::Array(items) => {
                out.push(fixed("["));
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(fixed(","));
                    }
                    self.json_value(&at.index(index), item, out);
                }
                out.push(fixed("]"));
            }
            Value::Object(entries) => {
                out.push(fixed("{"));
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(fixed(","));
                    }
                    let at = at.key(key);
                    self.quoted(&at, key, out);
                    out.push(fixed(":"));
                    self.json_value(&at, value, out);
                }
                out.push(fixed("}"));
            }
            Value::Number(number) => {
                // YAML has other forms, such as `0x1F`.
                let written = self.number(at);
                let written = written.filter(|text| serde_json::from_str::<Number>(text).is_ok());
                out.push(fixed(written.unwrap_or(&number.to_string())));
            }
            Value::Null | Value::Bool(_) => out.push(fixed(&value.to_string())),
        }
    }

    /// A text; `${x:json}` alone stands without quotes.
    fn json_text(&mut self, at: &Path, text: &str, out: &mut Vec<Piece>) {
        if let Ok([Part::Name(name)]) = parts(text).as_deref()
            && let Some(name) = name.strip_suffix(":json")
        {
            out.extend(match self.find(at, name) {
                Some(Found::Slot(slot)) => Some(Piece::Slot(slot, Escape::Raw)),
                Some(Found::Fixed(text)) => match serde_json::from_str::<Value>(&text) {
                    Ok(_) => Some(fixed(&text)),
                    Err(_) => self.none(
                        at,
                        format!("the value of `{name}` is no JSON: drop `:json`"),
                    ),
                },
                None => None,
            });
            return;
        }
        self.quoted(at, text, out);
    }

    fn quoted(&mut self, at: &Path, text: &str, out: &mut Vec<Piece>) {
        out.push(fixed("\""));
        if let Some(parts) = self.noted(at, parts(text)) {
            out.extend(self.pieces(at, &parts, Escape::Json).unwrap_or_default());
        }
        out.push(fixed("\""));
    }
}

fn fixed(text: &str) -> Piece {
    Piece::Fixed(text.as_bytes().into())
}
