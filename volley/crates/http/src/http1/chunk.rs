//! The first line of a chunk (RFC 9112 §7.1).

use super::error::Violation;

/// The longest first line, extensions included, in bytes.
pub const MOST_LINE: usize = 1024;

/// A chunk's size in bytes from its first line, with the end of that. Extensions are ignored.
///
/// # Errors
///
/// The size is missing, not hexadecimal, or more than 64 bits; or something other than an extension follows it.
#[inline]
pub fn size(line: &[u8]) -> Result<u64, Violation> {
    let mut size = 0u64;
    let mut digits = 0;
    for byte in line {
        let Some(digit) = char::from(*byte).to_digit(16) else {
            break;
        };
        // The four highest bits would be lost.
        if size >> 60 != 0 {
            return Err(Violation::ChunkSize);
        }
        size = size << 4 | u64::from(digit);
        digits += 1;
    }
    let rest = line.get(digits..).unwrap_or_default();
    if digits == 0 || (rest != b"\r\n" && !is_extension(rest)) {
        return Err(Violation::ChunkSize);
    }
    Ok(size)
}

/// `;` after optional white space, and then no control character before the end of the line.
#[cold]
fn is_extension(rest: &[u8]) -> bool {
    let rest = rest.strip_suffix(b"\n").unwrap_or_default();
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    let mut after_space = rest.iter().skip_while(|byte| matches!(byte, b' ' | b'\t'));
    matches!(after_space.next(), None | Some(b';')) && !rest.iter().any(is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_begins_with_its_size_in_hexadecimal() {
        for (line, expected) in [
            ("0\r\n", 0),
            ("1a\r\n", 26),
            ("1A\r\n", 26),
            ("000000000000000000000000000f\r\n", 15),
            ("ffffffffffffffff\r\n", u64::MAX),
            ("5;name=value\r\n", 5),
            ("5 ; name=\"a b\"\r\n", 5),
            ("5;\r\n", 5),
            ("5  \r\n", 5),
            ("5\n", 5),
            ("5;a\n", 5),
        ] {
            assert_eq!(size(line.as_bytes()), Ok(expected), "{line:?}");
        }
    }

    #[test]
    fn whatever_is_not_a_size_is_refused() {
        for line in [
            "\r\n",
            ";a\r\n",
            "-1\r\n",
            "+1\r\n",
            " 1\r\n",
            "0x1\r\n",
            "1g\r\n",
            "1 2\r\n",
            "1,1\r\n",
            "1;\r1\r\n",
            "1\r\r\n",
            "1;a\0b\r\n",
            "10000000000000000\r\n",
        ] {
            let refused = Err(Violation::ChunkSize);
            assert_eq!(size(line.as_bytes()), refused, "{line:?}");
        }
    }
}
