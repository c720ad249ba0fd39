//! Strings without their escapes.

/// A value as text: a string without quotes and escapes, all else as it is written. `None` if half of a surrogate pair
/// stands alone (RFC 8259 section 8.2): such a string has no text.
#[inline]
#[must_use]
pub fn text<'a>(value: &'a [u8], room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let Some(inside) = value
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""))
    else {
        return Some(value);
    };
    if !inside.contains(&b'\\') {
        return Some(inside);
    }
    room.clear();
    unescape(inside, room)?;
    Some(room)
}

/// Appends the inside of a string that was checked.
pub(super) fn unescape(mut inside: &[u8], out: &mut Vec<u8>) -> Option<()> {
    while let Some(at) = inside.iter().position(|byte| *byte == b'\\') {
        let (plain, rest) = inside.split_at_checked(at)?;
        out.extend_from_slice(plain);
        let (&kind, rest) = rest.get(1..)?.split_first()?;
        inside = rest;
        match kind {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let first = hex(inside)?;
                inside = inside.get(4..)?;
                let code = match first {
                    0xd800..0xdc00 => {
                        let second = hex(inside.strip_prefix(b"\\u")?)?;
                        inside = inside.get(6..)?;
                        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                        0x10000 + ((first - 0xd800) << 10) + low
                    }
                    _ => first,
                };
                let character = char::from_u32(code)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(inside);
    Some(())
}

/// The number of the first four digits.
pub(super) fn hex(digits: &[u8]) -> Option<u32> {
    let digits: &[u8; 4] = digits.first_chunk()?;
    digits.iter().try_fold(0, |sum, digit| {
        Some(sum * 16 + char::from(*digit).to_digit(16)?)
    })
}
