//! Metadata that a user gives: names are checked, values are encoded for the wire.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use thiserror::Error;
use volley_protobuf::LENIENT;

/// Names that volley sets itself, or that HTTP/2 forbids (RFC 9113 §8.2.2).
const RESERVED: [&str; 11] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// gRPC reserves `grpc-`, but leaves these to applications.
const GRPC_FREE: [&str; 2] = ["grpc-trace-bin", "grpc-tags-bin"];
/// Values that must never enter a compression table (RFC 7541 §7.1.3).
const NEVER_INDEXED: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// Why metadata cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MetadataError {
    #[error("metadata `{name}` is reserved: {reason}")]
    Reserved { name: String, reason: &'static str },
    #[error(
        "metadata `{name}` has `{character}` in its name; letters, digits, `-`, \
         `_` and `.` are allowed"
    )]
    Name { name: String, character: char },
    #[error("metadata has an empty name")]
    Empty,
    #[error(
        "metadata `{name}` has a value that is not printable ASCII; end its name in \
         `-bin` and give base64"
    )]
    Value { name: String },
    #[error("metadata `{name}` is not valid base64, which a `-bin` value must be: {reason}")]
    Base64 { name: String, reason: String },
}

/// A checked metadata name in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// # Errors
    ///
    /// If the name is reserved, or has a character that is not allowed in names.
    pub fn new(name: &str) -> Result<Self, MetadataError> {
        let lower = name.trim().to_ascii_lowercase();
        let reserved = |reason| {
            Err(MetadataError::Reserved {
                name: name.to_owned(),
                reason,
            })
        };
        if lower.is_empty() {
            return Err(MetadataError::Empty);
        }
        if lower == ":authority" || lower == "host" {
            return reserved("give it with --authority");
        }
        if lower.starts_with(':') || RESERVED.contains(&lower.as_str()) {
            return reserved("HTTP/2 and volley set it");
        }
        if lower.starts_with("grpc-") && !GRPC_FREE.contains(&lower.as_str()) {
            return reserved("names in `grpc-` belong to gRPC");
        }
        match lower
            .chars()
            .find(|c| !(c.is_ascii_alphanumeric() || "-_.".contains(*c)))
        {
            Some(character) => Err(MetadataError::Name {
                name: name.to_owned(),
                character,
            }),
            None => Ok(Self(lower)),
        }
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether the value must stay out of compression tables.
    #[must_use]
    pub fn is_never_indexed(&self) -> bool {
        NEVER_INDEXED.contains(&self.0.as_str())
    }

    /// The value for the wire. That of a `-bin` name is base64, which gRPC sends without padding.
    ///
    /// # Errors
    ///
    /// If it is not base64 where that is required, or not printable ASCII elsewhere.
    pub fn wire_value<'a>(&self, value: &'a str) -> Result<Cow<'a, [u8]>, MetadataError> {
        let value = trimmed(value);
        if self.0.ends_with("-bin") {
            let bytes = LENIENT
                .decode(value)
                .map_err(|error| MetadataError::Base64 {
                    name: self.0.clone(),
                    reason: error.to_string().to_lowercase(),
                })?;
            return Ok(Cow::Owned(STANDARD_NO_PAD.encode(bytes).into_bytes()));
        }
        if is_printable(value.as_bytes()) {
            Ok(Cow::Borrowed(value.as_bytes()))
        } else {
            Err(MetadataError::Value {
                name: self.0.clone(),
            })
        }
    }
}

/// Whether all bytes are printable ASCII: eight at a time, because values may differ in every call.
fn is_printable(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let (words, rest) = bytes.as_chunks();
    let all = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        // 0x60 lifts a byte of 0x20 and more to 0x80, 1 lifts 0x7f.
        word & HIGH == 0 && (word + 0x60 * ONES) & !(word + ONES) & HIGH == HIGH
    };
    words.iter().all(all) && rest.iter().all(|byte| (0x20..=0x7e).contains(byte))
}

/// Without the white space around it.
fn trimmed(value: &str) -> &str {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let bytes = value.as_bytes();
    if is_blank(bytes.first()) || is_blank(bytes.last()) {
        value.trim_matches([' ', '\t'])
    } else {
        value
    }
}

#[cfg(test)]
mod tests;
