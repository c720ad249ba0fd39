//! Values in the binary format.

use buffa::encoding::encode_varint;
use buffa_descriptor::generated::descriptor::field_descriptor_proto::Type;

/// One encoded value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Datum {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    Bytes(Vec<u8>),
    Group(Vec<u8>),
}

impl Datum {
    /// A message, between two keys if it is a group.
    pub fn message(kind: Type, bytes: Vec<u8>) -> Self {
        match kind {
            Type::TYPE_GROUP => Self::Group(bytes),
            _ => Self::Bytes(bytes),
        }
    }

    /// What a field has that is not set.
    pub fn zero(kind: Type) -> Self {
        match kind {
            Type::TYPE_DOUBLE | Type::TYPE_FIXED64 | Type::TYPE_SFIXED64 => Self::Fixed64(0),
            Type::TYPE_FLOAT | Type::TYPE_FIXED32 | Type::TYPE_SFIXED32 => Self::Fixed32(0),
            Type::TYPE_STRING | Type::TYPE_BYTES | Type::TYPE_MESSAGE => Self::Bytes(Vec::new()),
            Type::TYPE_GROUP => Self::Group(Vec::new()),
            _ => Self::Varint(0),
        }
    }

    /// A whole number; `None` if the type has no room for it.
    pub fn whole(kind: Type, negative: bool, value: u64) -> Option<Self> {
        let signed = match negative {
            true => 0i64.checked_sub_unsigned(value),
            false => i64::try_from(value).ok(),
        };
        let unsigned = (!negative).then_some(value);
        let short = || signed.and_then(|value| i32::try_from(value).ok());
        Some(match kind {
            Type::TYPE_INT32 => Self::Varint(i64::from(short()?) as u64),
            Type::TYPE_SINT32 => {
                let value = short()?;
                Self::Varint(u64::from(((value << 1) ^ (value >> 31)) as u32))
            }
            Type::TYPE_SFIXED32 => Self::Fixed32(short()? as u32),
            Type::TYPE_INT64 => Self::Varint(signed? as u64),
            Type::TYPE_SINT64 => {
                let value = signed?;
                Self::Varint(((value << 1) ^ (value >> 63)) as u64)
            }
            Type::TYPE_SFIXED64 => Self::Fixed64(signed? as u64),
            Type::TYPE_UINT32 => Self::Varint(u32::try_from(unsigned?).ok()?.into()),
            Type::TYPE_FIXED32 => Self::Fixed32(u32::try_from(unsigned?).ok()?),
            Type::TYPE_UINT64 => Self::Varint(unsigned?),
            Type::TYPE_FIXED64 => Self::Fixed64(unsigned?),
            _ => return None,
        })
    }

    /// A number of a type with a point.
    pub fn float(kind: Type, value: f64) -> Option<Self> {
        match kind {
            Type::TYPE_DOUBLE => Some(Self::Fixed64(value.to_bits())),
            Type::TYPE_FLOAT => Some(Self::Fixed32((value as f32).to_bits())),
            _ => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        match self {
            Self::Varint(value) | Self::Fixed64(value) => *value == 0,
            Self::Fixed32(value) => *value == 0,
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Group(_) => false,
        }
    }

    /// With its number and type before it.
    pub fn write(&self, number: i32, out: &mut Vec<u8>) {
        let wire_type = match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Group(_) => 3,
            Self::Fixed32(_) => 5,
        };
        let tag = |wire_type: u64| (u64::from(number.unsigned_abs()) << 3) | wire_type;
        encode_varint(tag(wire_type), out);
        match self {
            Self::Bytes(bytes) => {
                encode_varint(bytes.len() as u64, out);
                out.extend_from_slice(bytes);
            }
            Self::Group(bytes) => {
                out.extend_from_slice(bytes);
                encode_varint(tag(4), out);
            }
            _ => self.write_alone(out),
        }
    }

    /// The value alone, as in a packed field.
    pub fn write_alone(&self, out: &mut Vec<u8>) {
        match self {
            Self::Varint(value) => encode_varint(*value, out),
            Self::Fixed32(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Fixed64(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Bytes(bytes) | Self::Group(bytes) => out.extend_from_slice(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(datum: &Datum) -> Vec<u8> {
        let mut out = Vec::new();
        datum.write(1, &mut out);
        out
    }

    #[test]
    fn values_have_the_format_of_their_type() {
        let whole = |kind, negative, value| Datum::whole(kind, negative, value);
        let negative = whole(Type::TYPE_INT32, true, 1).map(|datum| written(&datum));
        let ten_bytes = [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(negative.as_deref(), Some(ten_bytes.as_slice()));
        assert_eq!(whole(Type::TYPE_SINT32, true, 2), Some(Datum::Varint(3)));
        assert_eq!(
            whole(Type::TYPE_SINT64, true, 1 << 63),
            Some(Datum::Varint(u64::MAX))
        );
        assert_eq!(whole(Type::TYPE_INT32, false, 1 << 31), None);
        assert_eq!(whole(Type::TYPE_UINT32, true, 1), None);
        assert_eq!(written(&Datum::Group(vec![16, 1])), [11, 16, 1, 12]);
        assert_eq!(written(&Datum::Bytes(vec![7])), [10, 1, 7]);
    }
}
