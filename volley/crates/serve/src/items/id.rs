//! The names of items.

/// Hex digits of an id.
const DIGITS: usize = 16;
/// Bits of the check.
const CHECK_BITS: u32 = 24;

/// The name of an item: a number, and a check of it, so that a damaged name is not that of another item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(u64);

impl Id {
    /// The id of item number `number`, below 2⁴⁰.
    pub fn of(number: u64) -> Self {
        Self(number << CHECK_BITS | check(number))
    }

    /// The id in `text`; `None` if it is not one that [`Id::of`] makes.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() != DIGITS {
            return None;
        }
        let mut bits = 0;
        for byte in text {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            bits = bits << 4 | u64::from(digit);
        }
        let id = Self(bits);
        (id == Self::of(id.number())).then_some(id)
    }

    /// The number of the item.
    pub fn number(self) -> u64 {
        self.0 >> CHECK_BITS
    }

    /// The id as it is written.
    pub fn text(self) -> [u8; DIGITS] {
        let mut text = [0; DIGITS];
        let mut bits = self.0;
        for byte in text.iter_mut().rev() {
            let digit = (bits & 0xf) as u8;
            *byte = digit + if digit < 10 { b'0' } else { b'a' - 10 };
            bits >>= 4;
        }
        text
    }
}

/// Fibonacci hashing: neighbours differ in about half of the bits.
fn check(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CHECK_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_a_damaged_one_is_none() {
        for number in [0, 1, 2, 0x1234_5678, (1 << 40) - 1] {
            let text = Id::of(number).text();
            assert_eq!(Id::parse(&text), Some(Id::of(number)));
            assert_eq!(Id::of(number).number(), number);
            for at in 0..DIGITS {
                let mut damaged = text;
                damaged[at] = if text[at] == b'0' { b'1' } else { b'0' };
                assert_eq!(Id::parse(&damaged), None, "{number}, digit {at}");
            }
            assert_eq!(Id::parse(&text[1..]), None);
        }
        assert_eq!(Id::parse(b"FFFFFFFFFFFFFFFF"), None);
    }
}
