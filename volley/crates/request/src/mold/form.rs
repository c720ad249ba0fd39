//! Values of fields: read from JSON as the JSON parser does, and encoded.

use std::borrow::Cow;

use serde::de::{DeserializeSeed as _, IgnoredAny};
use volley_protobuf as protobuf;
use volley_protobuf::wire::{WireType, encode_varint};
use volley_protobuf::{Enum, Kind, Message, PartSeed, bytes_of, float_of, float_of_number};

/// How a field's value is encoded.
#[derive(Clone, Debug)]
pub enum Form {
    Signed { is_narrow: bool, wire: Wire },
    Unsigned { is_narrow: bool, wire: Wire },
    Bool,
    Enum(Enum),
    Float,
    Double,
    Text,
    Bytes,
}

/// How an integer stands on the wire.
#[derive(Clone, Copy, Debug)]
pub enum Wire {
    Varint,
    ZigZag,
    Fixed32,
    Fixed64,
}

/// A JSON value that is no list and no object.
#[derive(Debug)]
pub enum Value<'a> {
    Integer(i64),
    /// The contents of a string.
    Quoted(Cow<'a, str>),
    /// Anything else, as it is written.
    Bare(&'a str),
}

impl<'a> Value<'a> {
    /// `None` if the JSON is something else.
    pub fn new(json: &'a str) -> Option<Self> {
        let json = json.trim_matches([' ', '\t', '\r', '\n']);
        let Some(quoted) = json.strip_prefix('"') else {
            return Some(Self::Bare(json));
        };
        let inner = quoted.strip_suffix('"')?;
        let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        Some(Self::Quoted(if inner.bytes().any(is_special) {
            Cow::Owned(serde_json::from_str(json).ok()?)
        } else {
            Cow::Borrowed(inner)
        }))
    }

    /// Its digits, if it may be an integer.
    fn digits(&self) -> Option<&str> {
        let text = match self {
            Self::Integer(_) => return None,
            Self::Quoted(text) => text,
            Self::Bare(text) => *text,
        };
        let digits = text.strip_prefix('-').unwrap_or(text);
        // Other ways to write integers are left to the JSON parser.
        let is_plain = match digits.as_bytes() {
            [b'0'] => text == "0",
            [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        is_plain.then_some(text)
    }

    fn signed(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            _ => self.digits()?.parse().ok(),
        }
    }

    fn unsigned(&self) -> Option<u64> {
        match self {
            Self::Integer(integer) => u64::try_from(*integer).ok(),
            _ => self.digits()?.parse().ok(),
        }
    }

    fn quoted(&self) -> Option<&str> {
        match self {
            Self::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// A number as the JSON parser sees it.
    fn number(&self) -> Option<serde_json::Number> {
        match self {
            Self::Integer(integer) => Some((*integer).into()),
            Self::Quoted(_) => None,
            Self::Bare(text) => serde_json::from_str(text).ok(),
        }
    }

    fn double(&self) -> Option<f64> {
        match self {
            Self::Quoted(text) => float_of(text),
            _ => self.number()?.as_f64(),
        }
    }

    fn float(&self) -> Option<f32> {
        match self {
            Self::Quoted(text) => float_of(text),
            _ => float_of_number(&self.number()?),
        }
    }
}

impl Form {
    /// That of a kind of field, and its wire type; `None` for messages and what has a JSON form of its own.
    pub fn new(kind: &Kind) -> Option<(Self, WireType)> {
        let signed = |is_narrow, wire: Wire| (Self::Signed { is_narrow, wire }, wire.wire_type());
        let unsigned =
            |is_narrow, wire: Wire| (Self::Unsigned { is_narrow, wire }, wire.wire_type());
        Some(match kind {
            Kind::Int32 => signed(true, Wire::Varint),
            Kind::Int64 => signed(false, Wire::Varint),
            Kind::Uint32 => unsigned(true, Wire::Varint),
            Kind::Uint64 => unsigned(false, Wire::Varint),
            Kind::Sint32 => signed(true, Wire::ZigZag),
            Kind::Sint64 => signed(false, Wire::ZigZag),
            Kind::Fixed32 => unsigned(true, Wire::Fixed32),
            Kind::Sfixed32 => signed(true, Wire::Fixed32),
            Kind::Fixed64 => unsigned(false, Wire::Fixed64),
            Kind::Sfixed64 => signed(false, Wire::Fixed64),
            Kind::Bool => (Self::Bool, WireType::Varint),
            Kind::Enum(values) if values.full_name() == "google.protobuf.NullValue" => return None,
            Kind::Enum(values) => (Self::Enum(values.clone()), WireType::Varint),
            Kind::Float => (Self::Float, WireType::Fixed32),
            Kind::Double => (Self::Double, WireType::Fixed64),
            Kind::String => (Self::Text, WireType::Delimited),
            Kind::Bytes => (Self::Bytes, WireType::Delimited),
            Kind::Message(_) => return None,
        })
    }

    /// Whether a value means the same with quotes around it.
    pub fn ignores_quotes(&self) -> bool {
        matches!(self, Self::Signed { .. } | Self::Unsigned { .. })
    }

    /// Appends a field, unless its value is the default and need not be sent. Returns the word if it is a number;
    /// `None`: it does not fit.
    pub fn write(
        &self,
        value: &Value,
        key: &[u8],
        keeps_default: bool,
        out: &mut Vec<u8>,
    ) -> Option<Option<u64>> {
        let (word, wire) = match self {
            Self::Signed { .. } => self.integer(value.signed()?)?,
            Self::Unsigned { is_narrow, wire } => {
                let integer = value.unsigned()?;
                if *is_narrow {
                    u32::try_from(integer).ok()?;
                }
                (integer, *wire)
            }
            Self::Bool => match value {
                Value::Bare("true") => (1, Wire::Varint),
                Value::Bare("false") => (0, Wire::Varint),
                _ => return None,
            },
            Self::Enum(values) => {
                let number = match value {
                    Value::Quoted(name) => values.number_of(name)?,
                    value => i32::try_from(value.signed()?).ok()?,
                };
                (i64::from(number).cast_unsigned(), Wire::Varint)
            }
            Self::Float => {
                let float = value.float()?;
                // -0.0 is not the default.
                if float.to_bits() != 0 || keeps_default {
                    out.extend_from_slice(key);
                    out.extend_from_slice(&float.to_le_bytes());
                }
                return Some(None);
            }
            Self::Double => {
                let double = value.double()?;
                if double.to_bits() != 0 || keeps_default {
                    out.extend_from_slice(key);
                    out.extend_from_slice(&double.to_le_bytes());
                }
                return Some(None);
            }
            Self::Text => {
                write_bytes(value.quoted()?.as_bytes(), key, keeps_default, out);
                return Some(None);
            }
            Self::Bytes => {
                let bytes = bytes_of(value.quoted()?)?;
                write_bytes(&bytes, key, keeps_default, out);
                return Some(None);
            }
        };
        wire.write(word, key, keeps_default, out);
        Some(Some(word))
    }

    /// The word of an integer, and how it is written; `None`: its type is another, or it does not fit.
    #[inline]
    pub fn integer(&self, integer: i64) -> Option<(u64, Wire)> {
        let (fits, wire) = match *self {
            Self::Signed { is_narrow, wire } => {
                (!is_narrow || i32::try_from(integer).is_ok(), wire)
            }
            Self::Unsigned { is_narrow, wire } => {
                let fits = if is_narrow {
                    u32::try_from(integer).is_ok()
                } else {
                    integer >= 0
                };
                (fits, wire)
            }
            _ => return None,
        };
        fits.then_some((integer.cast_unsigned(), wire))
    }
}

fn write_bytes(bytes: &[u8], key: &[u8], keeps_default: bool, out: &mut Vec<u8>) {
    if !bytes.is_empty() || keeps_default {
        out.extend_from_slice(key);
        encode_varint(bytes.len() as u64, out);
        out.extend_from_slice(bytes);
    }
}

impl Wire {
    fn wire_type(self) -> WireType {
        match self {
            Self::Varint | Self::ZigZag => WireType::Varint,
            Self::Fixed32 => WireType::Fixed32,
            Self::Fixed64 => WireType::Fixed64,
        }
    }

    /// Appends a field, unless its value is the default and need not be sent.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the high bits of a 32-bit number only repeat its sign"
    )]
    pub fn write(self, word: u64, key: &[u8], keeps_default: bool, out: &mut Vec<u8>) {
        if word == 0 && !keeps_default {
            return;
        }
        match key {
            [key] => out.push(*key),
            key => out.extend_from_slice(key),
        }
        match self {
            Self::Varint => encode_varint(word, out),
            Self::ZigZag => {
                let sign = (word.cast_signed() >> 63).cast_unsigned();
                encode_varint((word << 1) ^ sign, out);
            }
            Self::Fixed32 => out.extend_from_slice(&(word as u32).to_le_bytes()),
            Self::Fixed64 => out.extend_from_slice(&word.to_le_bytes()),
        }
    }
}

/// Appends a field of any type from its JSON; `begin` is what stands before it in an object. `None`: it is not JSON, or
/// does not fit.
pub fn parsed(value: &str, begin: &str, message: &Message, out: &mut Vec<u8>) -> Option<()> {
    // More than one value would be more than one field.
    serde_json::from_str::<IgnoredAny>(value).ok()?;
    let object = format!("{begin}{value}}}");
    let mut json = serde_json::Deserializer::from_str(&object);
    let fields = PartSeed(message).deserialize(&mut json).ok()?;
    out.extend_from_slice(&protobuf::encode(&fields));
    Some(())
}
