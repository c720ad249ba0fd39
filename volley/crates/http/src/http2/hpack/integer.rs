//! Integers with an N-bit prefix (RFC 7541 §5.1).

use super::HpackError;

/// Octets that an integer may have after its prefix: enough for 32 bits. More could only be zeros, sent to waste our
/// time.
const MAX_OCTETS: u32 = 5;

/// Reads an integer whose first octet, `first`, was already taken from `rest`.
///
/// # Errors
///
/// [`HpackError::Truncated`] and [`HpackError::IntegerOverflow`].
#[inline]
pub fn decode(first: u8, prefix_bits: u32, rest: &mut &[u8]) -> Result<usize, HpackError> {
    let mask = u8::MAX >> (8 - prefix_bits);
    let value = first & mask;
    if value < mask {
        return Ok(usize::from(value));
    }
    decode_long(u64::from(value), rest)
}

fn decode_long(mut value: u64, rest: &mut &[u8]) -> Result<usize, HpackError> {
    for octet in 0..MAX_OCTETS {
        let (&byte, after) = rest.split_first().ok_or(HpackError::Truncated)?;
        *rest = after;
        value += u64::from(byte & 0x7f) << (7 * octet);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).map_err(|_| HpackError::IntegerOverflow)?;
            return usize::try_from(value).map_err(|_| HpackError::IntegerOverflow);
        }
    }
    Err(HpackError::IntegerOverflow)
}

/// Appends an integer; `pattern` holds the bits of the first octet above the prefix.
pub fn encode(out: &mut Vec<u8>, pattern: u8, prefix_bits: u32, value: usize) {
    let mask = u8::MAX >> (8 - prefix_bits);
    if value < usize::from(mask) {
        out.push(pattern | low_octet(value));
        return;
    }
    out.push(pattern | mask);
    let mut value = value - usize::from(mask);
    while value >= 0x80 {
        out.push(0x80 | low_octet(value) & 0x7f);
        value >>= 7;
    }
    out.push(low_octet(value));
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low octet is what is asked for"
)]
fn low_octet(value: usize) -> u8 {
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8], prefix_bits: u32) -> Result<(usize, usize), HpackError> {
        let (&first, mut rest) = bytes.split_first().ok_or(HpackError::Truncated)?;
        decode(first, prefix_bits, &mut rest).map(|value| (value, rest.len()))
    }

    #[test]
    fn the_examples_of_rfc_7541_c_1_are_read_and_written() {
        let examples: [(usize, u32, &[u8]); 3] = [
            (10, 5, &[0b0000_1010]),
            (1337, 5, &[0x1f, 0x9a, 0x0a]),
            (42, 8, &[42]),
        ];
        for (value, prefix_bits, bytes) in examples {
            let mut out = Vec::new();
            encode(&mut out, 0, prefix_bits, value);
            assert_eq!(out, bytes);
            assert_eq!(decoded(bytes, prefix_bits), Ok((value, 0)));
        }
    }

    #[test]
    fn the_largest_integer_has_32_bits() {
        let mut out = Vec::new();
        encode(&mut out, 0x80, 7, u32::MAX as usize);
        assert_eq!(decoded(&out, 7), Ok((u32::MAX as usize, 0)));
        out.clear();
        encode(&mut out, 0x80, 7, u32::MAX as usize + 1);
        assert_eq!(decoded(&out, 7), Err(HpackError::IntegerOverflow));
    }

    #[test]
    fn an_integer_padded_with_zero_octets_is_refused() {
        assert_eq!(
            decoded(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x00], 7),
            Ok((127, 0))
        );
        assert_eq!(
            decoded(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 7),
            Err(HpackError::IntegerOverflow)
        );
    }

    #[test]
    fn an_integer_that_does_not_end_is_truncated() {
        assert_eq!(decoded(&[0x1f], 5), Err(HpackError::Truncated));
        assert_eq!(decoded(&[0x1f, 0x9a], 5), Err(HpackError::Truncated));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_no_byte_more(
            value in 0usize..=u32::MAX as usize, prefix_bits in 1u32..=8, tail: Vec<u8>,
        ) {
            let mut out = Vec::new();
            encode(&mut out, 0, prefix_bits, value);
            out.extend_from_slice(&tail);
            prop_assert_eq!(decoded(&out, prefix_bits), Ok((value, tail.len())));
        }
    }
}
