//! A step's request, ready to be rendered: whatever never changes is encoded once.

use std::sync::Arc;

use super::flight::{FlightKey, Moved};
use super::site::Site;
use super::wire::Http;
use crate::http::{Follow, Role};
use crate::http2::hpack::{Field, Indexing, literal, literal_name};
use crate::http2::{Head, Own};
use crate::scenario::plan::{HttpRequest, Step, Url};
use crate::scenario::text::Unrendered;
use crate::scenario::{Text, Values};
use crate::spec::secret;

pub const USER_AGENT: &str = concat!("volley/", env!("CARGO_PKG_VERSION"));

/// How a field with the name `:path` begins that no table holds: entry 4 of the static table (RFC 7541 appendix A).
const PATH: &[u8] = &[0x04];

/// The same for the name `cookie`, never indexed: entry 32.
const COOKIE: &[u8] = &[0x1f, 0x11];

/// Memory for rendering, which all requests of a thread share.
#[derive(Debug, Default)]
pub struct Scratch {
    pub path: Vec<u8>,
    pub first: Vec<u8>,
    pub last: Vec<u8>,
    pub body: Vec<u8>,
    pub value: Vec<u8>,
    /// The value of `cookie`, if it is not empty.
    pub cookies: Vec<u8>,
}

/// A step's request.
pub struct Shot {
    method: Box<str>,
    /// `None`: it differs from iteration to iteration.
    path: Option<Box<[u8]>>,
    constant: Vec<(Box<str>, Box<[u8]>)>,
    varying: Vec<Varying>,
    body: Option<Text>,
    /// By target and host.
    heads: Vec<(usize, usize, Arc<Head>)>,
}

/// A field whose value differs from request to request.
pub struct Varying {
    name: Box<str>,
    /// How it begins in HTTP/2.
    begin: Vec<u8>,
    value: Text,
}

/// What a request needs besides its shot.
#[derive(Clone, Copy)]
pub struct Aim<'a> {
    pub target: usize,
    pub host: usize,
    pub site: &'a Site,
    /// Where a redirect led.
    pub moved: Option<&'a Moved>,
}

impl Varying {
    pub fn new(name: &str, value: &Text) -> Self {
        let mut begin = Vec::new();
        literal_name(
            name.as_bytes(),
            indexing(name, Indexing::Without),
            &mut begin,
        );
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

impl Aim<'_> {
    /// A redirect has made a GET of the request.
    pub fn drops_body(&self) -> bool {
        self.moved.is_some_and(|moved| moved.follow == Follow::Get)
    }

    /// Whether a field of this name is sent, after a redirect.
    pub fn sends(&self, name: &str) -> bool {
        let Some(moved) = self.moved else {
            return true;
        };
        match Role::of(name) {
            Role::Plain => true,
            Role::Secret => !moved.is_foreign,
            Role::Content => !self.drops_body(),
        }
    }

    /// What `:authority` or `host` says.
    pub fn authority(&self) -> &str {
        let host = self.site.hosts.get(self.host);
        host.map_or("", |host| &host.authority)
    }
}

impl Shot {
    /// Prepares a step's HTTP request.
    pub fn new(step: &Step, request: &HttpRequest) -> Self {
        let mut constant: Vec<(Box<str>, Box<[u8]>)> = Vec::new();
        let mut varying = Vec::new();
        for (name, value) in &request.headers {
            match value.constant() {
                Some(bytes) => constant.push((name.clone(), bytes.into())),
                None => {
                    let mut begin = Vec::new();
                    literal_name(
                        name.as_bytes(),
                        indexing(name, Indexing::Without),
                        &mut begin,
                    );
                    varying.push(Varying {
                        name: name.clone(),
                        begin,
                        value: value.clone(),
                    });
                }
            }
        }
        if !request
            .headers
            .iter()
            .any(|(name, _)| &**name == "user-agent")
        {
            constant.push(("user-agent".into(), USER_AGENT.as_bytes().into()));
        }
        Self {
            method: request.method.clone(),
            path: match &step.url {
                Url::Target { path, .. } => path.constant().map(Into::into),
                Url::Value { .. } => None,
            },
            constant,
            varying,
            body: request.body.clone(),
            heads: Vec::new(),
        }
    }

    /// Whether the request can be repeated without harm (RFC 9110 section 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        matches!(
            &*self.method,
            "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
        )
    }

    /// Writes the request to a connection with room for it. Its path, if that varies, is in `scratch.path`.
    ///
    /// # Errors
    ///
    /// A slot is empty, or its value cannot stand in a header: nothing was written.
    pub fn write(
        &mut self,
        http: &mut Http,
        flight: FlightKey,
        aim: Aim<'_>,
        values: &Values,
        scratch: &mut Scratch,
    ) -> Result<u32, Unrendered> {
        scratch.body.clear();
        if let Some(body) = self.body.as_ref().filter(|_| !aim.drops_body()) {
            body.render(values, &mut scratch.body)?;
        }
        match http {
            Http::Two(http) => {
                self.own_fields(aim, values, scratch)?;
                let head = match aim.moved {
                    None => self.head(aim),
                    Some(_) => Arc::new(self.new_head(aim)),
                };
                let ends = scratch.body.is_empty();
                let own = Own {
                    first: &scratch.first,
                    last: &scratch.last,
                };
                let stream = http.open_with(flight, &head, own, ends);
                if !ends {
                    http.send(stream, &scratch.body, true);
                }
                Ok(stream)
            }
            Http::One(http) => {
                self.lines(aim, values, scratch)?;
                http.open(flight, &scratch.first, self.method(aim) == "HEAD");
                http.send(&scratch.body);
                Ok(0)
            }
        }
    }

    /// Encodes the fields of this request alone.
    fn own_fields(
        &self,
        aim: Aim<'_>,
        values: &Values,
        scratch: &mut Scratch,
    ) -> Result<(), Unrendered> {
        scratch.first.clear();
        scratch.last.clear();
        if self.path.is_none() || aim.moved.is_some() {
            literal(PATH, &scratch.path, &mut scratch.first);
        }
        for varying in self
            .varying
            .iter()
            .filter(|varying| aim.sends(&varying.name))
        {
            varying.write(values, scratch)?;
        }
        if !scratch.cookies.is_empty() {
            literal(COOKIE, &scratch.cookies, &mut scratch.last);
        }
        Ok(())
    }

    /// The fields that all requests of this step to a host share.
    fn head(&mut self, aim: Aim<'_>) -> Arc<Head> {
        let mut known = self.heads.iter();
        if let Some((.., head)) = known.find(|head| (head.0, head.1) == (aim.target, aim.host)) {
            return Arc::clone(head);
        }
        let head = Arc::new(self.new_head(aim));
        self.heads.push((aim.target, aim.host, Arc::clone(&head)));
        head
    }

    #[cold]
    fn new_head(&self, aim: Aim<'_>) -> Head {
        let authority = aim.authority();
        let scheme = aim.site.scheme();
        let mut fields = Vec::new();
        for (name, value) in [
            (":method", self.method(aim).as_bytes()),
            (":scheme", scheme.as_bytes()),
            (":authority", authority.as_bytes()),
        ] {
            fields.push(field(name, value));
        }
        let before_own = fields.len();
        if let Some(path) = self.path.as_ref().filter(|_| aim.moved.is_none()) {
            fields.push(field(":path", path));
        }
        // HTTP/2 has no `host` beside `:authority` (RFC 9113 section 8.3.1).
        let is_sent = |name: &str| name != "host" && aim.sends(name);
        let constant = self.constant.iter().filter(|(name, _)| is_sent(name));
        fields.extend(constant.map(|(name, value)| field(name, value)));
        Head { fields, before_own }
    }

    /// Renders the head of an HTTP/1.1 request to `scratch.first`.
    fn lines(
        &self,
        aim: Aim<'_>,
        values: &Values,
        scratch: &mut Scratch,
    ) -> Result<(), Unrendered> {
        let out = &mut scratch.first;
        out.clear();
        let method = self.method(aim);
        out.extend_from_slice(method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(&scratch.path);
        out.extend_from_slice(b" HTTP/1.1\r\n");
        if aim.moved.is_some() || !self.has("host") {
            let authority = aim.authority();
            line(out, "host", authority.as_bytes());
        }
        let is_sent = |name: &str| (aim.moved.is_none() || name != "host") && aim.sends(name);
        for (name, value) in self.constant.iter().filter(|(name, _)| is_sent(name)) {
            line(out, name, value);
        }
        for Varying { name, value, .. } in self.varying.iter().filter(|one| is_sent(&one.name)) {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            value.render(values, out)?;
            out.extend_from_slice(b"\r\n");
        }
        if !scratch.cookies.is_empty() {
            line(out, "cookie", &scratch.cookies);
        }
        let has_body = self.body.is_some() && !aim.drops_body();
        if has_body || matches!(method, "POST" | "PUT" | "PATCH") {
            let mut digits = itoa::Buffer::new();
            line(
                out,
                "content-length",
                digits.format(scratch.body.len()).as_bytes(),
            );
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// The method, which a redirect may have changed.
    pub fn method(&self, aim: Aim<'_>) -> &str {
        match aim.drops_body() {
            true => "GET",
            false => &self.method,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.constant.iter().any(|(known, _)| &**known == name)
            || self.varying.iter().any(|known| &*known.name == name)
    }
}

fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

pub fn field(name: &str, value: &[u8]) -> Field {
    Field {
        name: name.as_bytes().into(),
        value: value.into(),
        indexing: indexing(name, Indexing::Incremental),
    }
}

/// Secrets are never indexed (RFC 7541 section 7.1.3).
fn indexing(name: &str, otherwise: Indexing) -> Indexing {
    match secret::is_secret(name) {
        true => Indexing::Never,
        false => otherwise,
    }
}
