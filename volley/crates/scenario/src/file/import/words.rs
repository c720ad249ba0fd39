//! Texts with `${names}`, as h2loadrunner reads them.

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Fixed(String),
    /// What stands in `${}`.
    Name(String),
}

/// Divides a text. `old`: a text that is a name wherever it stands, without `${}`.
pub(super) fn words(text: &str, old: Option<&str>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some((before, (name, after))) = rest
        .split_once("${")
        .and_then(|(before, inner)| Some((before, inner.split_once('}')?)))
    {
        fixed(before, old, &mut words);
        words.push(Word::Name(name.to_owned()));
        rest = after;
    }
    fixed(rest, old, &mut words);
    words
}

fn fixed(text: &str, old: Option<&str>, words: &mut Vec<Word>) {
    let mut rest = text;
    if let Some(old) = old {
        while let Some((before, after)) = rest.split_once(old) {
            push(before, words);
            words.push(Word::Name(old.to_owned()));
            rest = after;
        }
    }
    push(rest, words);
}

fn push(text: &str, words: &mut Vec<Word>) {
    if !text.is_empty() {
        words.push(Word::Fixed(text.to_owned()));
    }
}

/// A text that never changes, as volley writes it.
pub(super) fn plain(text: &str) -> String {
    text.replace("${", "$${")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_h2loadrunner_does() {
        let shown = |text: &str, old| {
            let word = |word: Word| match word {
                Word::Fixed(text) => text,
                Word::Name(name) => format!("<{name}>"),
            };
            words(text, old)
                .into_iter()
                .map(word)
                .collect::<Vec<_>>()
                .join("|")
        };
        for (text, old, expected) in [
            ("", None, ""),
            ("/p?$${x}&{x}&${x", None, "/p?$|<x>|&{x}&${x"),
            ("${a${b}}", None, "<a${b>|}"),
            ("/ID/${ID}ID", Some("ID"), "/|<ID>|/|<ID>|<ID>"),
        ] {
            assert_eq!(shown(text, old), expected, "{text}");
        }
        assert_eq!(plain("a${b}$${c"), "a$${b}$$${c");
    }
}
