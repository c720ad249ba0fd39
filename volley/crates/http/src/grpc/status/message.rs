//! The text of `grpc-message`.

/// How many bytes of a text are kept: some servers send whole stack traces.
const MAX_LEN: usize = 1024;

/// The whole text, whatever its length: see [`decode`].
pub fn decode_whole(encoded: &[u8]) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(encoded.len()), encoded);
    while let Some((byte, after)) = next(rest) {
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Undoes percent-encoding (gRPC over HTTP/2, "Percent-Encoded").
///
/// A `%` without two hex digits after it stands for itself. Text that is not UTF-8 becomes `�`. Longer texts are cut
/// and end in `…`.
pub fn decode(encoded: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(encoded.len().min(MAX_LEN));
    let mut rest = encoded;
    // Four bytes more than are kept, so that a character that fits is not cut.
    while let Some((byte, after)) = next(rest).filter(|_| bytes.len() < MAX_LEN + 4) {
        bytes.push(byte);
        rest = after;
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    let is_cut = text.len() > MAX_LEN;
    while text.len() > MAX_LEN {
        text.pop();
    }
    if is_cut {
        text.push('…');
    }
    text
}

/// The first decoded byte, and the rest.
fn next(encoded: &[u8]) -> Option<(u8, &[u8])> {
    if let [b'%', high, low, after @ ..] = encoded
        && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
    {
        return Some((high << 4 | low, after));
    }
    encoded.split_first().map(|(byte, after)| (*byte, after))
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percent_signs_with_two_hex_digits_are_decoded_and_others_stand_for_themselves() {
        assert_eq!(decode(b"a%20b%E2%82%ac%25"), "a b€%");
        assert_eq!(decode(b"100%, %zz %4"), "100%, %zz %4");
        assert_eq!(
            decode(b"%2541"),
            "%41",
            "what was decoded is not decoded again"
        );
        assert_eq!(decode(b""), "");
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced() {
        assert_eq!(decode(b"a%FFb\xfe"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_text_of_1024_bytes_is_kept_and_a_longer_one_is_cut_between_characters() {
        assert_eq!(decode(&[b'x'; 1024]), "x".repeat(1024));
        assert_eq!(decode(&[b'x'; 1025]), "x".repeat(1024) + "…");
        assert_eq!(decode("€".repeat(500).as_bytes()), "€".repeat(341) + "…");
        assert_eq!(
            decode(("x".repeat(1022) + "€").as_bytes()),
            "x".repeat(1022) + "…"
        );
    }

    #[test]
    fn a_whole_text_is_not_cut() {
        let whole = [&b"%41"[..], &[b'x'; 2000], b"%zz\xff"].concat();
        let expected = format!("A{}%zz\u{fffd}", "x".repeat(2000));
        assert_eq!(decode_whole(&whole), expected);
    }

    proptest! {
        #[test]
        fn every_text_comes_back_from_its_percent_encoding(text in "\\PC{0,80}") {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(&decode(encoded.as_bytes()), &text);
            prop_assert_eq!(decode_whole(encoded.as_bytes()), text);
        }

        #[test]
        fn arbitrary_bytes_give_a_text_of_bounded_length(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            prop_assert!(decode(&bytes).len() <= MAX_LEN + "…".len());
        }
    }
}
