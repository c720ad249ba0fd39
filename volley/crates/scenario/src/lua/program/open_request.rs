//! A request of a program, and its response.

use super::task::Waiter;
use crate::engine::flight::Fault;
use crate::plan::Version;
use crate::request::{RESERVED, is_token, value_fault};
use crate::tally::Timing;
use crate::text::breaks_url;
use volley_base::budget::Buffer;
use volley_http::grpc::status;
use volley_http::http::HttpUrl;
use volley_report::measure::capped;
use volley_request::USER_AGENT;

/// Names and values, in lower case and in order.
pub type Fields = Vec<(Box<[u8]>, Vec<u8>)>;

/// The time that a request has if the program names none.
pub const TIMEOUT_NS: u64 = 5_000_000_000;

const MS_NS: u64 = 1_000_000;

/// The longest body of a response.
pub const MOST_BODY: usize = 64 << 20;

/// The longest method, and the longest name of a host: a thread keeps them for later requests.
pub const MOST_NAME: usize = 1024;

/// The longest URL, and the most headers.
pub const MOST_URL: usize = 64 << 10;
const MOST_FIELDS: usize = 1000;

/// What a request takes beside its texts, more or less.
const CALL: usize = 512;

/// The header that names the protocol, and the one that names the host, of requests that are forwarded.
const PROTOCOL: &str = "x-protocol-to-use";
const ORIGINAL: &str = "x-envoy-original-dst-host";

/// The name that the report has for a request.
const ROW: &str = ":step";

/// Where connections lead.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Base {
    pub is_tls: bool,
    /// Host and, perhaps, port.
    pub authority: String,
    pub is_http1: bool,
}

/// A request as a program asks for it.
#[derive(Debug)]
pub struct Draft {
    pub base: Base,
    pub method: String,
    pub path: Vec<u8>,
    /// What `:authority` or `host` says.
    pub authority: String,
    pub fields: Fields,
    pub body: Vec<u8>,
    pub is_grpc: bool,
    pub timeout_ns: u64,
    /// The row that it is counted in.
    pub row: String,
}

/// A request on its way.
#[derive(Debug)]
pub struct OpenRequest {
    pub draft: Box<Draft>,
    pub serial: u64,
    pub row: usize,
    pub pool: usize,
    /// The coroutine that gets its response.
    pub waiter: Option<Waiter>,
    /// The coroutine that waits until it is sent.
    pub sender: Option<Waiter>,
    /// Link and stream, once it is sent.
    pub place: Option<(usize, u32)>,
    /// The numbers that the program knows it by.
    pub id: (u64, u64),
    pub asked_ns: u64,
    pub sent_ns: Option<u64>,
    pub first_ns: Option<u64>,
    pub is_answered: bool,
    /// How often the server has refused it unseen.
    pub refusals: u8,
    pub received: u64,
    pub response: Response,
    pub fault: Option<Fault>,
}

impl OpenRequest {
    /// Its moments, up to the present. Of one that was not sent, that of the sending is that of the asking.
    pub fn timing(&self, now_ns: u64) -> Timing {
        Timing {
            sent_ns: self.sent_ns.unwrap_or(self.asked_ns),
            first_ns: self.first_ns,
            end_ns: now_ns,
            ..Timing::at(self.asked_ns)
        }
    }
}

/// What came.
#[derive(Debug, Default)]
pub struct Response {
    pub status: u16,
    /// Its head ended it.
    pub is_head_only: bool,
    pub fields: Fields,
    pub body: Buffer,
    pub trailers: Fields,
}

impl Response {
    /// Decodes the texts of gRPC statuses.
    pub fn decode_texts(&mut self) {
        for (name, value) in self.fields.iter_mut().chain(&mut self.trailers) {
            if **name == *status::MESSAGE {
                *value = status::shown(name, value).into_owned();
            }
        }
    }

    /// The bytes that it takes, more or less.
    pub fn bytes(&self) -> usize {
        self.body.len() + length(&self.fields) + length(&self.trailers)
    }
}

impl Base {
    /// Where a URL leads.
    pub fn of_url(url: &[u8]) -> Result<Self, String> {
        if url.len() > MOST_URL {
            return Err(format!("a URL has more than {MOST_URL} bytes"));
        }
        let parsed = HttpUrl::parse(url)
            .map_err(|error| format!("`{}`: {error}", String::from_utf8_lossy(url)))?;
        if parsed.authority.len() > MOST_NAME {
            return Err(format!("a host has more than {MOST_NAME} bytes"));
        }
        Ok(Self {
            is_tls: parsed.is_tls,
            authority: String::from_utf8_lossy(parsed.authority).into_owned(),
            is_http1: false,
        })
    }

    fn of(scheme: &str, authority: &str, is_http1: bool) -> Result<Self, String> {
        let base = Self::of_url(format!("{scheme}://{authority}/").as_bytes());
        Ok(Self { is_http1, ..base? })
    }

    pub fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }

    pub fn version(&self) -> Version {
        match (self.is_http1, self.is_tls) {
            (true, _) => Version::Http1,
            (false, true) => Version::Auto,
            // With prior knowledge.
            (false, false) => Version::Http2,
        }
    }
}

impl Draft {
    /// The bytes that it takes, more or less.
    pub fn bytes(&self) -> usize {
        CALL + self.path.len() + self.body.len() + length(&self.fields)
    }

    /// Reads a request: `count` names and values with NUL between them.
    pub fn new(
        headers: &[u8],
        count: usize,
        body: &[u8],
        kind: &[u8],
        timeout_ns: u64,
    ) -> Result<Self, String> {
        let is_grpc = kind == b"grpc";
        let (mut scheme, mut authority, mut method) = (String::new(), String::new(), String::new());
        let (mut path, mut fields) = (Vec::new(), Fields::new());
        let (mut protocol, mut original, mut row) = (None, None, None);
        for (name, value) in pairs(headers, count)? {
            let text = || String::from_utf8_lossy(value).into_owned();
            if let Some(fault) = value_fault(value) {
                return Err(format!("header `{name}`: {fault}"));
            }
            let is_kept = matches!(&*name, ":authority" | "host" | ":method");
            if is_kept && value.len() > MOST_NAME {
                return Err(format!("`{name}` has more than {MOST_NAME} bytes"));
            }
            match name.as_str() {
                ":scheme" => scheme = text(),
                ":authority" | "host" => authority = text(),
                ":method" => method = text(),
                ":path" => path = value.to_vec(),
                ROW => row = Some(text()),
                PROTOCOL => protocol = Some(text()),
                ORIGINAL if kind == b"forward" => original = Some(text()),
                // volley knows these better.
                name if RESERVED.contains(&name) => {}
                name if !is_token(name) => return Err(format!("`{name}` is no name of a header")),
                _ => fields.push((name.into_bytes().into(), value.to_vec())),
            }
        }
        let is_http1 = match protocol.as_deref() {
            None | Some("h2c" | "h2" | "") => false,
            Some("http/1.1" | "http1.1" | "h1") => true,
            Some(other) => return Err(format!("`{PROTOCOL}: {other}`: h2c or http/1.1")),
        };
        if is_grpc {
            "POST".clone_into(&mut method);
            let of_grpc: [(&[u8], &[u8]); 3] = [
                (b"te", b"trailers"),
                (b"content-type", b"application/grpc"),
                (b"grpc-accept-encoding", b"identity"),
            ];
            fields.retain(|(name, _)| of_grpc.iter().all(|(own, _)| **name != **own));
            fields.extend(of_grpc.map(|(name, value)| (name.into(), value.to_vec())));
        }
        if !is_token(&method) {
            return Err(format!("`:method` is `{method}`, no method"));
        }
        let has_blank = breaks_url(&path);
        if path.first() != Some(&b'/') || has_blank {
            let path = String::from_utf8_lossy(&path);
            return Err(format!("`:path` is `{path}`, no path such as `/v1/items`"));
        }
        if authority.is_empty() && original.is_none() {
            return Err("`:authority` is missing: the host and port of the request".to_owned());
        }
        let base = match &original {
            Some(url) if url.contains("://") => Base::of_url(url.as_bytes())?,
            Some(host) => Base::of(&scheme, host, is_http1)?,
            None => Base::of(&scheme, &authority, is_http1)?,
        };
        let has_agent = fields.iter().any(|(name, _)| **name == *b"user-agent");
        if !has_agent {
            fields.push((b"user-agent".as_slice().into(), USER_AGENT.into()));
        }
        let row = row.unwrap_or_else(|| match is_grpc {
            true => String::from_utf8_lossy(&path).into_owned(),
            false => format!("{method} {}", base.authority),
        });
        Ok(Self {
            base: Base { is_http1, ..base },
            method,
            path,
            authority,
            fields,
            body: match is_grpc {
                true => prefixed(body),
                false => body.to_vec(),
            },
            is_grpc,
            // Each distinct time has a queue of its own.
            timeout_ns: match timeout_ns {
                0 => TIMEOUT_NS,
                ns => ns.div_ceil(MS_NS).saturating_mul(MS_NS),
            },
            row: capped(&row).into_owned(),
        })
    }
}

/// The bytes of names and values.
pub fn length(fields: &Fields) -> usize {
    let lengths = fields.iter().map(|(name, value)| name.len() + value.len());
    lengths.sum()
}

/// Names in lower case, and values.
pub fn pairs(flat: &[u8], count: usize) -> Result<Vec<(String, &[u8])>, String> {
    if count > 2 * MOST_FIELDS {
        return Err(format!("there are more than {MOST_FIELDS} headers"));
    }
    let mut parts: Vec<&[u8]> = flat.split(|byte| *byte == 0).collect();
    if count == 0 {
        parts.clear();
    }
    if parts.len() != count {
        return Err("a header has a NUL".to_owned());
    }
    let mut pairs = Vec::with_capacity(count / 2);
    let mut parts = parts.into_iter();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        pairs.push((String::from_utf8_lossy(name).to_ascii_lowercase(), value));
    }
    Ok(pairs)
}

/// A message of gRPC, not compressed.
pub fn prefixed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], message].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use volley_http::http::is_idempotent;

    fn draft(headers: &[(&str, &str)], kind: &str) -> Result<Draft, String> {
        let parts: Vec<&str> = headers
            .iter()
            .flat_map(|(name, value)| [*name, *value])
            .collect();
        let flat = parts.join("\0");
        Draft::new(flat.as_bytes(), parts.len(), b"xy", kind.as_bytes(), 0)
    }

    const PLAIN: [(&str, &str); 4] = [
        (":scheme", "http"),
        (":authority", "a:80"),
        (":method", "PUT"),
        (":path", "/p?q=1"),
    ];

    #[test]
    fn a_request_is_made_of_its_headers() {
        let made = draft(
            &[&PLAIN[..], &[("X-A", "b"), ("connection", "close")]].concat(),
            "http",
        );
        let made = made.unwrap();
        assert_eq!((&*made.method, &*made.row), ("PUT", "PUT a:80"));
        assert_eq!(made.fields[0], (b"x-a".as_slice().into(), b"b".to_vec()));
        assert_eq!(made.fields.len(), 2);
        assert_eq!(made.timeout_ns, TIMEOUT_NS);
        assert!(!made.base.is_http1 && is_idempotent(&made.method));
    }

    #[test]
    fn times_are_rounded_up_to_whole_milliseconds() {
        for (ns, expected) in [(1, MS_NS), (MS_NS, MS_NS), (MS_NS + 1, 2 * MS_NS)] {
            let parts = PLAIN.map(|(name, value)| format!("{name}\0{value}"));
            let made = Draft::new(parts.join("\0").as_bytes(), 8, b"", b"http", ns);
            assert_eq!(made.unwrap().timeout_ns, expected);
        }
    }

    #[test]
    fn a_call_of_grpc_has_its_prefix_and_its_path_as_row() {
        let made = draft(&PLAIN, "grpc").unwrap();
        assert_eq!((&*made.method, &*made.row), ("POST", "/p?q=1"));
        assert_eq!(made.body, b"\0\0\0\0\x02xy");
    }

    #[test]
    fn a_request_that_is_forwarded_keeps_its_authority() {
        let forwarded = [&PLAIN[..], &[(ORIGINAL, "b:81"), (PROTOCOL, "http/1.1")]].concat();
        let made = draft(&forwarded, "forward").unwrap();
        assert_eq!((&*made.authority, &*made.base.authority), ("a:80", "b:81"));
        assert!(made.base.is_http1);
        let made = draft(&forwarded, "http").unwrap();
        assert_eq!(&*made.base.authority, "a:80");
    }

    #[test]
    fn what_is_no_request_is_named() {
        for (at, value) in [
            (0, "ftp"),
            (1, ""),
            (1, "a:b:c"),
            (2, "P T"),
            (3, "p"),
            (3, "/ "),
        ] {
            let mut headers = PLAIN;
            headers[at].1 = value;
            assert!(draft(&headers, "http").is_err(), "{headers:?}");
        }
        assert!(Draft::new(b"a\0b\0c", 2, b"", b"http", 0).is_err());
        assert!(draft(&[("a", "b\nc")], "http").is_err());
    }
}
