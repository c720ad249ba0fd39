//! Heads of requests (RFC 9112).

use httparse::{EMPTY_HEADER, Request, Status};

use super::Refused;
use crate::items::{Head, HeadReader};

/// The most fields of a request.
const MAX_FIELDS: usize = 64;

/// The head of a request.
pub(super) struct Parsed {
    pub(super) head: Head,
    /// Its bytes.
    pub(super) length: usize,
    pub(super) framing: Framing,
    /// The client wants no further request on the connection.
    pub(super) is_last: bool,
    /// The client waits for `100 Continue`.
    pub(super) wants_continue: bool,
}

/// How the body of a request ends (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
}

/// Reads the head at the start of `input`; `None`: it is incomplete.
pub(super) fn parse(input: &[u8], most: usize) -> Result<Option<Parsed>, Refused> {
    let mut fields = [EMPTY_HEADER; MAX_FIELDS];
    let mut request = Request::new(&mut fields);
    let length = match request.parse(input) {
        Ok(Status::Complete(length)) if length <= most => length,
        Ok(Status::Partial) if input.len() <= most => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Refused(431)),
        Err(_) => return Err(Refused(400)),
    };
    let mut reader = HeadReader::default();
    let mut size = None;
    let mut is_chunked = false;
    // HTTP/1.0 has other rules; its connections end with the answer.
    let mut is_last = request.version == Some(0);
    let mut wants_continue = false;
    for field in request.headers.iter() {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        // By length: most fields are none of these.
        match field.name.len() {
            14 if is("content-length") => {
                let value = number(field.value).ok_or(Refused(400))?;
                if size.is_some_and(|size| size != value) {
                    return Err(Refused(400));
                }
                size = Some(value);
            }
            17 if is("transfer-encoding") => {
                if is_chunked || !field.value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Refused(501));
                }
                is_chunked = true;
            }
            10 if is("connection") => {
                let mut options = field.value.split(|&byte| byte == b',');
                is_last |= options.any(|one| one.trim_ascii().eq_ignore_ascii_case(b"close"));
            }
            6 if is("expect") => {
                wants_continue = field.value.eq_ignore_ascii_case(b"100-continue");
            }
            8 if is("if-match") => reader.field(b"if-match", field.value),
            _ => {}
        }
    }
    // A request with both may be two requests to somebody else (RFC 9112 §6.3).
    let framing = match (size, is_chunked) {
        (Some(_), true) => return Err(Refused(400)),
        (None, true) => Framing::Chunked,
        (size, false) => Framing::Length(size.unwrap_or(0)),
    };
    let path = request.path.unwrap_or_default().as_bytes();
    Ok(Some(Parsed {
        head: reader.head(request.method.unwrap_or_default().as_bytes(), origin(path)),
        length,
        framing,
        is_last,
        wants_continue,
    }))
}

/// The path of a target, which a client of a proxy sends with scheme and authority (RFC 9112 §3.2.2).
fn origin(target: &[u8]) -> &[u8] {
    let Some(rest) = target
        .strip_prefix(b"http://")
        .or_else(|| target.strip_prefix(b"https://"))
    else {
        return target;
    };
    let start = rest.iter().position(|&byte| byte == b'/');
    start.and_then(|at| rest.get(at..)).unwrap_or(b"/")
}

/// Digits only: a sign, which `str::parse` takes, is not allowed here.
fn number(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The length of the trailers at the start of `input`, with the empty line after them; `None`: they are incomplete.
pub(super) fn trailers(input: &[u8], most: usize) -> Result<Option<usize>, Refused> {
    let mut fields = [EMPTY_HEADER; MAX_FIELDS];
    match httparse::parse_headers(input, &mut fields) {
        Ok(Status::Complete((length, _))) if length <= most => Ok(Some(length)),
        Ok(Status::Partial) if input.len() <= most => Ok(None),
        Ok(_) => Err(Refused(431)),
        Err(_) => Err(Refused(400)),
    }
}
