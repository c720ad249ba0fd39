//! Percent-encoding (RFC 3986 §2.1).

/// Appends a byte as `%` and two hexadecimal digits.
#[inline]
pub fn push_encoded(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or_default();
    out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
}
