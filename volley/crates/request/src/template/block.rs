//! Blocks: from `{{if}}`, `{{range}}` or `{{with}}` to their `{{end}}`.

use std::ops::Range;
use std::vec::IntoIter;

use volley_base::excerpt::excerpt;

use super::scan::Part;
use super::{ActionError, TemplateError};

/// The first word of an action.
fn keyword(action: &str) -> &str {
    let end = action.find(|c: char| !c.is_alphanumeric() && c != '_');
    action
        .get(..end.unwrap_or(action.len()))
        .unwrap_or_default()
}

fn opens(action: &str) -> bool {
    matches!(
        keyword(action),
        "if" | "range" | "with" | "define" | "block"
    )
}

/// Whether a template must be run as one: its actions share variables or named templates.
///
/// # Errors
///
/// If an `else` or `end` has no block, or a block has no `end`.
pub(super) fn is_one(parts: &[Part]) -> Result<bool, TemplateError> {
    let mut is_one = false;
    // The open blocks, and whether each had its last `else`.
    let mut open: Vec<(&str, bool)> = Vec::new();
    for part in parts {
        let Part::Action(action, _) = part else {
            continue;
        };
        let keyword = keyword(action);
        let wrong = || TemplateError::Parse {
            action: excerpt(action, 60),
            error: ActionError::Control {
                keyword: keyword.to_owned(),
            },
        };
        match keyword {
            "end" => drop(open.pop().ok_or_else(wrong)?),
            "else" => {
                let (_, had_else) = open.last_mut().ok_or_else(wrong)?;
                if *had_else {
                    return Err(wrong());
                }
                *had_else = action.trim_end() == "else";
            }
            "define" | "block" | "template" => is_one = true,
            _ if open.is_empty() && !opens(action) => is_one |= has_variable(action),
            _ => {}
        }
        if opens(action) {
            open.push((action, false));
        }
    }
    match open.last() {
        None => Ok(is_one),
        Some((action, _)) => Err(TemplateError::Parse {
            action: excerpt(action, 60),
            error: ActionError::Go("its `end` is missing".to_owned()),
        }),
    }
}

/// Where an action ends, or the block that it opens, whose parts are taken.
pub(super) fn end(action: &str, range: &Range<usize>, parts: &mut IntoIter<Part>) -> usize {
    let mut depth = usize::from(opens(action));
    let mut end = range.end;
    while depth > 0 {
        match parts.next() {
            Some(Part::Action(action, range)) => {
                end = range.end;
                match keyword(action) {
                    "end" => depth -= 1,
                    _ => depth += usize::from(opens(action)),
                }
            }
            Some(Part::Text(_)) => {}
            None => break,
        }
    }
    end
}

/// Whether it names a variable: `$` alone is the call.
fn has_variable(action: &str) -> bool {
    let mut quote = None;
    let mut characters = action.chars().peekable();
    while let Some(c) = characters.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some('"' | '\'') if c == '\\' => drop(characters.next()),
            Some(_) => {}
            None if matches!(c, '"' | '`' | '\'') => quote = Some(c),
            None if c == '$'
                && characters
                    .peek()
                    .is_some_and(|c| c.is_alphanumeric() || *c == '_') =>
            {
                return true;
            }
            None => {}
        }
    }
    false
}
