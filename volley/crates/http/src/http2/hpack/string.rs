//! String literals, plain or Huffman-coded (RFC 7541 §5.2).

use super::{HpackError, huffman, integer};

const HUFFMAN: u8 = 0x80;

/// Takes a string from `rest` and appends it, decoded, to `out`.
///
/// # Errors
///
/// Those of integers and of the Huffman code, and [`HpackError::Truncated`].
#[inline]
pub fn decode(rest: &mut &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let (&first, mut after) = rest.split_first().ok_or(HpackError::Truncated)?;
    let length = integer::decode(first, 7, &mut after)?;
    let (string, after) = after
        .split_at_checked(length)
        .ok_or(HpackError::Truncated)?;
    *rest = after;
    if first & HUFFMAN == 0 {
        out.extend_from_slice(string);
        return Ok(());
    }
    huffman::decode(string, out)
}

/// Appends a string literal in its shorter form.
pub fn encode(string: &[u8], out: &mut Vec<u8>) {
    let coded = huffman::encoded_len(string);
    if coded < string.len() {
        integer::encode(out, HUFFMAN, 7, coded);
        huffman::encode(string, out);
    } else {
        integer::encode(out, 0, 7, string.len());
        out.extend_from_slice(string);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(mut bytes: &[u8]) -> Result<(Vec<u8>, usize), HpackError> {
        let mut out = Vec::new();
        decode(&mut bytes, &mut out).map(|()| (out, bytes.len()))
    }

    #[test]
    fn the_shorter_form_is_written() {
        let mut out = Vec::new();
        encode(b"no-cache", &mut out);
        assert_eq!(out, [0x86, 0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]);
        out.clear();
        encode(b"\0\xff", &mut out);
        assert_eq!(out, *b"\x02\0\xff");
    }

    #[test]
    fn a_string_is_read_up_to_its_length() {
        assert_eq!(decoded(b"\x03abcdef"), Ok((b"abc".to_vec(), 3)));
        assert_eq!(decoded(b"\0"), Ok((Vec::new(), 0)));
        assert_eq!(decoded(b"\x80"), Ok((Vec::new(), 0)));
    }

    #[test]
    fn a_string_longer_than_the_block_is_truncated() {
        assert_eq!(decoded(b"\x04abc"), Err(HpackError::Truncated));
        assert_eq!(decoded(b"\x86\xa8"), Err(HpackError::Truncated));
        assert_eq!(decoded(b""), Err(HpackError::Truncated));
    }
}
