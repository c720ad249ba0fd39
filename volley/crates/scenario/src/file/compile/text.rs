//! Texts with `${names}`.

use super::Compiler;
use super::names::Found;
use crate::file::mistake::Path;
use crate::file::model::Scalar;
use crate::{Escape, Piece, Text};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Fixed(&'a str),
    /// What stands in `${}`.
    Name(&'a str),
}

/// Divides a text. `$${` is a plain `${`.
pub(super) fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(place) = rest.find("${") {
        let (before, after) = rest.split_at(place);
        if let Some(fixed) = before.strip_suffix('$') {
            parts.extend([Part::Fixed(fixed), Part::Fixed("${")]);
            rest = after.get(2..).unwrap_or_default();
            continue;
        }
        parts.push(Part::Fixed(before));
        let inner = after.get(2..).unwrap_or_default();
        let Some((name, after)) = inner.split_once('}') else {
            return Err("`${` has no `}`: add it, or write `$${` for a plain `${`".to_owned());
        };
        parts.push(Part::Name(name.trim()));
        rest = after;
    }
    parts.push(Part::Fixed(rest));
    parts.retain(|part| *part != Part::Fixed(""));
    Ok(parts)
}

impl Compiler<'_> {
    /// Compiles a text that is written as `escape` says.
    pub(super) fn text(&mut self, at: &Path, text: &str, escape: Escape) -> Option<Text> {
        let parts = self.noted(at, parts(text))?;
        self.pieces(at, &parts, escape).map(Text::new)
    }

    /// Compiles a value that is written as `escape` says.
    pub(super) fn scalar(&mut self, at: &Path, value: &Scalar, escape: Escape) -> Option<Text> {
        let text = self.as_written(at, value);
        self.text(at, &text, escape)
    }

    /// Compiles a text that no iteration changes.
    pub(super) fn constant(&mut self, at: &Path, text: &str) -> Option<String> {
        let text = self.text(at, text, Escape::Raw)?;
        let bytes = text.constant();
        if bytes.is_none() {
            self.wrong(
                at,
                "what changes in a run cannot stand here: write a fixed text",
            );
        }
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The pieces of a divided text.
    pub(super) fn pieces(
        &mut self,
        at: &Path,
        parts: &[Part<'_>],
        escape: Escape,
    ) -> Option<Vec<Piece>> {
        let pieces = parts.iter().map(|part| match part {
            Part::Fixed(text) => self.fixed(at, text, escape),
            Part::Name(name) => self.value(at, name, escape),
        });
        let pieces: Vec<Option<Piece>> = pieces.collect();
        pieces.into_iter().collect()
    }

    fn fixed(&mut self, at: &Path, text: &str, escape: Escape) -> Option<Piece> {
        // What is fixed in a URL is written there as it is sent.
        let is_url = escape == Escape::Url;
        self.written(at, text, if is_url { Escape::Raw } else { escape })
    }

    fn value(&mut self, at: &Path, name: &str, escape: Escape) -> Option<Piece> {
        let (name, escape) = match name.rsplit_once(':') {
            Some((name, "raw")) => match escape {
                Escape::Url => (name, Escape::RawUrl),
                Escape::Form => (name, Escape::Raw),
                _ => {
                    let problem = format!("`:raw` is for URLs and forms: write `${{{name}}}`");
                    return self.none(at, problem);
                }
            },
            Some((name, "json")) => {
                let problem = format!(
                    "`${{{name}:json}}` stands only in `json`, `message` and `messages`, alone in its text"
                );
                return self.none(at, problem);
            }
            _ => (name, escape),
        };
        match self.find(at, name)? {
            Found::Slot(slot) => Some(Piece::Slot(slot, escape)),
            // The whole URL is checked later.
            Found::Fixed(text) if escape == Escape::RawUrl => self.written(at, &text, Escape::Raw),
            Found::Fixed(text) => self.written(at, &text, escape),
        }
    }

    /// A value that never changes, as its place requires.
    fn written(&mut self, at: &Path, text: &str, escape: Escape) -> Option<Piece> {
        let mut bytes = Vec::new();
        let written = escape.write(text.as_bytes(), &mut bytes);
        if written.is_none() {
            self.wrong(at, "a header has no line breaks and no NUL: remove them");
        }
        written.map(|()| Piece::Fixed(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_is_fixed() {
        use Part::{Fixed, Name};
        for (text, expected) in [
            ("", vec![]),
            ("a", vec![Fixed("a")]),
            ("${a}", vec![Name("a")]),
            (
                "/${ a }/${b.c}?",
                vec![Fixed("/"), Name("a"), Fixed("/"), Name("b.c"), Fixed("?")],
            ),
            ("a$${b}", vec![Fixed("a"), Fixed("${"), Fixed("b}")]),
            ("$a}{", vec![Fixed("$a}{")]),
        ] {
            assert_eq!(parts(text), Ok(expected), "{text}");
        }
        assert!(parts("a${b").is_err());
    }
}
