//! The status that ends a call.

mod message;

use std::borrow::Cow;
use std::fmt;

use super::Code;
use crate::http2::hpack::HeaderList;

/// The field with the text of a status.
pub const MESSAGE: &[u8] = b"grpc-message";

/// How a call ended, and why; displayed as grpc-go prints it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Status {
    pub code: Code,
    /// The server's text, or volley's own; at most about 1,024 bytes.
    pub message: String,
}

impl Status {
    /// A status with a text of volley's own.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub fn is_ok(&self) -> bool {
        self.code == Code::Ok
    }

    /// The status in a call's last header block. A missing or malformed one is `Unknown`; of several, the last counts.
    pub fn from_trailers(trailers: &HeaderList) -> Self {
        let Some(status) = trailers.last(b"grpc-status") else {
            return Self::new(
                Code::Unknown,
                "the server ended the call without a `grpc-status`",
            );
        };
        let message = || {
            trailers
                .last(MESSAGE)
                .map_or_else(String::new, message::decode)
        };
        let digits = status.strip_prefix(b"+").unwrap_or(status);
        match number(digits).map(|number| (number, Code::from_u32(number))) {
            // The hot path: whatever the text is, nothing went wrong.
            Some((_, Some(Code::Ok))) => Self::new(Code::Ok, String::new()),
            Some((_, Some(code))) => Self::new(code, message()),
            // Codes of a later gRPC count as UNKNOWN.
            Some((number, None)) => Self::new(
                Code::Unknown,
                format!("status code {number}: {}", message()),
            ),
            None => {
                let status = message::decode(status);
                let text = format!("the server's `grpc-status` is `{status}`, not a number");
                Self::new(Code::Unknown, text)
            }
        }
    }

    /// The status that a call's first header block already decides: it has one, or the answer is not gRPC.
    ///
    /// `None`: the call continues, also after an informational block (`:status` 1xx). After headers of a gRPC answer it may
    /// go on even if they have a status: trailers that follow count instead.
    pub fn from_headers(headers: &HeaderList, end_stream: bool) -> Option<Self> {
        let http_status = headers.get(b":status").unwrap_or_default();
        if http_status.starts_with(b"1") && !end_stream {
            return None;
        }
        if headers.get(b"grpc-status").is_some() {
            return Some(Self::from_trailers(headers));
        }
        let content_type = headers.get(b"content-type").unwrap_or_default();
        if http_status == b"200" && is_grpc(content_type) {
            return end_stream.then(|| Self::from_trailers(headers));
        }
        let code = number(http_status).and_then(|number| u16::try_from(number).ok());
        let code = code.map_or(Code::Internal, Code::from_http_status);
        let text = |bytes| message::decode(bytes);
        Some(Self::new(
            code,
            format!(
                "the server answered with HTTP status `{}` and content type `{}`, not with gRPC",
                text(http_status),
                text(content_type)
            ),
        ))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rpc error: code = {} desc = {}", self.code, self.message)
    }
}

/// The value of a header or trailer as people read it: the text of a status is decoded.
pub fn shown<'a>(name: &[u8], value: &'a [u8]) -> Cow<'a, [u8]> {
    match name == MESSAGE {
        true => message::decode_whole(value).into_bytes().into(),
        false => value.into(),
    }
}

/// Whether these are the headers of a gRPC answer, so that messages and trailers may follow.
pub fn has_grpc(headers: &HeaderList) -> bool {
    headers.get(b":status") == Some(b"200") && headers.get(b"content-type").is_some_and(is_grpc)
}

/// `application/grpc` in any case, alone or followed by a subtype (`+proto`) or parameters (`;charset=…`).
fn is_grpc(content_type: &[u8]) -> bool {
    content_type == TYPE || is_kind_of_grpc(content_type)
}

const TYPE: &[u8] = b"application/grpc";

#[cold]
fn is_kind_of_grpc(content_type: &[u8]) -> bool {
    let Some((kind, rest)) = content_type.split_at_checked(TYPE.len()) else {
        return false;
    };
    kind.eq_ignore_ascii_case(TYPE)
        && matches!(rest.trim_ascii_start().first(), None | Some(b'+' | b';'))
}

/// A decimal number without sign.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    let append = |number: u32, digit: &u8| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u32::from(digit))
    };
    digits.iter().try_fold(0, append)
}

#[cfg(test)]
mod tests;
