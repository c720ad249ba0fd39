//! The values of numbers and strings as they are written.

/// The value of a whole number: decimal, octal or hexadecimal.
pub(super) fn integer(text: &str) -> Option<u64> {
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(text.get(2..)?, 16).ok(),
        [b'0', _, ..] => u64::from_str_radix(text, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// The bytes of a string in quotes, its escapes resolved. The lexer has checked them.
pub(super) fn unescape(raw: &[u8], bytes: &mut Vec<u8>) {
    unescape_content(
        raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default(),
        bytes,
    );
}

/// The bytes of a text with escapes.
#[must_use]
pub fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    unescape_content(text.as_bytes(), &mut bytes);
    bytes
}

fn unescape_content(mut rest: &[u8], bytes: &mut Vec<u8>) {
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [kind, after @ ..] = rest else { return };
        rest = match kind {
            b'0'..=b'7' => {
                let (value, after) = digits(rest, 8, 3);
                // As in C, the high bits of `\777` are lost.
                bytes.push(value.to_le_bytes()[0]);
                after
            }
            b'x' | b'X' => {
                let (value, after) = digits(after, 16, 2);
                bytes.push(value.to_le_bytes()[0]);
                after
            }
            b'u' => unicode(after, 4, bytes),
            b'U' => unicode(after, 8, bytes),
            other => {
                bytes.push(match other {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b'f' => 0x0c,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 0x0b,
                    other => *other,
                });
                after
            }
        };
    }
}

/// The value of at most so many digits, and what follows them.
fn digits(text: &[u8], radix: u32, most: usize) -> (u32, &[u8]) {
    let (mut value, mut rest) = (0u32, text);
    for _ in 0..most {
        let [first, after @ ..] = rest else { break };
        let Some(digit) = char::from(*first).to_digit(radix) else {
            break;
        };
        (value, rest) = (value.wrapping_mul(radix).wrapping_add(digit), after);
    }
    (value, rest)
}

/// Writes a code point in UTF-8; two halves of a surrogate pair make one.
fn unicode<'a>(text: &'a [u8], length: usize, bytes: &mut Vec<u8>) -> &'a [u8] {
    let (mut point, mut rest) = digits(text, 16, length);
    if let (0xd800..=0xdbff, [b'\\', b'u', after @ ..]) = (point, rest) {
        let (low, after) = digits(after, 16, 4);
        if matches!(low, 0xdc00..=0xdfff) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            rest = after;
        }
    }
    match char::from_u32(point) {
        Some(character) => {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        // Half a pair, written as if it were a character. It is not UTF-8.
        None if point <= 0xffff => {
            let part = |shift: u32, mask: u32, mark: u32| ((point >> shift) & mask | mark) as u8;
            bytes.extend([
                part(12, 0xf, 0xe0),
                part(6, 0x3f, 0x80),
                part(0, 0x3f, 0x80),
            ]);
        }
        None => bytes.extend_from_slice(format!("\\U{point:08x}").as_bytes()),
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        unescape(raw.as_bytes(), &mut bytes);
        bytes
    }

    #[test]
    fn whole_numbers_have_three_notations() {
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("017"), Some(15));
        assert_eq!(integer("0xFf"), Some(255));
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer("18446744073709551616"), None);
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(text(r#""a\n\t\\\"\'\?""#), b"a\n\t\\\"'?");
        assert_eq!(text(r"'\0018\xfg\X4a'"), b"\x018\x0fgJ");
        assert_eq!(text(r"'\u00e9\U0001F600\ud83d\ude00'"), "é😀😀".as_bytes());
        assert_eq!(text(r"'\777'"), [255]);
        assert_eq!(text(r"'\ud800'"), [0xed, 0xa0, 0x80]);
        assert_eq!(text(r"'\U001fffff'"), br"\U001fffff");
    }
}
