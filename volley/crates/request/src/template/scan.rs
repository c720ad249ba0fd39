//! Splits a template into text and actions.

use std::ops::Range;

use volley_base::excerpt::excerpt;

use super::TemplateError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    /// The contents of `{{` and `}}`, without trim marks and outer spaces; and where they stand in the text, with them.
    Action(&'a str, Range<usize>),
}

/// How many characters of an unclosed action are shown.
const SHOWN: usize = 40;

/// Go's rules: `{{- ` removes the white space before it, ` -}}` that after it; quotes hide `}}`;
/// `{{/* … */}}` is a comment.
pub(super) fn scan(text: &str) -> Result<Vec<Part<'_>>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let end = end_of_action(after).ok_or_else(|| TemplateError::NotClosed {
            action: format!("{{{{{}", excerpt(after, SHOWN)),
        })?;
        let begin = text.len() - after.len();
        let (inner, tail) = after.split_at(end);
        let (inner, trims_left) = match inner
            .strip_prefix('-')
            .filter(|inner| inner.starts_with(is_space))
        {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let (inner, trims_right) = match inner
            .strip_suffix('-')
            .filter(|inner| inner.ends_with(is_space))
        {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        parts.push(Part::Text(if trims_left {
            before.trim_end_matches(is_space)
        } else {
            before
        }));
        let inner = inner.trim_matches(is_space);
        if !is_comment(inner) {
            parts.push(Part::Action(inner, begin..begin + end));
        }
        rest = tail.strip_prefix("}}").unwrap_or(tail);
        if trims_right {
            rest = rest.trim_start_matches(is_space);
        }
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_comment(inner: &str) -> bool {
    inner.len() >= 4 && inner.starts_with("/*") && inner.ends_with("*/")
}

/// The offset of the `}}` that ends an action, from just after its `{{`.
fn end_of_action(after: &str) -> Option<usize> {
    let start = after
        .strip_prefix('-')
        .unwrap_or(after)
        .trim_start_matches(is_space);
    if start.starts_with("/*") {
        let comment_end = after.find("*/")? + 2;
        return Some(comment_end + after.get(comment_end..)?.find("}}")?);
    }
    let mut quote = None;
    let mut characters = after.char_indices();
    while let Some((at, c)) = characters.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some('"' | '\'') if c == '\\' => {
                characters.next();
            }
            Some(_) => {}
            None if matches!(c, '"' | '`' | '\'') => quote = Some(c),
            None if after.get(at..)?.starts_with("}}") => return Some(at),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str) -> String {
        let shown = |part: &Part| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::Action(action, _) => format!("<{action}>"),
        };
        scan(text).unwrap().iter().map(shown).collect()
    }

    #[test]
    fn actions_are_told_from_text() {
        assert_eq!(
            scanned(r#"{"a":{{.X}},"b":{"c":{}}}"#),
            r#"{"a":<.X>,"b":{"c":{}}}"#
        );
    }

    #[test]
    fn trim_marks_take_the_space_beside_them() {
        assert_eq!(scanned("a \n{{- .X -}}\t b"), "a<.X>b");
    }

    #[test]
    fn a_minus_without_space_is_a_sign() {
        assert_eq!(scanned("a {{-3}} b"), "a <-3> b");
    }

    #[test]
    fn quotes_hide_the_end_of_an_action() {
        assert_eq!(scanned("{{\"}}\"}}x{{`}}`}}"), "<\"}}\">x<`}}`>");
    }

    #[test]
    fn comments_leave_nothing() {
        assert_eq!(scanned("a{{/* }} */}}b"), "ab");
    }

    #[test]
    fn an_action_that_never_ends_is_an_error() {
        let error = scan("abc {{.Request").unwrap_err();
        assert_eq!(error.to_string(), "`{{.Request` is not closed with `}}`");
    }
}
