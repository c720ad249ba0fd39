//! Heads of responses, and trailers.

use std::mem::MaybeUninit;

use httparse::{EMPTY_HEADER, ParserConfig, Response, Status};

use super::error::Violation;
use crate::http2::hpack::HeaderList;
use crate::http2::response::number;

/// The most fields in a head or in trailers.
const MOST_FIELDS: usize = 128;

/// What a head says about what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Whether the connection may be used after this response (RFC 9112 §9.3).
    pub keeps_alive: bool,
}

/// How a body ends (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

impl Head {
    /// The body's framing; the request decides, too.
    #[inline]
    pub fn framing(&self, is_head_request: bool) -> Framing {
        match self.status {
            204 | 304 => Framing::Length(0),
            _ if is_head_request => Framing::Length(0),
            _ => self.framing,
        }
    }
}

/// Reads a whole head into `list`.
///
/// # Errors
///
/// It breaks a rule of RFC 9112, or has more fields than are read.
pub fn read(head: &[u8], list: &mut HeaderList) -> Result<Head, Violation> {
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        head,
        &mut fields,
    );
    if parsed.map_err(|error| unreadable(error, Violation::Head))? != Status::Complete(head.len()) {
        return Err(Violation::Head(httparse::Error::NewLine));
    }
    let status = response.code.unwrap_or_default();
    if status < 100 {
        return Err(Violation::Head(httparse::Error::Status));
    }
    list.clear();
    let mut digits = itoa::Buffer::new();
    list.push(b":status", digits.format(status).as_bytes());

    let is_1_1 = response.version == Some(1);
    let mut length = None;
    let mut is_chunked = false;
    let mut keeps_alive = is_1_1;
    let mut closes = false;
    for field in response.headers.iter() {
        let name = field.name.as_bytes();
        list.push_lower_case(name, field.value);
        if name.eq_ignore_ascii_case(b"content-length") {
            let value = number(field.value).map_err(|_| Violation::Length)?;
            if length.is_some_and(|before| before != value) {
                return Err(Violation::TwoLengths);
            }
            length = Some(value);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if is_chunked || !is_1_1 || !field.value.eq_ignore_ascii_case(b"chunked") {
                return Err(Violation::Coding);
            }
            is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"connection") {
            for option in field.value.split(|byte| *byte == b',') {
                let option = option.trim_ascii();
                closes |= option.eq_ignore_ascii_case(b"close");
                keeps_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            }
        }
    }
    let framing = match (length, is_chunked) {
        (Some(_), true) => return Err(Violation::LengthAndCoding),
        (None, true) => Framing::Chunked,
        (Some(length), false) => Framing::Length(length),
        (None, false) => Framing::UntilClose,
    };
    Ok(Head {
        status,
        framing,
        keeps_alive: keeps_alive && !closes,
    })
}

/// Reads whole trailers into `list`.
///
/// # Errors
///
/// They break a rule of RFC 9112, or are more than are read.
#[cold]
pub fn read_trailers(section: &[u8], list: &mut HeaderList) -> Result<(), Violation> {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let parsed = httparse::parse_headers(section, &mut fields);
    list.clear();
    match parsed.map_err(|error| unreadable(error, Violation::Trailers))? {
        Status::Complete((length, fields)) if length == section.len() => {
            for field in fields {
                list.push_lower_case(field.name.as_bytes(), field.value);
            }
            Ok(())
        }
        _ => Err(Violation::Trailers(httparse::Error::NewLine)),
    }
}

#[cold]
fn unreadable(error: httparse::Error, other: fn(httparse::Error) -> Violation) -> Violation {
    match error {
        httparse::Error::TooManyHeaders => Violation::TooManyFields { limit: MOST_FIELDS },
        error => other(error),
    }
}
