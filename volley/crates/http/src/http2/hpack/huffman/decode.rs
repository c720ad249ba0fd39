//! Decodes Huffman code to strings, one symbol per step.

use super::code::{BITS, CODES, COUNTS, FIRST, MAX_BITS, SYMBOLS};
use crate::http2::hpack::HpackError;

/// Codes up to this length are found in one step: those of all common header characters.
const FAST_BITS: usize = 10;

/// For every value of the first `FAST_BITS` bits: a symbol and the length of its code, or length 0 if the code is
/// longer.
static FAST: [(u8, u8); 1 << FAST_BITS] = fast();

/// The symbols, ordered by their codes. The last one, the end of the string, is not an octet and is left out.
static ORDERED: [u8; SYMBOLS - 1] = ordered();

/// Appends the string that `coded` stands for.
///
/// # Errors
///
/// [`HpackError::HuffmanEos`] and [`HpackError::HuffmanPadding`]. What was appended to `out` is then meaningless.
pub fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    out.reserve(coded.len() * 8 / 5 + 1);
    // The highest `count` bits of `bits` are read but not decoded; the bits below them are 0.
    let (mut bits, mut count) = (0u64, 0u32);
    let (chunks, tail) = coded.as_chunks::<4>();
    for chunk in chunks {
        bits |= u64::from(u32::from_be_bytes(*chunk)) << (32 - count);
        count += 32;
        while count >= 30 {
            let (symbol, length) = first_symbol(bits).ok_or(HpackError::HuffmanEos)?;
            out.push(symbol);
            bits <<= length;
            count -= length;
        }
    }
    for &octet in tail {
        bits |= u64::from(octet) << (56 - count);
        count += 8;
    }
    decode_tail(bits, count, out)
}

/// Decodes the last bits, at most 53. They end in padding: up to seven ones (RFC 7541 §5.2).
fn decode_tail(mut bits: u64, mut count: u32, out: &mut Vec<u8>) -> Result<(), HpackError> {
    loop {
        let ones_follow = bits | u64::MAX.checked_shr(count).unwrap_or(0);
        if count < 8 && ones_follow == u64::MAX {
            return Ok(());
        }
        let Some((symbol, length)) = first_symbol(ones_follow) else {
            let whole = count >= 30;
            return Err(if whole {
                HpackError::HuffmanEos
            } else {
                HpackError::HuffmanPadding
            });
        };
        if length > count {
            return Err(HpackError::HuffmanPadding);
        }
        out.push(symbol);
        bits <<= length;
        count -= length;
    }
}

/// The symbol whose code begins the bits, and the code's length. `None`: the end of the string.
#[inline]
fn first_symbol(bits: u64) -> Option<(u8, u32)> {
    let (symbol, length) = FAST[(bits >> (64 - FAST_BITS)) as usize];
    if length != 0 {
        return Some((symbol, u32::from(length)));
    }
    first_long_symbol(bits)
}

fn first_long_symbol(bits: u64) -> Option<(u8, u32)> {
    let mut shorter: u32 = COUNTS[..=FAST_BITS].iter().sum();
    for length in FAST_BITS + 1..=MAX_BITS {
        // Not below FIRST: a smaller number would start with a shorter code.
        let nth = (bits >> (64 - length)) as u32 - FIRST[length];
        if nth < COUNTS[length] {
            let symbol = ORDERED.get((shorter + nth) as usize)?;
            return Some((*symbol, length as u32));
        }
        shorter += COUNTS[length];
    }
    None
}

const fn fast() -> [(u8, u8); 1 << FAST_BITS] {
    let mut table = [(0, 0); 1 << FAST_BITS];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let bits = BITS[symbol] as usize;
        if bits <= FAST_BITS {
            let spare = FAST_BITS - bits;
            let first = (CODES[symbol] as usize) << spare;
            let mut i = 0;
            while i < 1 << spare {
                table[first + i] = (symbol as u8, bits as u8);
                i += 1;
            }
        }
        symbol += 1;
    }
    table
}

const fn ordered() -> [u8; SYMBOLS - 1] {
    let mut ordered = [0; SYMBOLS - 1];
    let (mut bits, mut filled) = (0, 0);
    while bits <= MAX_BITS {
        let mut symbol = 0;
        while symbol < SYMBOLS - 1 {
            if BITS[symbol] as usize == bits {
                ordered[filled] = symbol as u8;
                filled += 1;
            }
            symbol += 1;
        }
        bits += 1;
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, HpackError> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| out)
    }

    #[test]
    fn every_octet_is_decoded_wherever_in_a_byte_its_code_begins() {
        for octet in 0..=u8::MAX {
            for before in 0..8 {
                let mut string = vec![b'0'; before];
                string.extend_from_slice(&[octet, octet]);
                let mut coded = Vec::new();
                crate::http2::hpack::huffman::encode(&string, &mut coded);
                assert_eq!(decoded(&coded), Ok(string));
            }
        }
    }

    #[test]
    fn the_end_of_the_string_is_no_symbol_to_send() {
        // Alone, after "0", and with other symbols after it.
        for coded in [
            &[0xff, 0xff, 0xff, 0xff][..],
            &[0x07, 0xff, 0xff, 0xff, 0xff],
            &[0xff, 0xff, 0xff, 0xfc, 0, 0, 0, 0],
        ] {
            assert_eq!(decoded(coded), Err(HpackError::HuffmanEos), "{coded:x?}");
        }
    }

    #[test]
    fn a_whole_byte_of_padding_is_too_much() {
        for coded in [
            &[0xff][..],
            &[0x1f, 0xff],
            &[0x1f, 0xff, 0xff],
            &[0x1f, 0xff, 0xff, 0xff],
        ] {
            assert_eq!(
                decoded(coded),
                Err(HpackError::HuffmanPadding),
                "{coded:x?}"
            );
        }
        assert_eq!(decoded(&[0x1f]), Ok(b"a".to_vec()));
    }

    #[test]
    fn padding_other_than_ones_is_refused() {
        for coded in [&[0x18][..], &[0x1e], &[0x00, 0x00], &[0x07, 0xfe]] {
            assert_eq!(
                decoded(coded),
                Err(HpackError::HuffmanPadding),
                "{coded:x?}"
            );
        }
    }
}
