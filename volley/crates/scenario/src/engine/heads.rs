//! What the heads of a step's requests over HTTP/2 share, and the fields that differ.

use std::sync::Arc;

use super::prepared_request::{Aim, Scratch};
use crate::plan::HttpRequest;
use crate::text::Unrendered;
use crate::{Text, Values};
use volley_http::http2::Head;
use volley_http::http2::hpack::{Field, Indexing, literal, literal_name};
use volley_load::spec::secret;
use volley_request::USER_AGENT;

/// A request that names volley, unless the step names another agent.
pub fn with_agent(request: &HttpRequest) -> HttpRequest {
    let mut request = request.clone();
    let mut headers = request.headers.iter();
    if !headers.any(|(name, _)| **name == *"user-agent") {
        let agent = Text::fixed(USER_AGENT.as_bytes());
        request.headers.push(("user-agent".into(), agent));
    }
    request
}

/// What a step keeps for requests to each host, by target and host.
pub struct ByHost<T>(Vec<(usize, usize, T)>);

impl<T> Default for ByHost<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByHost<T> {
    #[inline]
    pub fn find(&self, aim: Aim<'_>) -> Option<&T> {
        let is_of =
            |(target, host, _): &&(usize, usize, _)| (*target, *host) == (aim.target, aim.host);
        self.0.iter().find(is_of).map(|(.., one)| one)
    }

    /// Keeps what there is not yet for this host.
    pub fn keep(&mut self, aim: Aim<'_>, one: T) {
        self.0.push((aim.target, aim.host, one));
    }
}

/// The fields that all requests of a step to a host share.
#[derive(Default)]
pub struct Heads(ByHost<Arc<Head>>);

impl Heads {
    /// The head of requests to this host, if it is kept.
    #[inline]
    pub fn find(&self, aim: Aim<'_>) -> Option<Arc<Head>> {
        self.0.find(aim).map(Arc::clone)
    }

    /// Keeps the head of requests to this host. `heads`: how many the thread keeps.
    #[cold]
    pub fn keep(&mut self, aim: Aim<'_>, mut head: Head, heads: &mut usize) -> Arc<Head> {
        *heads += 1;
        head.place = *heads;
        let head = Arc::new(head);
        self.0.keep(aim, Arc::clone(&head));
        head
    }
}

/// A field whose value differs from request to request.
pub struct Varying {
    pub name: Box<str>,
    /// How it begins in HTTP/2.
    begin: Vec<u8>,
    value: Text,
}

impl Varying {
    /// Those of these fields that are not the same in every request.
    pub fn of(fields: &[(Box<str>, Text)]) -> Vec<Self> {
        let varying = fields
            .iter()
            .filter(|(_, value)| value.constant().is_none());
        varying
            .map(|(name, value)| Self::new(name, value))
            .collect()
    }

    fn new(name: &str, value: &Text) -> Self {
        let mut begin = Vec::new();
        let indexing = indexing(name, Indexing::Without);
        literal_name(name.as_bytes(), indexing, &mut begin);
        Self {
            name: name.into(),
            begin,
            value: value.clone(),
        }
    }

    /// Appends its field to `scratch.last`.
    #[inline]
    pub fn write(&self, values: &Values, scratch: &mut Scratch) -> Result<(), Unrendered> {
        scratch.value.clear();
        self.value.render(values, &mut scratch.value)?;
        literal(&self.begin, &scratch.value, &mut scratch.last);
        Ok(())
    }
}

/// Those of these fields that are the same in every request.
pub fn constant(fields: &[(Box<str>, Text)]) -> impl Iterator<Item = (&str, &[u8])> {
    fields
        .iter()
        .filter_map(|(name, value)| Some((&**name, value.constant()?)))
}

/// A field that tables may hold.
pub fn field(name: &str, value: &[u8]) -> Field {
    Field {
        name: name.as_bytes().into(),
        value: value.into(),
        indexing: indexing(name, Indexing::Incremental),
    }
}

/// Secrets are never indexed (RFC 7541 section 7.1.3).
pub fn indexing(name: &str, otherwise: Indexing) -> Indexing {
    match secret::is_secret(name) {
        true => Indexing::Never,
        false => otherwise,
    }
}
