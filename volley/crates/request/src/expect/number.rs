//! Field types with numeric values.

use volley_protobuf::{Enum, Field, Kind, Value};

/// How a field's number is encoded, and its range. Values are handled as 64-bit words; signed ones
/// are sign-extended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    Signed32,
    ZigZag32,
    Unsigned32,
    Signed64,
    ZigZag64,
    Unsigned64,
    Bool,
    Enum(Enum),
}

impl Number {
    /// None for text, bytes, floats, messages, lists and maps.
    pub fn of(field: &Field) -> Option<Self> {
        if field.is_list() || field.is_map() {
            return None;
        }
        Self::of_kind(field.kind())
    }

    /// None for text, bytes, floats and messages.
    pub fn of_kind(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Int32 | Kind::Sfixed32 => Self::Signed32,
            Kind::Sint32 => Self::ZigZag32,
            Kind::Uint32 | Kind::Fixed32 => Self::Unsigned32,
            Kind::Int64 | Kind::Sfixed64 => Self::Signed64,
            Kind::Sint64 => Self::ZigZag64,
            Kind::Uint64 | Kind::Fixed64 => Self::Unsigned64,
            Kind::Bool => Self::Bool,
            Kind::Enum(values) => Self::Enum(values),
            Kind::Double | Kind::Float | Kind::String | Kind::Bytes | Kind::Message(_) => {
                return None;
            }
        })
    }

    /// Decodes the word on the wire.
    pub fn decode(&self, raw: u64) -> u64 {
        match self {
            Self::ZigZag32 => {
                let folded = raw & 0xffff_ffff;
                self.wrap((folded >> 1) ^ (folded & 1).wrapping_neg())
            }
            Self::ZigZag64 => (raw >> 1) ^ (raw & 1).wrapping_neg(),
            _ => self.wrap(raw),
        }
    }

    /// Whether a word on the wire is a value of the field; otherwise it is an unknown field.
    pub fn takes(&self, raw: u64) -> bool {
        match self {
            Self::Enum(values) if values.is_closed() => values.name_of(raw as i32).is_some(),
            _ => true,
        }
    }

    /// A word truncated to the field's range, as the field's own arithmetic would do.
    pub fn wrap(&self, word: u64) -> u64 {
        match self {
            Self::Signed32 | Self::ZigZag32 | Self::Enum(_) => {
                i64::from(word as i32).cast_unsigned()
            }
            Self::Unsigned32 => word & 0xffff_ffff,
            Self::Signed64 | Self::ZigZag64 | Self::Unsigned64 => word,
            Self::Bool => u64::from(word != 0),
        }
    }

    /// The bits of a word that identify a value, if words can be compared in their wire form.
    pub(super) fn plain_mask(&self) -> Option<u64> {
        match self {
            Self::Signed32 | Self::Unsigned32 | Self::Enum(_) => Some(0xffff_ffff),
            Self::Signed64 | Self::Unsigned64 => Some(u64::MAX),
            Self::ZigZag32 | Self::ZigZag64 | Self::Bool => None,
        }
    }

    /// The word as a user reads it.
    pub(super) fn show(&self, word: u64) -> String {
        let mut shown = Vec::new();
        self.write(word, &mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// Appends the word as a user reads it.
    pub fn write(&self, word: u64, out: &mut Vec<u8>) {
        let signed = word.cast_signed();
        let mut digits = itoa::Buffer::new();
        let text = match self {
            Self::Unsigned32 | Self::Unsigned64 => digits.format(word),
            Self::Bool if word != 0 => "true",
            Self::Bool => "false",
            Self::Enum(values) => {
                let name = i32::try_from(signed)
                    .ok()
                    .and_then(|number| values.name_of(number));
                match name {
                    Some(name) => return out.extend_from_slice(name.as_bytes()),
                    None => digits.format(signed),
                }
            }
            Self::Signed32 | Self::ZigZag32 | Self::Signed64 | Self::ZigZag64 => {
                digits.format(signed)
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}

/// The word of a message's field; 0 if it is not a number.
pub(super) fn word(value: &Value) -> u64 {
    match value {
        Value::Bool(value) => u64::from(*value),
        Value::I32(value) | Value::EnumNumber(value) => i64::from(*value).cast_unsigned(),
        Value::I64(value) => value.cast_unsigned(),
        Value::U32(value) => u64::from(*value),
        Value::U64(value) => *value,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_is_that_of_the_fields_own_type() {
        assert_eq!(
            Number::Signed32.show(Number::Signed32.wrap(0x8000_0000)),
            "-2147483648"
        );
        assert_eq!(
            Number::Unsigned32.show(Number::Unsigned32.wrap(0u64.wrapping_sub(1))),
            "4294967295"
        );
        assert_eq!(
            Number::Signed64.show(Number::Signed64.wrap(1 << 63)),
            "-9223372036854775808"
        );
        assert_eq!(Number::Bool.show(Number::Bool.wrap(7)), "true");
    }

    #[test]
    fn zigzag_is_undone() {
        for (raw, shown) in [
            (0, "0"),
            (1, "-1"),
            (2, "1"),
            (0xffff_fffe, "2147483647"),
            (0xffff_ffff, "-2147483648"),
        ] {
            assert_eq!(Number::ZigZag32.show(Number::ZigZag32.decode(raw)), shown);
        }
        assert_eq!(
            Number::ZigZag64.show(Number::ZigZag64.decode(u64::MAX)),
            i64::MIN.to_string()
        );
    }
}
