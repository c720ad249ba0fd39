//! Requests, which become steps.

use super::Importer;
use super::object::Object;
use super::target::API;
use super::tree::{Entries, Tree, put, put_map};
use super::variables::{Context, Piece, Scope, Text};
use super::words::{Word, words};
use crate::file::mistake::Path;
use crate::request::RESERVED;
use volley_base::input;

/// The longest payload that h2loadrunner sends as it is.
const WHOLE_PAYLOAD: usize = 16 << 10;

/// A request that has been translated.
#[derive(Debug)]
pub(super) struct Made {
    pub at: Path,
    pub sent: Sent,
    /// Headers and the body.
    request: Entries,
    expect: Entries,
    save: Entries,
    /// The pause behind it, in milliseconds.
    pub delay: u64,
    /// It removes cookies before.
    pub clears_cookies: bool,
}

/// What is sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub method: String,
    /// As the new file has it.
    pub url: String,
    /// What is known of it before the load.
    pub uri: Option<Uri>,
    /// It is only a path.
    pub is_path: bool,
    /// As the old file has it.
    pub payload: String,
    pub headers: Vec<(String, Text)>,
}

#[derive(Clone, Debug)]
pub(super) struct Uri {
    pub scheme: String,
    pub authority: String,
    pub path: Text,
}

impl Made {
    /// The step. `pauses`: its pause is a part of it.
    pub fn step(&self, name: &str, pauses: bool) -> Tree {
        let mut step = Entries::new();
        put(&mut step, "name", name);
        let (method, url) = (&self.sent.method, self.sent.url.as_str());
        match method.as_str() {
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" => {
                put(&mut step, &method.to_ascii_lowercase(), url);
            }
            _ => {
                let mut request = Entries::new();
                put(&mut request, "method", method.as_str());
                put(&mut request, "url", url);
                put(&mut step, "request", Tree::map(request));
            }
        }
        step.extend(self.request.iter().cloned());
        put_map(&mut step, "expect", self.expect.clone());
        put_map(&mut step, "save", self.save.clone());
        if pauses && self.delay > 0 {
            put(&mut step, "think", format!("{}ms", self.delay));
        }
        Tree::map(step).at(&self.at)
    }
}

impl Importer<'_> {
    /// Reads a request. `last`: the one before, unless all are sent at the same time.
    pub(super) fn request(
        &mut self,
        mut object: Object<'_>,
        scope: &mut Scope,
        last: Option<&mut Made>,
    ) -> Made {
        let at = object.at.clone();
        let method = self.needed(&mut object, "method").unwrap_or("GET");
        let mut sent = self.uri(&mut object, scope, last);
        sent.method = method.to_owned();
        let mut request = Entries::new();
        sent.headers = self.headers(&mut object, scope);
        let mut headers = Entries::new();
        for (name, text) in &sent.headers {
            let value = self.written(&at.key("additonalHeaders"), text, Context::Other);
            put(&mut headers, name, value);
        }
        let body = self.payload(&mut object, scope, &mut sent);
        let has_type = headers.iter().any(|(name, _)| name == "content-type");
        if !has_type && body.as_ref().is_some_and(|(key, _)| *key == "text") {
            // Without it, volley says that a text is a text.
            put(&mut headers, "content-type", "");
        }
        put_map(&mut request, "headers", headers);
        if let Some((key, body)) = body {
            put(&mut request, key, body);
        }
        let lua = self.lua(&mut object);
        let expect = self.expect(
            &mut object,
            lua.as_ref().is_some_and(|(_, decides)| *decides),
        );
        if let Some((lua, _)) = lua {
            put(&mut request, "lua", lua);
        }
        let save = self.pick(&mut object, &sent, scope);
        let key = "delay-before-executing-next";
        let delay = self.whole(&mut object, key).unwrap_or(0);
        let clears_cookies = self.flag(&mut object, "clear-old-cookies").unwrap_or(false);
        self.finish(object);
        scope.request += 1;
        Made {
            at,
            sent,
            request,
            expect,
            save,
            delay,
            clears_cookies,
        }
    }

    fn uri(&mut self, object: &mut Object<'_>, scope: &mut Scope, last: Option<&mut Made>) -> Sent {
        self.demand(object, "uri");
        let Some(mut uri) = self.inner(object, "uri") else {
            return Sent::default();
        };
        let at = uri.at.clone();
        let action = self.text(&mut uri, "typeOfAction").unwrap_or("input");
        let input = self.text(&mut uri, "input").unwrap_or_default();
        self.finish(uri);
        let sent = match (action, last) {
            ("input", _) => self.input(&at.key("input"), input, scope),
            ("sameWithLastOne", Some(last)) => {
                // A script may have changed it.
                let is_scripted = last.request.iter().any(|(key, _)| key == "lua");
                let (url, uri) = match is_scripted {
                    true => ("${last.url}".to_owned(), None),
                    false => (last.sent.url.clone(), last.sent.uri.clone()),
                };
                let sent = Sent::default();
                Some(Sent { url, uri, ..sent })
            }
            ("fromResponseHeader", Some(last)) => {
                self.fault(&at, "lost-uri");
                Some(self.of_last(last, "header", &input.to_ascii_lowercase(), scope))
            }
            ("fromJsonPointer", Some(last)) => {
                self.fault(&at, "pointer-uri");
                if self.how.as_run {
                    self.wrong(&at, "volley sends no empty path: leave `--as-run` out");
                }
                Some(self.of_last(last, "json", input, scope))
            }
            ("sameWithLastOne" | "fromResponseHeader" | "fromJsonPointer", None) => {
                self.wrong(&at, format!("`{action}` needs a request before it"));
                None
            }
            ("fromLuaScript", _) => self.input(&at, "/", scope),
            ("fromXPath", _) => {
                self.wrong(
                    &at,
                    "volley knows no XPath: pick the URI with a regular expression",
                );
                None
            }
            _ => {
                let known = "input, sameWithLastOne, fromResponseHeader, fromLuaScript, fromXPath or fromJsonPointer";
                self.wrong(&at.key("typeOfAction"), format!("it is {known}"));
                None
            }
        };
        sent.unwrap_or_default()
    }

    /// A URI that the last response has.
    fn of_last(&mut self, last: &mut Made, key: &str, source: &str, scope: &mut Scope) -> Sent {
        let name = self.new_saved("url", scope);
        put(&mut last.save, &name, Tree::pair(key, source));
        Sent {
            url: format!("${{{name}}}"),
            ..Sent::default()
        }
    }

    /// A URI that the file has.
    fn input(&mut self, at: &Path, input: &str, scope: &Scope) -> Option<Sent> {
        let input = input.split('#').next().unwrap_or_default();
        let text = self.pieces(at, input, scope, true);
        let Some(Piece::Fixed(first)) = text.first() else {
            if text.is_empty() {
                self.wrong(at, "the URI is empty");
                return None;
            }
            // A value, which is a URI.
            return Some(Sent {
                url: self.written(at, &text, Context::Url),
                ..Sent::default()
            });
        };
        let rest = text.get(1..).unwrap_or_default();
        let scheme = ["http", "https"].into_iter().find(|scheme| {
            let prefix = first.get(..scheme.len() + 3).unwrap_or_default();
            prefix.eq_ignore_ascii_case(&format!("{scheme}://"))
        });
        let (target, scheme, authority, path) = match scheme {
            None if first.starts_with('/') => (
                API.to_owned(),
                self.scheme(),
                self.top.authority.clone(),
                first.as_str(),
            ),
            None => {
                self.wrong(at, "a URI begins with `/`, `http://` or `https://`");
                return None;
            }
            Some(scheme) => {
                let host = first.get(scheme.len() + 3..).unwrap_or_default();
                let end = host.find(['/', '?']);
                if end.is_none() && !rest.is_empty() {
                    self.wrong(at, "volley takes no host from a variable: write it out");
                    return None;
                }
                let (authority, path) = host.split_at(end.unwrap_or(host.len()));
                let authority = authority.to_ascii_lowercase();
                let target = self.target_named(at, scheme, &authority);
                (target, scheme, authority, path)
            }
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let path = Piece::Fixed(format!("{slash}{path}"));
        let path: Text = std::iter::once(path).chain(rest.iter().cloned()).collect();
        let written = self.written(at, &path, Context::Url);
        Some(Sent {
            url: format!("${{{target}}}{written}"),
            is_path: target == API && first.starts_with('/'),
            uri: Some(Uri {
                scheme: scheme.to_owned(),
                authority,
                path,
            }),
            ..Sent::default()
        })
    }

    fn headers(&mut self, object: &mut Object<'_>, scope: &Scope) -> Vec<(String, Text)> {
        let mut headers: Vec<(String, Text)> = Vec::new();
        for (at, item) in self.items(object, "additonalHeaders") {
            let Some(line) = item.as_str() else {
                self.wrong(&at, "a text is needed");
                continue;
            };
            let colon = line.char_indices().skip(1).find(|(_, c)| *c == ':');
            let (name, value) = line.split_at(colon.map_or(line.len(), |(place, _)| place));
            let value = value.strip_prefix(':').unwrap_or_default();
            if name.starts_with(':') || name.is_empty() || value.is_empty() {
                let text = "h2loadrunner does not send it: left out";
                self.note(&at, "header-ignored", text.to_owned());
                continue;
            }
            if words(name, None)
                .iter()
                .any(|word| matches!(word, Word::Name(_)))
            {
                self.wrong(
                    &at,
                    "volley has no variables in names of headers: write the name out",
                );
                continue;
            }
            let name = name.to_ascii_lowercase();
            if name == "host" || RESERVED.contains(&name.as_str()) {
                let text = format!("volley sets `{name}` itself: left out");
                self.note(&at, "header-ignored", text);
                continue;
            }
            if value.starts_with([' ', '\t']) && !self.top.is_http1 {
                self.fault(&at, "header-blank");
            }
            let text = self.pieces(&at, value.trim_matches([' ', '\t']), scope, false);
            headers.retain(|(known, _)| *known != name);
            headers.push((name, text));
        }
        headers
    }

    /// The body: its key, and what stands there.
    fn payload(
        &mut self,
        object: &mut Object<'_>,
        scope: &Scope,
        sent: &mut Sent,
    ) -> Option<(&'static str, Tree)> {
        let key = "payload";
        let at = object.at.key(key);
        let payload = self.text(object, key).filter(|text| !text.is_empty())?;
        payload.clone_into(&mut sent.payload);
        let file = self.how.from.join(payload);
        let is_file = !payload.contains('\0') && file.is_file();
        if is_file && scope.old.is_none() {
            self.fault(&at, "payload-file");
        }
        if is_file && (!self.how.as_run || scope.old.is_some()) {
            let content = self.readable(&at, &file, input::read(&file, input::TEXT))?;
            self.check_length(&at, content.len());
            let content = String::from_utf8(content).unwrap_or_default();
            let parts = words(&content, scope.old.as_deref());
            if !parts.iter().any(|word| matches!(word, Word::Name(_))) {
                sent.payload = content;
                let body = Tree::pair("file", self.file_name(payload));
                return Some(("body", body));
            }
            sent.payload = content;
        }
        self.check_length(&at, sent.payload.len());
        let text = self.pieces(&at, &sent.payload, scope, true);
        let text = self.written(&at, &text, Context::Other);
        Some(("text", Tree::from(text).at(&at)))
    }

    fn check_length(&mut self, at: &Path, length: usize) {
        if length > WHOLE_PAYLOAD && !self.top.is_http1 {
            self.fault(at, "payload-16k");
        }
    }
}
