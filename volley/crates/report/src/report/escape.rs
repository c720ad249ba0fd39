//! Makes foreign text harmless. Error messages come from the server, and so perhaps from anyone who
//! talks to it.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

/// Replaces characters that a terminal or a page would act on, instead of showing them, by escapes:
/// `\n`, `\t`, `\u{1b}`.
///
/// These are the control characters, the line and paragraph separators, and the marks that reorder
/// text (Unicode Standard Annex 9, section 2).
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if acts(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Writes text of several lines in this way: line breaks and tabs stay. Bytes that are no UTF-8 become `\u{fffd}`.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write_visible(text: &[u8], mut out: impl Write) -> io::Result<()> {
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match acts(character) && !matches!(character, '\n' | '\t') {
                true => write!(out, "{}", character.escape_default())?,
                false => write!(out, "{character}")?,
            }
        }
        if !chunk.invalid().is_empty() {
            write!(out, "\u{fffd}")?;
        }
    }
    Ok(())
}

fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Writes a value as one line of JSON. What [`visible`] would replace, JSON's own escapes replace: `\u009b`.
///
/// # Errors
///
/// Errors of writing to `out`, and values that JSON does not have.
pub fn write_json(value: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(Inert(&mut out), value)?;
    writeln!(out)
}

/// The same line in memory.
pub fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json(value, &mut line);
    line
}

/// The same for people: over many lines, indented by two spaces.
///
/// # Errors
///
/// As above.
pub fn write_pretty_json(value: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(Inert(&mut out), value)?;
    writeln!(out)
}

/// Takes JSON in whole characters, as `serde_json` writes it. Outside of strings, only line feeds act.
struct Inert<W>(W);

impl<W: Write> Write for Inert<W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
        if json.iter().all(is_plain) {
            self.0.write_all(json)?;
            return Ok(json.len());
        }
        let text = str::from_utf8(json).map_err(io::Error::other)?;
        for part in text.split_inclusive(acts) {
            let last = part.chars().next_back();
            match last.filter(|last| acts(*last) && *last != '\n') {
                Some(last) => {
                    let before = part.strip_suffix(last).unwrap_or_default();
                    write!(self.0, "{before}\\u{:04x}", u32::from(last))?;
                }
                None => self.0.write_all(part.as_bytes())?,
            }
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Text for an HTML element or a quoted attribute.
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A CSV field, quoted where RFC 4180 section 2 requires it.
pub fn csv(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    match text.contains(['"', ',']) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => text,
    }
}

/// A label value of Prometheus' text format, without its quotes; escapes backslash, quote and line
/// feed.
pub fn label_value(text: &str) -> String {
    let line = |line| visible(line).replace('\\', r"\\").replace('"', "\\\"");
    text.split('\n').map(line).collect::<Vec<_>>().join(r"\n")
}

/// A run's own labels, and its tags as `tag_…`, so that none can replace another label. If two become the same, the first
/// wins.
pub fn run_labels<'a>(
    own: &[(&str, &str)],
    tags: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> String {
    let own = own.iter().map(|(name, value)| ((*name).to_owned(), *value));
    let mut labels: Vec<(String, &str)> = own.collect();
    for (tag, value) in tags {
        let label = format!("tag_{}", label_name(tag));
        if labels.iter().all(|(taken, _)| *taken != label) {
            labels.push((label, value));
        }
    }
    let pairs = labels.iter();
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", label_value(value)));
    pairs.collect::<Vec<_>>().join(",")
}

/// Turns any text into a label name: `[a-zA-Z0-9_]*`, with `_` for every other character.
fn label_name(text: &str) -> String {
    let is_odd = |character: char| !character.is_ascii_alphanumeric();
    text.replace(is_odd, "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown_instead() {
        for (text, shown) in [
            (
                "a\n\t\u{1b}[31mb\u{7}\u{9b}",
                r"a\n\t\u{1b}[31mb\u{7}\u{9b}",
            ),
            ("\u{202e}desrever\u{2028}", r"\u{202e}desrever\u{2028}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn lines_and_tabs_of_a_text_stay() {
        let mut out = Vec::new();
        write_visible("a\tb\n\u{1b}[31mc\r\n日\u{9b}".as_bytes(), &mut out).unwrap();
        write_visible(b"x\xffy", &mut out).unwrap();
        let shown = "a\tb\n\\u{1b}[31mc\\r\n日\\u{9b}x\u{fffd}y";
        assert_eq!(out, shown.as_bytes());
    }

    #[test]
    fn ordinary_text_of_any_alphabet_stays_as_it_is() {
        let text = visible("naïve 日本 \"quoted\" \\ 🦀");
        assert!(matches!(text, Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_every_character_and_shows_none_that_acts() {
        let text = "a\n\u{1b}\u{7f}\u{9b}31m\u{202e}\u{feff} \"日本\" 🦀\u{2028}";
        let value = serde_json::json!({ text: [text, 1], "b": "" });
        let (mut line, mut pretty) = (Vec::new(), Vec::new());
        write_json(&value, &mut line).unwrap();
        write_pretty_json(&value, &mut pretty).unwrap();
        for (json, lines) in [(line, 1), (pretty, 7)] {
            let read: serde_json::Value = serde_json::from_slice(&json).unwrap();
            assert_eq!(read, value);
            let json = String::from_utf8(json).unwrap();
            assert_eq!(json.lines().count(), lines);
            assert!(json.lines().all(|line| !line.contains(acts)), "{json:?}");
            let is_there = |part| json.contains(part);
            assert!([r"\u009b31m", "日本"].into_iter().all(is_there), "{json}");
        }
    }

    #[test]
    fn html_has_no_markup_left() {
        assert_eq!(
            html("<a href='x'>\"&\"</a>\0"),
            r"&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;\u{0}"
        );
    }

    #[test]
    fn a_csv_field_is_quoted_only_if_it_has_to_be() {
        assert_eq!(csv("plain"), "plain");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn a_csv_field_is_one_line_that_no_terminal_acts_on() {
        assert_eq!(csv("a\r\nb\u{1b}[2J"), r"a\r\nb\u{1b}[2J");
    }

    #[test]
    fn label_values_keep_everything_but_end_nothing() {
        assert_eq!(label_value("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
        assert_eq!(label_value("\u{1b}[2J"), r"\\u{1b}[2J");
        assert_eq!(label_name("git-sha é"), "git_sha__");
    }
}
