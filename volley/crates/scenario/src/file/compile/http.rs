//! HTTP requests: methods and headers.

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::Step;
use crate::plan::HttpRequest;
use crate::request::{is_token, name_fault, value_fault};
use crate::{Escape, Text};
use volley_http::http::offers;

impl Compiler<'_> {
    pub(super) fn method(&mut self, at: &Path, method: &str) -> Option<Box<str>> {
        if !is_token(method) || method == "CONNECT" {
            return self.none(
                at,
                format!("`{method}` is no method: write one such as `GET`"),
            );
        }
        Some(method.into())
    }

    /// A request whose method is known elsewhere.
    pub(super) fn http(&mut self, at: &Path, step: &Step) -> Option<HttpRequest> {
        let mut headers = Vec::new();
        for (name, value) in step.headers.iter() {
            let at = at.key("headers").key(name);
            let name = self.header_name(&at, name);
            let value = self.scalar(&at, value, Escape::Header);
            if let Some(problem) = value
                .as_ref()
                .and_then(|value| value_fault(value.constant()?))
            {
                self.wrong(&at, problem);
            }
            if let Some((name, value)) = name.zip(value) {
                if *name == *"accept-encoding"
                    && let Some(value) = value.constant()
                {
                    self.noted(&at, offers(value));
                }
                if headers.iter().any(|(other, _)| *other == name) {
                    self.wrong(&at, format!("`{name}` stands there twice: keep one"));
                }
                headers.push((name, value));
            }
        }
        let body = self.body(at, step)?;
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
            redirects: step.redirects.unwrap_or(self.scope.redirects),
        })
    }

    /// A header's name in lower case.
    pub(super) fn header_name(&mut self, at: &Path, name: &str) -> Option<Box<str>> {
        let Some(problem) = name_fault(name) else {
            return Some(name.to_ascii_lowercase().into());
        };
        self.none(at, problem)
    }
}
