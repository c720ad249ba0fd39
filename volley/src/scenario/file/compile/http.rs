//! HTTP requests: methods and headers.

use super::Compiler;
use super::names::Scope;
use crate::scenario::file::mistake::Path;
use crate::scenario::file::model::Step;
use crate::scenario::plan::HttpRequest;
use crate::scenario::{Escape, Text};

/// Headers that belong to a connection (RFC 9110 section 7.6.1), or that volley knows better.
pub(in crate::scenario::file) const RESERVED: [&str; 10] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "http2-settings",
];

/// Whether a text is a token (RFC 9110 section 5.6.2).
pub(super) fn is_token(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_fine)
}

/// Why a value that never changes is none of a header (RFC 9110 section 5.5).
fn unfit(value: &[u8]) -> Option<&'static str> {
    let is_blank = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    if is_blank(value.first()) || is_blank(value.last()) {
        return Some("the value begins or ends with a blank: remove it");
    }
    let mut controls = value.iter().filter(|byte| byte.is_ascii_control());
    let has_control = controls.any(|byte| *byte != b'\t');
    has_control.then_some("the value has a control character: remove it")
}

impl Compiler<'_> {
    pub(super) fn method(&mut self, at: &Path, method: &str) -> Option<Box<str>> {
        if !is_token(method) || method == "CONNECT" {
            self.wrong(
                at,
                format!("`{method}` is no method: write one such as `GET`"),
            );
            return None;
        }
        Some(method.into())
    }

    /// A request whose method is known elsewhere.
    pub(super) fn http(
        &mut self,
        scope: &mut Scope,
        at: &Path,
        step: &Step,
    ) -> Option<HttpRequest> {
        let mut headers = Vec::new();
        for (name, value) in step.headers.iter() {
            let at = at.key("headers").key(name);
            let name = self.header_name(&at, name);
            let value = self.scalar(scope, &at, value, Escape::Header);
            if let Some(problem) = value.as_ref().and_then(|value| unfit(value.constant()?)) {
                self.wrong(&at, problem);
            }
            if let Some((name, value)) = name.zip(value) {
                if headers.iter().any(|(other, _)| *other == name) {
                    self.wrong(&at, format!("`{name}` stands there twice: keep one"));
                }
                headers.push((name, value));
            }
        }
        let body = self.body(scope, at, step)?;
        if let Some(media_type) = body.media_type
            && !headers.iter().any(|(name, _)| &**name == "content-type")
        {
            headers.push(("content-type".into(), Text::fixed(media_type.into_bytes())));
        }
        // An empty one says that there shall be none.
        headers.retain(|(name, value)| {
            **name != *"content-type" || value.constant().is_none_or(|value| !value.is_empty())
        });
        Some(HttpRequest {
            method: Box::default(),
            headers,
            body: body.text,
            redirects: step.redirects.unwrap_or(scope.redirects),
        })
    }

    /// A header's name in lower case.
    pub(super) fn header_name(&mut self, at: &Path, name: &str) -> Option<Box<str>> {
        let lower = name.to_ascii_lowercase();
        let problem = if lower == "host" || lower == ":authority" {
            format!("`{name}` is the target's: write `authority` there")
        } else if lower.starts_with(':') {
            format!("`{name}` is made of the step's verb and URL: drop it")
        } else if RESERVED.contains(&lower.as_str()) {
            format!("volley sets `{name}` itself: drop it")
        } else if !is_token(&lower) {
            format!("`{name}` is no name of a header: use letters, digits and `-`")
        } else {
            return Some(lower.into());
        };
        self.wrong(at, problem);
        None
    }
}
