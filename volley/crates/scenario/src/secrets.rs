//! Secrets in texts: values of members, form fields and query parameters whose names promise one.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::Escape;
use volley_load::spec::secret::{MASK, is_secret};

/// Shorter values are masked only behind their names: elsewhere they would mask parts of other words.
pub const SHORTEST: usize = 4;

/// Shorter ones are not even masked where they stand alone: they say nothing.
const SHORTEST_WORD: usize = 2;

/// A name in JSON, with its colon.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?s)"((?:[^"\\]|\\.)*)"\s*:"#));

/// What JSON consists of. The last string may be cut.
static TOKEN: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?s)"(?:[^"\\]|\\.)*"?|[\[\]{}:,]|[^\s\[\]{}:,"]+"#));

/// A parameter of a query or a form.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| regex(r#"([^\s&?;"<>`=]+)=([^\s&"<>`]*)"#));

/// A part of `multipart/form-data`.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?is)content-disposition:[^\n]*?[; ]name="([^"]*)"[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n(.*?)(?:\r?\n--|\z)"#,
    )
});

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("the tests compile it")
}

/// Values that are masked wherever they stand.
#[derive(Debug, Default)]
pub struct Secrets {
    /// As they are, and as they stand in JSON, URLs and forms.
    long: BTreeSet<String>,
    /// The same of those that are masked only where they stand alone.
    short: BTreeSet<String>,
    /// What finds the long ones; `None`: they are too many.
    finder: OnceCell<Option<AhoCorasick>>,
}

impl Secrets {
    /// Notes a secret, as it is and as it stands in JSON, URLs and forms.
    pub fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.insert(secret);
        }
    }

    /// The same for one that may be short: it is masked where it stands alone.
    pub fn add_word(&mut self, secret: &str) {
        if secret.len() >= SHORTEST_WORD {
            self.insert(secret);
        }
    }

    fn insert(&mut self, secret: &str) {
        for escape in [Escape::Raw, Escape::Json, Escape::Url, Escape::Form] {
            let mut written = Vec::new();
            // These refuse no value.
            let _ = escape.write(secret.as_bytes(), &mut written);
            let written = String::from_utf8_lossy(&written).into_owned();
            match written.len() < SHORTEST {
                true => self.short.insert(written),
                false => self.long.insert(written),
            };
        }
        self.finder.take();
    }

    /// Notes all that a text names.
    pub fn add_named(&mut self, text: &str) {
        for place in named(text) {
            let Some(secret) = text.get(place) else {
                continue;
            };
            self.add(secret);
            if let Ok(plain) = serde_json::from_str::<String>(&format!("\"{secret}\"")) {
                self.add(&plain);
            }
        }
    }

    /// A text without them, and without those that it names itself.
    pub fn masked(&self, text: &str) -> String {
        let mut text = without_named(text);
        if !self.long.is_empty() {
            let Some(finder) = self.finder.get_or_init(|| finder(&self.long)) else {
                return MASK.to_owned();
            };
            let mut masked = String::new();
            finder.replace_all_with(&text, &mut masked, |_, _, masked| {
                masked.push_str(MASK);
                true
            });
            text = masked;
        }
        // One may begin with another.
        for secret in self.short.iter().rev() {
            text = without_word(&text, secret);
        }
        text
    }
}

/// Finds all of them in one pass: a response may name thousands. One may be a part of another.
fn finder(secrets: &BTreeSet<String>) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    let builder = builder.match_kind(MatchKind::LeftmostLongest);
    builder.build(secrets).ok()
}

/// A text without the secrets that it names, wherever else they stand in it.
pub fn masked(text: &str) -> String {
    let mut secrets = Secrets::default();
    secrets.add_named(text);
    secrets.masked(text)
}

/// What the name of a slot begins with that keeps how long a value is good. No name in a file has a space.
const LIFETIME: &str = "lifetime of ";

/// The name of the slot that keeps how long a value is good.
pub fn lifetime_name(name: &str) -> String {
    format!("{LIFETIME}{name}")
}

/// Whether a slot keeps how long another value is good.
pub fn is_lifetime(slot: &str) -> bool {
    slot.starts_with(LIFETIME)
}

/// Whether the name of a slot promises a secret. How long one is good is none.
pub fn is_secret_slot(name: &str) -> bool {
    is_secret(name) && !is_lifetime(name)
}

fn without_named(text: &str) -> String {
    let (mut masked, mut rest) = (String::new(), 0);
    for place in named(text) {
        masked += text.get(rest..place.start).unwrap_or_default();
        masked += MASK;
        rest = place.end;
    }
    masked + text.get(rest..).unwrap_or_default()
}

/// A text without a word. Letters and digits beside it make it a part of another.
fn without_word(text: &str, word: &str) -> String {
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '*');
    let (mut masked, mut rest) = (String::new(), 0);
    for (start, _) in text.match_indices(word) {
        let end = start + word.len();
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(end..).and_then(|text| text.chars().next());
        if is_apart(before) && is_apart(after) {
            masked += text.get(rest..start).unwrap_or_default();
            masked += MASK;
            rest = end;
        }
    }
    masked + text.get(rest..).unwrap_or_default()
}

/// `token_type` is none, though it speaks of one.
pub fn promises(name: &str) -> bool {
    is_secret(name) && !name.ends_with("_type")
}

/// Where in a text secrets stand, in order. It need not be whole.
fn named(text: &str) -> Vec<Range<usize>> {
    let mut places = members(text);
    for regex in [&PARAMETER, &PART] {
        let found = regex.captures_iter(text).filter_map(|found| {
            let (name, value) = (found.get(1)?, found.get(2)?);
            promises(name.as_str()).then(|| value.range())
        });
        places.extend(found.filter(|value| !value.is_empty()));
    }
    places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    let mut end = 0;
    places.retain(|place| {
        let is_first = place.start >= end;
        end = end.max(place.end);
        is_first
    });
    places
}

/// Strings and numbers of JSON below a name that promises a secret, without their quotes.
fn members(text: &str) -> Vec<Range<usize>> {
    let (mut places, mut end) = (Vec::new(), 0);
    for found in MEMBER.captures_iter(text) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else {
            continue;
        };
        // What lies within another one is already found.
        if whole.start() < end || !promises(name.as_str()) {
            continue;
        }
        end = whole.end();
        let rest = text.get(end..).unwrap_or_default();
        let (begin, mut depth) = (end, 0_usize);
        let mut tokens = TOKEN.find_iter(rest).peekable();
        while let Some(token) = tokens.next() {
            let is_name = depth > 0 && tokens.peek().is_some_and(|next| next.as_str() == ":");
            end = begin + token.end();
            match token.as_str() {
                "{" | "[" => depth += 1,
                "}" | "]" => depth = depth.saturating_sub(1),
                ":" | "," | "true" | "false" | "null" => {}
                _ if is_name => {}
                value => {
                    let inner = value.strip_prefix('"').unwrap_or(value);
                    let length = inner.strip_suffix('"').unwrap_or(inner).len();
                    let start = end - inner.len();
                    places.push(start..start + length);
                }
            }
            if depth == 0 {
                break;
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::table::table;

    #[test]
    fn what_a_name_promises_is_masked_in_every_form_of_text() {
        for [text, expected] in table(
            r#"
            {"password": "p", "a": 1} => {"password": "***", "a": 1}
            {"password": 12345678, "a": 1} => {"password": ***, "a": 1}
            {"x-token":"ab\/\"cd"} => {"x-token":"***"}
            {"tokens": ["aaaa", {"id": 7, "ok": true}], "b": [2]} => {"tokens": ["***", {"id": ***, "ok": true}], "b": [2]}
            {"token": "aaaa"}⏎{"token": "bbbb"} => {"token": "***"}⏎{"token": "***"}
            5" {"token": "aaaa"} => 5" {"token": "***"}
            {"a": 1, "secret": "cut of => {"a": 1, "secret": "***
            {"secret": ["cut", "o => {"secret": ["***", "***
            {"token_type": "Bearer", "token": null} => {"token_type": "Bearer", "token": null}
            /a?page=2&api_key=k%20k#x => /a?page=2&api_key=***
            user=ann&password=p+p => user=ann&password=***
            {"next": "/a?token=aaaa"} => {"next": "/a?token=***"}
            the token is wrong => the token is wrong
            aaaa, token=aaaa => ***, token=***
        "#,
        ) {
            assert_eq!(masked(text), expected, "{text}");
        }
        let parts = "--b\r\nContent-Disposition: form-data; name=\"password\"; filename=\"f\"\r\ncontent-type: text/plain\r\n\r\n\
            SECRET\r\n--b\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nc\r\n--b--\r\n";
        let given = parts.replace("SECRET", "a\r\nb");
        assert_eq!(masked(&given), parts.replace("SECRET", "***"));
    }

    #[test]
    fn a_secret_is_masked_wherever_it_stands_and_however_it_is_written() {
        let mut secrets = Secrets::default();
        secrets.add_named(r#"{"token": "a\/\"b c", "pin_key": 12345678, "pwd": "abc"}"#);
        secrets.add("zzzz");
        secrets.add("zzzz1");
        assert_eq!(
            secrets.masked(
                r#"a\/\"b c|a/"b c|a%2F%22b%20c|a%2F%22b+c|a/\"b c|12345678|zzzz1|zzzz|abc"#
            ),
            "***|***|***|***|***|***|***|***|abc"
        );
    }

    #[test]
    fn a_short_value_is_masked_where_it_stands_alone() {
        let mut secrets = Secrets::default();
        for secret in ["p3", "1", "*", "**"] {
            secrets.add_word(secret);
        }
        assert_eq!(
            secrets.masked(r#"p3 {"a": "p3", "b": 1} /p3?x=p3 ap3 p34 (p3)"#),
            r#"*** {"a": "***", "b": 1} /***?x=*** ap3 p34 (***)"#
        );
        assert_eq!(secrets.masked("token=a ***"), "token=*** ***");
    }

    #[test]
    fn many_secrets_take_no_time() {
        let secret = |number: usize| format!("\"s{number:07}\"");
        let secrets: Vec<String> = (0..50_000).map(secret).collect();
        let text = format!("{{\"keys\": [{}]}} s0000007", secrets.join(","));
        let masked = masked(&text);
        assert_eq!(masked.matches("***").count(), 50_001);
        assert!(!masked.contains("s0"), "{masked}");
    }

    #[test]
    fn names_within_names_take_no_time() {
        let text = r#"{"token":"#.repeat(100_000);
        assert_eq!(masked(&text), text);
    }
}
