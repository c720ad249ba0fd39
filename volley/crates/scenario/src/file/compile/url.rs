//! URLs: `${api}/v1/items`, `${url}`, `https://host/path`, `/path`.

use super::Compiler;
use super::names::{Found, LAST_URL};
use super::text::{Part, parts};
use crate::file::mistake::Path;
use crate::plan::Url;
use crate::{Escape, Piece, Text};

impl Compiler<'_> {
    /// Compiles a URL. Also returns its target: where it leads, or where the value that it is came from.
    pub(super) fn url(&mut self, at: &Path, text: &str) -> Option<(Url, usize)> {
        let parts = self.noted(at, parts(text))?;
        let Some((first, rest)) = parts.split_first() else {
            return self.none(at, "the URL is empty: write `${target}/path`");
        };
        match first {
            Part::Name(name) => match self.target_named(name) {
                Some(target) => self.on(at, target, rest),
                None if name.starts_with("env.") => match self.find(at, name)? {
                    Found::Fixed(origin) => self.written_out(at, &origin, rest),
                    Found::Slot(_) => None,
                },
                None => self.of_value(at, name, rest),
            },
            Part::Fixed(origin) => self.written_out(at, origin, rest),
        }
    }

    /// `path` on a target.
    fn on(&mut self, at: &Path, target: usize, path: &[Part<'_>]) -> Option<(Url, usize)> {
        let begins = match path.first() {
            None => true,
            Some(Part::Fixed(text)) => text.starts_with(['/', '?']),
            Some(Part::Name(name)) => name.ends_with(":raw"),
        };
        if !begins {
            let remedy = "write `${target}/…`, or `${target}${name:raw}` if the value is a path";
            return self.none(at, format!("the path begins with `/`: {remedy}"));
        }
        let mut pieces = self.pieces(at, path, Escape::Url)?;
        self.check_path(at, &pieces)?;
        let begins_with = |mark: u8| match pieces.first() {
            Some(Piece::Fixed(bytes)) => bytes.first() == Some(&mark),
            _ => false,
        };
        if pieces.is_empty() || begins_with(b'?') {
            pieces.insert(0, Piece::Fixed((*b"/").into()));
        }
        let path = Text::new(pieces);
        Some((Url::Target { target, path }, target))
    }

    /// A URL that begins with fixed text.
    fn written_out(&mut self, at: &Path, text: &str, rest: &[Part<'_>]) -> Option<(Url, usize)> {
        // A path may have another URL in its query.
        let authority = text.find("://").filter(|_| !text.starts_with('/'));
        let Some(authority) = authority.map(|place| place + 3) else {
            let named = self.file.targets.0.len();
            if text.starts_with('/') && named == 1 {
                let path = [&[Part::Fixed(text)], rest].concat();
                return self.on(at, 0, &path);
            }
            let hint = self.target_hint("");
            return self.none(
                at,
                format!("`{text}` has no target: write `${{target}}/path`; {hint}"),
            );
        };
        let end = text
            .get(authority..)
            .and_then(|host| host.find(['/', '?', '#']));
        let (origin, path) = match end {
            Some(end) => text.split_at(authority + end),
            None if rest.is_empty() => (text, ""),
            None => {
                return self.none(
                    at,
                    "a host never changes: name it in `targets`, and write `${target}/…`",
                );
            }
        };
        let target = self.unnamed_target(at, origin)?;
        let path = Some(Part::Fixed(path)).filter(|part| *part != Part::Fixed(""));
        let path: Vec<Part<'_>> = path.into_iter().chain(rest.iter().cloned()).collect();
        self.on(at, target, &path)
    }

    /// A URL that a value begins.
    fn of_value(&mut self, at: &Path, name: &str, rest: &[Part<'_>]) -> Option<(Url, usize)> {
        let name = name.strip_suffix(":raw").unwrap_or(name);
        let is_known = self.scope.saved.contains_key(name)
            || name == LAST_URL
            || self.scope.later.contains(name);
        let relative_to = if name == LAST_URL {
            self.scope.last
        } else {
            self.scope.saved.get(name).copied()
        };
        let feed = name.split('.').next().unwrap_or_default();
        if !is_known && self.feed_named(feed).is_none() {
            let hint = self.target_hint(name);
            return self.none(
                at,
                format!(
                    "`${{{name}}}` is neither a target nor a value that is saved before; {hint}"
                ),
            );
        }
        if self.targets.is_empty() {
            return self.none(at, "no target: name one in `targets`");
        }
        let relative_to = relative_to.or(self.scope.last).unwrap_or(0);
        let Found::Slot(slot) = self.find(at, name)? else {
            return None;
        };
        let then = self.pieces(at, rest, Escape::Url)?;
        self.check_path(at, &then)?;
        let then = Text::new(then);
        let url = Url::Value {
            slot,
            relative_to,
            then,
        };
        Some((url, relative_to))
    }

    /// Refuses what cannot stand in a path or a query.
    fn check_path(&mut self, at: &Path, pieces: &[Piece]) -> Option<()> {
        let odd = pieces.iter().find_map(|piece| match piece {
            Piece::Fixed(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                text.chars().find(|c| !c.is_ascii_graphic() || *c == '#')
            }
            Piece::Slot(..) => None,
        });
        match odd {
            None => Some(()),
            Some('#') => self.none(at, "what follows `#` is never sent: drop it"),
            Some(odd) => {
                let bytes = odd.to_string().into_bytes().into_iter();
                let code: String = bytes.map(|byte| format!("%{byte:02X}")).collect();
                self.none(at, format!("`{odd}` cannot stand in a URL: write `{code}`"))
            }
        }
    }
}
