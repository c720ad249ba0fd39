//! JSON with templates, made into JSON without them: a mark with its number stands for each action.

use serde_json::Value;

use super::template::{Action, Give, Piece, Template};

/// Stand around the number of an action. Private characters, which JSON does not escape.
const BEGIN: char = '\u{e000}';
const END: char = '\u{e001}';

/// Follows [`BEGIN`] if the action stands outside of a string; the mark is then a string of its own.
const BARE: char = '\u{e002}';

/// JSON that can be parsed although its actions are not rendered.
pub struct Marked<'a, A = Action> {
    pub json: Value,
    pub actions: Vec<&'a A>,
}

impl<'a, A: Give> Marked<'a, A> {
    /// `None` if only what the actions give makes it JSON.
    pub fn new(template: &'a Template<A>) -> Option<Self> {
        let mut json = String::new();
        let mut actions = Vec::new();
        let mut is_inside = false;
        for piece in template.pieces() {
            match piece {
                Piece::Text(text) => {
                    if text.contains([BEGIN, END, BARE]) {
                        return None;
                    }
                    is_inside = ends_inside(text, is_inside)?;
                    json += text;
                }
                Piece::Action(action) => {
                    let number = actions.len();
                    json += &match is_inside {
                        true => format!("{BEGIN}{number}{END}"),
                        false => format!("\"{BEGIN}{BARE}{number}{END}\""),
                    };
                    actions.push(action);
                }
            }
        }
        let json = serde_json::from_str(&json).ok()?;
        Some(Self { json, actions })
    }

    /// The template of a part of the JSON, and the number of its first action.
    pub fn template(&self, part: &Value) -> Option<(Template<A>, Option<usize>)> {
        let json = part.to_string();
        let mut pieces = Vec::new();
        let push_text = |pieces: &mut Vec<Piece<A>>, text: &str| {
            if !text.is_empty() {
                pieces.push(Piece::Text(text.to_owned()));
            }
        };
        let mut first = None;
        let mut rest = json.as_str();
        while let Some((before, after)) = rest.split_once(BEGIN) {
            let (mark, behind) = after.split_once(END)?;
            let (before, number, behind) = match mark.strip_prefix(BARE) {
                Some(number) => (before.strip_suffix('"')?, number, behind.strip_prefix('"')?),
                None => (before, mark, behind),
            };
            let number: usize = number.parse().ok()?;
            first.get_or_insert(number);
            push_text(&mut pieces, before);
            pieces.push(Piece::Action((*self.actions.get(number)?).clone()));
            rest = behind;
        }
        push_text(&mut pieces, rest);
        Some((Template::from(pieces), first))
    }
}

/// Whether a string is open after a text; `None`: it ends within an escape, which an action would complete.
fn ends_inside(text: &str, mut is_inside: bool) -> Option<bool> {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_inside = !is_inside,
            '\\' if is_inside => {
                let escaped = characters.next()?;
                // `\u` has four digits.
                if escaped == 'u' {
                    characters.nth(3)?;
                }
            }
            _ => {}
        }
    }
    Some(is_inside)
}

/// Whether a part of the JSON has an action.
pub fn has_mark(part: &Value) -> bool {
    match part {
        Value::String(text) => text.contains(BEGIN),
        Value::Array(items) => items.iter().any(has_mark),
        Value::Object(entries) => entries
            .iter()
            .any(|(key, value)| key.contains(BEGIN) || has_mark(value)),
        _ => false,
    }
}
