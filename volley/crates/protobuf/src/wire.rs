//! Pieces of protobuf's wire format.

pub use buffa::encoding::encode_varint;
use buffa::encoding::{Tag, decode_varint, skip_field};

/// How a value stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Delimited = 2,
    Fixed32 = 5,
}

/// Appends a field's key.
pub fn encode_key(number: u32, wire: WireType, out: &mut Vec<u8>) {
    encode_varint(u64::from(number) << 3 | wire as u64, out);
}

/// Appends a field of text or bytes.
pub fn encode_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::Delimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends a field of a number, which is an int32 or an enum.
pub fn encode_number(number: u32, value: i32, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(i64::from(value).cast_unsigned(), out);
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Something else.
    Other,
}

impl Piece<'_> {
    /// That of an int32 or an enum; 0 if it is none.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the high bits only repeat the sign"
    )]
    pub fn number(self) -> i32 {
        match self {
            Self::Varint(value) => value as i32,
            Self::Bytes(_) | Self::Other => 0,
        }
    }
}

/// The fields of a message, by their numbers; `None` if it is none.
#[must_use]
pub fn pieces(mut bytes: &[u8]) -> Option<Vec<(u32, Piece<'_>)>> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let tag = Tag::decode(&mut bytes).ok()?;
        let piece = match tag.wire_type() {
            buffa::encoding::WireType::Varint => Piece::Varint(decode_varint(&mut bytes).ok()?),
            buffa::encoding::WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
                let (inner, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Piece::Bytes(inner)
            }
            _ => {
                skip_field(tag, &mut bytes).ok()?;
                Piece::Other
            }
        };
        pieces.push((tag.field_number(), piece));
    }
    Some(pieces)
}

/// The last text of this number in a message, empty if it has none; `None` if it is no message, or what is there is no text.
#[must_use]
pub fn last_text(message: &[u8], number: u32) -> Option<String> {
    let mut found = String::new();
    for piece in pieces(message)? {
        if let (own, Piece::Bytes(bytes)) = piece
            && own == number
        {
            found = text(bytes)?;
        }
    }
    Some(found)
}

pub(super) fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}
