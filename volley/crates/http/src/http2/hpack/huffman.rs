//! The Huffman code for strings (RFC 7541 §5.2 and Appendix B).

mod code;
mod decode;

use code::{BITS, CODES};
pub use decode::decode;

/// The number of bytes that `encode` appends for `string`.
pub fn encoded_len(string: &[u8]) -> usize {
    let bits: usize = string
        .iter()
        .map(|&octet| usize::from(BITS[usize::from(octet)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends the Huffman code of `string`; ones fill up its last octet.
pub fn encode(string: &[u8], out: &mut Vec<u8>) {
    // The lowest `count` bits of `bits` wait to be written; never more than 7 + 30.
    let (mut bits, mut count) = (0u64, 0u32);
    for &octet in string {
        let length = u32::from(BITS[usize::from(octet)]);
        bits = bits << length | u64::from(CODES[usize::from(octet)]);
        count += length;
        while count >= 8 {
            count -= 8;
            out.push(low_octet(bits >> count));
        }
    }
    if count > 0 {
        out.push(low_octet(bits << (8 - count)) | u8::MAX >> count);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low octet is what is asked for"
)]
fn low_octet(bits: u64) -> u8 {
    bits as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_string_comes_back_from_its_code(string: Vec<u8>) {
            let mut coded = Vec::new();
            encode(&string, &mut coded);
            prop_assert_eq!(coded.len(), encoded_len(&string));
            let mut out = b"before".to_vec();
            decode(&coded, &mut out).unwrap();
            prop_assert_eq!(out.strip_prefix(b"before"), Some(&string[..]));
        }

        #[test]
        fn bytes_that_decode_are_the_only_code_of_their_string(coded: Vec<u8>) {
            let mut string = Vec::new();
            if decode(&coded, &mut string).is_ok() {
                let mut again = Vec::new();
                encode(&string, &mut again);
                prop_assert_eq!(again, coded);
            }
        }
    }

    #[test]
    fn strings_of_the_rfc_have_the_codes_of_the_rfc() {
        let examples: [(&[u8], &[u8]); 3] = [
            (b"302", &[0x64, 0x02]),
            (b"gzip", &[0x9b, 0xd9, 0xab]),
            (
                b"custom-key",
                &[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f],
            ),
        ];
        for (string, code) in examples {
            let mut out = Vec::new();
            encode(string, &mut out);
            assert_eq!(out, code);
        }
    }
}
