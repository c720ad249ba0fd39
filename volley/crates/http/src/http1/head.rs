//! Heads of responses, and trailers.

use std::mem::MaybeUninit;

use httparse::{EMPTY_HEADER, Error, Header, ParserConfig, Response, Status};

use super::error::Violation;
use crate::http2::hpack::HeaderList;
use crate::http2::response::length;

/// Heads with more fields are read in a second pass.
const FEW: usize = 128;

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

/// How heads are read: blanks where other clients do not mind them.
fn lenient() -> ParserConfig {
    let mut config = ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    config
}

/// Reads a whole head into `list`.
///
/// # Errors
///
/// It breaks a rule of RFC 9112.
pub fn read(head: &[u8], list: &mut HeaderList) -> Result<Head, Violation> {
    let mut few = [const { MaybeUninit::uninit() }; FEW];
    match read_with(head, &mut few, list) {
        Err(Violation::Head(error)) => read_again(head, error, list),
        done => done,
    }
}

/// The same for a head that has many fields, or folded ones.
#[cold]
fn read_again(head: &[u8], error: Error, list: &mut HeaderList) -> Result<Head, Violation> {
    let unfolded = unfolded(head, 1);
    if error != Error::TooManyHeaders && unfolded.is_none() {
        return Err(Violation::Head(error));
    }
    let head = unfolded.as_deref().unwrap_or(head);
    let mut many = vec![MaybeUninit::uninit(); most_fields(head)];
    read_with(head, &mut many, list)
}

fn read_with<'h>(
    head: &'h [u8],
    fields: &mut [MaybeUninit<Header<'h>>],
    list: &mut HeaderList,
) -> Result<Head, Violation> {
    let mut response = Response::new(&mut []);
    let parsed = lenient().parse_response_with_uninit_headers(&mut response, head, fields);
    let refused = |error| match (error, head.get(8..13)) {
        (Error::Status, Some([b' ', a, b, c, b' ']))
            if [a, b, c].iter().all(|byte| byte.is_ascii_digit()) =>
        {
            Violation::Reason
        }
        (error, _) => Violation::Head(error),
    };
    if parsed.map_err(refused)? != Status::Complete(head.len()) {
        return Err(Violation::Head(Error::NewLine));
    }
    let status = response.code.unwrap_or_default();
    if status < 100 {
        return Err(Violation::Head(Error::Status));
    }
    list.clear();
    let mut digits = itoa::Buffer::new();
    list.push(b":status", digits.format(status).as_bytes());
    for field in response.headers.iter() {
        list.push_lower_case(field.name.as_bytes(), field.value);
    }
    meaning(status, response.version == Some(1), list)
}

/// What a head with these fields says.
///
/// # Errors
///
/// Its framing breaks a rule of RFC 9112.
pub fn meaning(status: u16, is_1_1: bool, list: &HeaderList) -> Result<Head, Violation> {
    let mut stated = None;
    let mut is_chunked = false;
    let mut keeps_alive = is_1_1;
    let mut closes = false;
    for (name, value) in list.iter() {
        match name {
            b"content-length" => {
                let value = length(value).map_err(|_| Violation::Length)?;
                if stated.is_some_and(|before| before != value) {
                    return Err(Violation::TwoLengths);
                }
                stated = Some(value);
            }
            b"transfer-encoding" => {
                for coding in value.split(|byte| *byte == b',') {
                    let coding = coding.trim_ascii();
                    if coding.is_empty() || coding.eq_ignore_ascii_case(b"identity") && !is_chunked
                    {
                        continue;
                    }
                    if is_chunked || !coding.eq_ignore_ascii_case(b"chunked") {
                        return Err(Violation::Coding);
                    }
                    is_chunked = true;
                }
            }
            b"connection" => {
                for option in value.split(|byte| *byte == b',') {
                    let option = option.trim_ascii();
                    closes |= option.eq_ignore_ascii_case(b"close");
                    keeps_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            _ => {}
        }
    }
    let framing = match (stated, is_chunked) {
        (stated, true) => {
            // Another recipient may see another end (RFC 9112 §6.1, §6.3).
            closes |= stated.is_some() || !is_1_1;
            Framing::Chunked
        }
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
/// They break a rule of RFC 9112.
#[cold]
pub fn read_trailers(section: &[u8], list: &mut HeaderList) -> Result<(), Violation> {
    let unfolded = unfolded(section, 0);
    let section = unfolded.as_deref().unwrap_or(section);
    let mut fields = vec![EMPTY_HEADER; most_fields(section)];
    let parsed = httparse::parse_headers(section, &mut fields);
    list.clear();
    match parsed.map_err(Violation::Trailers)? {
        Status::Complete((length, fields)) if length == section.len() => {
            for field in fields {
                list.push_lower_case(field.name.as_bytes(), field.value);
            }
            Ok(())
        }
        _ => Err(Violation::Trailers(Error::NewLine)),
    }
}

/// How many fields a section can have: each has a name, a colon and the end of a line. Its length has a limit.
fn most_fields(section: &[u8]) -> usize {
    section.len() / 3
}

/// A section with each folded line joined to the one before it by a blank (RFC 9112 §5.2); `None`: none is folded. Only
/// lines after `first` can be continued.
fn unfolded(section: &[u8], first: usize) -> Option<Vec<u8>> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (mut joined, mut is_folded) = (Vec::with_capacity(section.len()), false);
    for (at, line) in section.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let begin = line.iter().position(|byte| !is_blank(byte));
        let rest = match begin {
            Some(begin) if begin > 0 && at > first => {
                joined.pop_if(|byte| *byte == b'\n');
                joined.pop_if(|byte| *byte == b'\r');
                while joined.pop_if(|byte| is_blank(byte)).is_some() {}
                joined.push(b' ');
                is_folded = true;
                line.get(begin..).unwrap_or_default()
            }
            _ => line,
        };
        joined.extend_from_slice(rest);
    }
    is_folded.then_some(joined)
}
