//! A step's request, ready to be rendered: whatever never changes is encoded once.

use std::sync::Arc;

use super::flight::{FlightKey, Moved};
use super::heads::{ByHost, Heads, Varying, constant, field, indexing, with_agent};
use super::site::Site;
use super::wire::Http;
use crate::plan::{HttpRequest, Step, Url};
use crate::request::{self, Ask};
use crate::script::Rewritten;
use crate::text::Unrendered;
use crate::{Text, Values};
use volley_http::http::{Follow, Role, is_idempotent};
use volley_http::http2::hpack::{Indexing, literal, literal_name};
use volley_http::http2::{Content, Head, Own};

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
    /// How many heads are kept for further requests.
    pub heads: usize,
}

/// A step's request.
pub struct PreparedRequest {
    request: HttpRequest,
    /// `None`: it differs from iteration to iteration.
    path: Option<Box<[u8]>>,
    lines: Box<Lines>,
    /// HTTP/2.
    heads: Heads,
    /// The same for requests that a script has changed: without the path, and if one of the step's fields has changed,
    /// without those.
    pathless: Heads,
    bare: Heads,
    /// How fields of scripts begin in HTTP/2, by name.
    begins: Vec<(Box<str>, Vec<u8>)>,
    varying: Vec<Varying>,
}

/// The same in HTTP/1.1.
struct Lines {
    head: request::Http1Head,
    /// What never changes of them; `None`: more than path and length varies.
    constants: ByHost<Option<Box<[u8]>>>,
}

/// What a request needs besides what is prepared.
#[derive(Clone, Copy)]
pub struct Aim<'a> {
    pub target: usize,
    pub host: usize,
    pub site: &'a Site,
    /// Where a redirect led.
    pub moved: Option<&'a Moved>,
    /// What a script has made of the request.
    pub rewritten: Option<&'a Rewritten>,
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

    /// The method, which a redirect may have changed.
    pub fn method<'m>(&'m self, own: &'m str) -> &'m str {
        let written = self.rewritten.and_then(|request| request.method.as_deref());
        match self.drops_body() {
            true => "GET",
            false => written.unwrap_or(own),
        }
    }

    /// Whether a script has changed a field.
    pub fn changes(&self, name: &str) -> bool {
        let written = self.rewritten;
        written.is_some_and(|request| request.field(name).is_some())
    }

    /// The body that a script has written, if the request has one at all.
    pub fn own_body(&self) -> Option<&[u8]> {
        self.rewritten.and_then(Rewritten::body)
    }

    /// What `:authority` or `host` says.
    pub fn authority(&self) -> &str {
        let host = self.site.hosts.get(self.host);
        host.map_or("", |host| &host.authority)
    }
}

impl PreparedRequest {
    /// Prepares a step's HTTP request.
    pub fn new(step: &Step, request: &HttpRequest) -> Self {
        let request = with_agent(request);
        Self {
            path: match &step.url {
                Url::Target { path, .. } => path.constant().map(Into::into),
                Url::Value { .. } => None,
            },
            lines: Box::new(Lines {
                head: request::Http1Head::new(&request),
                constants: ByHost::default(),
            }),
            heads: Heads::default(),
            pathless: Heads::default(),
            bare: Heads::default(),
            begins: Vec::new(),
            varying: Varying::of(&request.headers),
            request,
        }
    }

    /// Whether the request can be repeated without harm.
    pub fn is_idempotent(&self) -> bool {
        is_idempotent(&self.request.method)
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
        match (aim.own_body(), &self.request.body) {
            _ if aim.drops_body() => {}
            (Some(body), _) => scratch.body.extend_from_slice(body),
            (None, Some(body)) => body.render(values, &mut scratch.body)?,
            (None, None) => {}
        }
        match http {
            Http::Two(http) => {
                self.own_fields(aim, values, scratch)?;
                let head = match (aim.rewritten, aim.moved) {
                    (Some(rewritten), _) => self.rewritten_head(rewritten, aim, scratch),
                    (None, None) => self.head(aim, scratch),
                    (None, Some(_)) => Arc::new(self.new_head(aim)),
                };
                let own = Own {
                    first: &scratch.first,
                    last: &scratch.last,
                };
                Ok(match scratch.body.is_empty() {
                    true => http.open_with(flight, &head, own, true),
                    false => http.open_whole(flight, &head, own, Content::Own(&scratch.body)),
                })
            }
            Http::One(http) => {
                match aim.rewritten {
                    Some(rewritten) => self.rewritten_lines(rewritten, aim, values, scratch)?,
                    None => self.own_lines(aim, values, scratch)?,
                }
                let is_head = match aim.rewritten {
                    Some(_) => aim.method(&self.request.method) == "HEAD",
                    None => self.lines.head.is_head(),
                };
                http.open(flight, &scratch.first, is_head);
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
        if self.path.is_none() || aim.moved.is_some() || aim.rewritten.is_some() {
            literal(PATH, &scratch.path, &mut scratch.first);
        }
        for varying in self
            .varying
            .iter()
            .filter(|varying| aim.sends(&varying.name) && !aim.changes(&varying.name))
        {
            varying.write(values, scratch)?;
        }
        if !scratch.cookies.is_empty() {
            literal(COOKIE, &scratch.cookies, &mut scratch.last);
        }
        Ok(())
    }

    /// The fields that all requests of this step to a host share.
    fn head(&mut self, aim: Aim<'_>, scratch: &mut Scratch) -> Arc<Head> {
        match self.heads.find(aim) {
            Some(head) => head,
            None => self.heads.keep(aim, self.new_head(aim), &mut scratch.heads),
        }
    }

    /// The fields that every request has, but for the path; with those of the step that never change, or without them.
    #[cold]
    fn bare_head(&self, aim: Aim<'_>, with_own: bool) -> Head {
        let mut fields = Vec::new();
        for (name, value) in [
            (":method", aim.method(&self.request.method).as_bytes()),
            (":scheme", aim.site.scheme().as_bytes()),
            (":authority", aim.authority().as_bytes()),
        ] {
            fields.push(field(name, value));
        }
        let before_own = fields.len();
        let own = constant(&self.request.headers).filter(|(name, _)| with_own && aim.sends(name));
        fields.extend(own.map(|(name, value)| field(name, value)));
        Head {
            fields,
            before_own,
            place: 0,
        }
    }

    #[cold]
    fn new_head(&self, aim: Aim<'_>) -> Head {
        let mut head = self.bare_head(aim, true);
        if let Some(path) = self.path.as_ref().filter(|_| aim.moved.is_none()) {
            head.fields.insert(head.before_own, field(":path", path));
        }
        head
    }

    /// The head of a request that a script has changed, and the fields of this request alone.
    fn rewritten_head(
        &mut self,
        rewritten: &Rewritten,
        aim: Aim<'_>,
        scratch: &mut Scratch,
    ) -> Arc<Head> {
        let mut constants = constant(&self.request.headers);
        let is_intact = aim.moved.is_none() && !constants.any(|(name, _)| aim.changes(name));
        if !is_intact {
            let kept = constant(&self.request.headers);
            for (name, value) in kept.filter(|(name, _)| aim.sends(name) && !aim.changes(name)) {
                begun(&mut self.begins, name, value, &mut scratch.last);
            }
        }
        for (name, value) in rewritten.sent().filter(|(name, _)| aim.sends(name)) {
            begun(&mut self.begins, name, value, &mut scratch.last);
        }
        if aim.moved.is_some() || rewritten.method.is_some() {
            return Arc::new(self.bare_head(aim, is_intact));
        }
        let heads = match is_intact {
            true => &self.pathless,
            false => &self.bare,
        };
        if let Some(head) = heads.find(aim) {
            return head;
        }
        let head = self.bare_head(aim, is_intact);
        match is_intact {
            true => self.pathless.keep(aim, head, &mut scratch.heads),
            false => self.bare.keep(aim, head, &mut scratch.heads),
        }
    }

    /// Renders the head of an HTTP/1.1 request that a script has changed to `scratch.first`.
    fn rewritten_lines(
        &self,
        rewritten: &Rewritten,
        aim: Aim<'_>,
        values: &Values,
        scratch: &mut Scratch,
    ) -> Result<(), Unrendered> {
        scratch.first.clear();
        let own = self.request.headers.iter();
        let own = own.filter(|(name, _)| aim.sends(name) && !aim.changes(name));
        let written = rewritten.sent().filter(|(name, _)| aim.sends(name));
        let written = written.map(|(name, value)| (name.into(), Text::fixed(value)));
        let request = HttpRequest {
            method: aim.method(&self.request.method).into(),
            headers: own.cloned().chain(written).collect(),
            body: None,
            redirects: 0,
        };
        let has_body = rewritten.body().is_some() || self.request.body.is_some();
        let ask = Ask {
            authority: aim.authority().as_bytes(),
            cookies: &scratch.cookies,
            body: has_body.then_some(scratch.body.len()),
            is_get: aim.drops_body(),
            is_elsewhere: aim.moved.is_some_and(|moved| moved.is_foreign),
        };
        let write_target = |out: &mut Vec<u8>| {
            out.extend_from_slice(&scratch.path);
            Ok(())
        };
        let lines = request::Http1Head::new(&request);
        lines.render(&ask, values, write_target, &mut scratch.first)
    }

    /// Renders the head of an HTTP/1.1 request to `scratch.first`.
    fn own_lines(
        &mut self,
        aim: Aim<'_>,
        values: &Values,
        scratch: &mut Scratch,
    ) -> Result<(), Unrendered> {
        scratch.first.clear();
        let body = self.request.body.as_ref().map(|_| scratch.body.len());
        let (path, out) = (&scratch.path, &mut scratch.first);
        if scratch.cookies.is_empty()
            && aim.moved.is_none()
            && self.lines.render_constant(aim, path, body, out)
        {
            return Ok(());
        }
        let ask = Ask {
            authority: aim.authority().as_bytes(),
            cookies: &scratch.cookies,
            body,
            is_get: aim.drops_body(),
            is_elsewhere: aim.moved.is_some_and(|moved| moved.is_foreign),
        };
        let write_target = |out: &mut Vec<u8>| {
            out.extend_from_slice(&scratch.path);
            Ok(())
        };
        self.lines
            .head
            .render(&ask, values, write_target, &mut scratch.first)
    }
}

impl Lines {
    /// Renders a head of which nothing but path and length varies. Returns whether this is one.
    #[inline]
    fn render_constant(
        &mut self,
        aim: Aim<'_>,
        path: &[u8],
        body: Option<usize>,
        out: &mut Vec<u8>,
    ) -> bool {
        if self.constants.find(aim).is_none() {
            let constant = self.head.constant(aim.authority().as_bytes());
            self.constants.keep(aim, constant);
        }
        let Some(Some(constant)) = self.constants.find(aim) else {
            return false;
        };
        self.head.render_constant(path, constant, body, out);
        true
    }
}

/// The most names of scripts' fields that are kept ready.
const MOST_BEGINS: usize = 64;

/// Appends a field of a script.
fn begun(begins: &mut Vec<(Box<str>, Vec<u8>)>, name: &str, value: &[u8], out: &mut Vec<u8>) {
    if let Some((_, begin)) = begins.iter().find(|(known, _)| **known == *name) {
        literal(begin, value, out);
        return;
    }
    let mut begin = Vec::new();
    literal_name(
        name.as_bytes(),
        indexing(name, Indexing::Without),
        &mut begin,
    );
    literal(&begin, value, out);
    if begins.len() < MOST_BEGINS {
        begins.push((name.into(), begin));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::Request;
    use crate::{Slot, file};
    use volley_request::USER_AGENT;

    const STEPS: &str = r#"
targets: {api: "http://127.0.0.1:1"}
http: {version: 1}
scenarios:
  s:
    steps:
      - {name: a, get: "${api}/", save: {x: {header: x}}}
      - {name: b, post: "${api}/b", text: hi, headers: {cookie: "own=1", authorization: "Bearer ${x}", a: b}}
      - {name: c, delete: "${api}/c", headers: {user-agent: me}}
"#;

    /// What one request of a step is on the wire, with `<x>` for each value.
    fn written(step: usize, cookies: &str, moved: Option<&Moved>) -> String {
        let plan = file::compile(STEPS, Path::new("test.yaml"), &|_| None).unwrap();
        let site = Site::new(&plan.targets[0]).unwrap();
        let step = &plan.steps[step];
        let Request::Http(request) = &step.request else {
            panic!()
        };
        let mut values = Values::new(plan.slots.len());
        for slot in 0..plan.slots.len() {
            values.set(Slot(u16::try_from(slot).unwrap()), b"<x>");
        }
        let mut scratch = Scratch {
            path: b"/path".to_vec(),
            cookies: cookies.as_bytes().to_vec(),
            ..Scratch::default()
        };
        let aim = Aim {
            target: 0,
            host: 0,
            site: &site,
            moved,
            rewritten: None,
        };
        let mut http = site.http();
        let mut prepared = PreparedRequest::new(step, request);
        let written = prepared.write(&mut http, FlightKey(0), aim, &values, &mut scratch);
        assert_eq!(written, Ok(0));
        let Http::One(http) = http else { panic!() };
        String::from_utf8(http.output().to_vec()).unwrap()
    }

    #[test]
    fn a_request_of_http_1_has_the_fields_of_its_step_and_the_cookies_of_its_jar() {
        let agent = format!("user-agent: {USER_AGENT}\r\n");
        let expected = format!(
            "POST /path HTTP/1.1\r\nhost: 127.0.0.1:1\r\na: b\r\n{agent}authorization: Bearer <x>\r\n\
             content-type: text/plain; charset=utf-8\r\ncookie: own=1; jar=2\r\ncontent-length: 2\r\n\r\nhi"
        );
        assert_eq!(written(1, "jar=2", None), expected);
        let expected = "DELETE /path HTTP/1.1\r\nhost: 127.0.0.1:1\r\nuser-agent: me\r\n\r\n";
        assert_eq!(written(2, "", None), expected);
    }

    #[test]
    fn a_redirect_to_another_origin_takes_no_secrets_and_no_body_along() {
        let moved = Moved {
            target: 0,
            path: b"/path".to_vec(),
            follow: Follow::Get,
            is_foreign: true,
        };
        let expected = format!(
            "GET /path HTTP/1.1\r\nhost: 127.0.0.1:1\r\na: b\r\nuser-agent: {USER_AGENT}\r\ncookie: jar=2\r\n\r\n"
        );
        assert_eq!(written(1, "jar=2", Some(&moved)), expected);
    }
}
