//! Reading protobuf's wire format.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Varint,
    Fixed64,
    Delimited,
    StartGroup,
    EndGroup,
    Fixed32,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    CutShort,
    LongVarint,
    FieldNumber,
    WireType,
    OtherWireType,
    Utf8,
    Group,
    Depth,
    /// The field of this number.
    Required(u32),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Required(number) => return write!(f, "the required field {number} is missing"),
            Self::CutShort => "it is cut short",
            Self::LongVarint => "a varint is longer than 64 bits",
            Self::FieldNumber => "a field number is out of range",
            Self::WireType => "there is no such wire type",
            Self::OtherWireType => "the field has another wire type",
            Self::Utf8 => "a string is not UTF-8",
            Self::Group => "a group ends that was not started",
            Self::Depth => "messages are nested too deeply",
        })
    }
}

/// Where and why a message could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub at: usize,
    pub what: What,
}

/// A part of a message, read from its start. Positions are offsets in the whole message.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    /// Where the last key was.
    key_at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            end: bytes.len(),
            key_at: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// An error in what is read next.
    pub fn fault(&self, what: What) -> Fault {
        Fault { at: self.at, what }
    }

    /// An error in the last key.
    pub fn fault_of_key(&self, what: What) -> Fault {
        Fault {
            at: self.key_at,
            what,
        }
    }

    /// A field's number and wire type.
    pub fn key(&mut self) -> Result<(u32, Wire), Fault> {
        self.key_at = self.at;
        let key = self.varint()?;
        let key = u32::try_from(key).map_err(|_| self.fault_of_key(What::FieldNumber))?;
        let wire = match key & 7 {
            0 => Wire::Varint,
            1 => Wire::Fixed64,
            2 => Wire::Delimited,
            3 => Wire::StartGroup,
            4 => Wire::EndGroup,
            5 => Wire::Fixed32,
            _ => return Err(self.fault_of_key(What::WireType)),
        };
        match key >> 3 {
            0 => Err(self.fault_of_key(What::FieldNumber)),
            number => Ok((number, wire)),
        }
    }

    #[inline]
    pub fn varint(&mut self) -> Result<u64, Fault> {
        let rest = self.rest();
        if let Some(byte) = rest.first().filter(|byte| **byte < 0x80) {
            self.at += 1;
            return Ok(u64::from(*byte));
        }
        let mut value = 0_u64;
        for (place, byte) in rest.iter().take(10).enumerate() {
            if place == 9 && *byte > 1 {
                return Err(self.fault(What::LongVarint));
            }
            value |= u64::from(byte & 0x7f) << (7 * place);
            if *byte < 0x80 {
                self.at += place + 1;
                return Ok(value);
            }
        }
        Err(self.fault(What::CutShort))
    }

    pub fn fixed32(&mut self) -> Result<u64, Fault> {
        self.fixed()
            .map(|bytes| u64::from(u32::from_le_bytes(bytes)))
    }

    pub fn fixed64(&mut self) -> Result<u64, Fault> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// A reader for the bytes behind a length.
    pub fn delimited(&mut self) -> Result<Self, Fault> {
        let start = self.at;
        let length = self.varint()?;
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| self.at.checked_add(length));
        match end {
            Some(end) if end <= self.end => {
                let inner = Self {
                    bytes: self.bytes,
                    at: self.at,
                    end,
                    key_at: self.at,
                };
                self.at = end;
                Ok(inner)
            }
            _ => Err(Fault {
                at: start,
                what: What::CutShort,
            }),
        }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..self.end).unwrap_or_default()
    }

    pub fn is_utf8(&self) -> bool {
        std::str::from_utf8(self.rest()).is_ok()
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let bytes = *self
            .rest()
            .first_chunk()
            .ok_or_else(|| self.fault(What::CutShort))?;
        self.at += N;
        Ok(bytes)
    }
}
