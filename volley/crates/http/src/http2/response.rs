//! Whether a response's fields are well-formed (RFC 9113 §8.1, §8.2, §8.3).

use super::hpack::HeaderList;

/// Why a field section is malformed.
pub type Reason = &'static str;

/// What a response head says about the frames that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseHead {
    /// 1xx: the final head is still to come.
    Informational,
    /// The final head; with the length of the content, if it has a `content-length`.
    Final { content_length: Option<u64> },
}

/// Checks a head: `:status` comes first and is the only pseudo-header. The first `known` fields were checked before.
pub fn check_head(list: &HeaderList, known: usize) -> Result<ResponseHead, Reason> {
    let mut fields = list.iter();
    let status = match fields.next() {
        Some((b":status", value)) => status(value)?,
        Some((name, _)) if name.first() == Some(&b':') => return Err(UNKNOWN_PSEUDO),
        _ => return Err(NO_STATUS_FIRST),
    };
    let mut content_length = None;
    let mut left = known.saturating_sub(1);
    for (name, value) in fields {
        match left.checked_sub(1) {
            Some(less) => left = less,
            None => check_field(name, value)?,
        }
        if name == b"content-length" {
            let length = length(value)?;
            if content_length.is_some_and(|before| before != length) {
                return Err("the response has two different `content-length` fields");
            }
            content_length = Some(length);
        }
    }
    match status {
        // RFC 9113 §8.6: HTTP/2 does not switch protocols.
        101 => Err("the response has the status 101, which http/2 does not allow"),
        100..200 => Ok(ResponseHead::Informational),
        // These never have content, whatever `content-length` says (RFC 9110 §8.6).
        204 | 304 => Ok(ResponseHead::Final {
            content_length: None,
        }),
        _ => Ok(ResponseHead::Final { content_length }),
    }
}

/// Checks trailers: they have no pseudo-headers. The first `known` fields were checked before.
pub fn check_trailers(list: &HeaderList, known: usize) -> Result<(), Reason> {
    list.iter()
        .skip(known)
        .try_for_each(|(name, value)| check_field(name, value))
}

/// The caller takes them off, and checks again.
const BLANKS: Reason = "a field's value begins or ends with white space";
const NO_STATUS_FIRST: Reason = "the response does not begin with `:status`";
const UNKNOWN_PSEUDO: Reason = "the response has a pseudo-header other than `:status`";

fn status(value: &[u8]) -> Result<u16, Reason> {
    match *value {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => Ok([a, b, c]
            .iter()
            .fold(0, |n, digit| n * 10 + u16::from(digit - b'0'))),
        _ => Err("the response's `:status` is not a number of three digits"),
    }
}

/// The number in a `content-length`.
pub(crate) fn length(value: &[u8]) -> Result<u64, Reason> {
    match number(value) {
        Err(reason) => repeated(value).ok_or(reason),
        length => length,
    }
}

fn number(value: &[u8]) -> Result<u64, Reason> {
    const REASON: Reason = "the response's `content-length` is not a number";
    if value.is_empty() {
        return Err(REASON);
    }
    value.iter().try_fold(0u64, |n, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        let tens = n.checked_mul(10).ok_or(REASON)?;
        digit
            .and_then(|digit| tens.checked_add(digit))
            .ok_or(REASON)
    })
}

/// A length that was repeated in one field: `5, 5` (RFC 9110 §8.6).
#[cold]
fn repeated(value: &[u8]) -> Option<u64> {
    let mut lengths = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let first = lengths.next()?;
    lengths.all(|one| one == first).then_some(())?;
    number(first).ok()
}

/// RFC 9113 §8.2.1 and §8.2.2: checks a regular field.
fn check_field(name: &[u8], value: &[u8]) -> Result<(), Reason> {
    let good_name = name
        .iter()
        .fold(true, |good, &byte| good & NAME_BYTE[usize::from(byte)]);
    if !good_name || name.is_empty() {
        return Err(bad_name(name));
    }
    let bad_value = value
        .iter()
        .fold(false, |bad, byte| bad | matches!(byte, 0 | b'\n' | b'\r'));
    if bad_value {
        return Err("a field's value contains NUL, CR or LF");
    }
    if let (Some(b' ' | b'\t'), _) | (_, Some(b' ' | b'\t')) = (value.first(), value.last()) {
        return Err(BLANKS);
    }
    match name {
        b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
            Err("a field is allowed only in http/1.1")
        }
        _ => Ok(()),
    }
}

#[cold]
fn bad_name(name: &[u8]) -> Reason {
    match name {
        [] => "a field has no name",
        [b':', ..] => "a pseudo-header stands where only regular fields are allowed",
        _ if name.iter().any(u8::is_ascii_uppercase) => "a field's name is not in lower case",
        _ => "a field's name contains an invalid character",
    }
}

/// Bytes that a field name may contain: visible ASCII without capitals and colons (RFC 9113
/// §8.2.1).
const NAME_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        table[byte] = !(byte as u8).is_ascii_uppercase() && byte != b':' as usize;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn list(fields: &[(&str, &str)]) -> HeaderList {
        let mut list = HeaderList::default();
        for (name, value) in fields {
            list.push(name.as_bytes(), value.as_bytes());
        }
        list
    }

    #[test]
    fn a_head_begins_with_a_status_of_three_digits() {
        let good = list(&[(":status", "200"), ("content-type", "application/grpc")]);
        let content_length = None;
        assert_eq!(
            check_head(&good, 0),
            Ok(ResponseHead::Final { content_length })
        );
        for bad in ["", "20", "2000", "2x0", "-20", "012"] {
            assert!(check_head(&list(&[(":status", bad)]), 0).is_err(), "{bad}");
        }
        assert_eq!(check_head(&list(&[]), 0), Err(NO_STATUS_FIRST));
        assert_eq!(
            check_head(&list(&[("a", "b"), (":status", "200")]), 0),
            Err(NO_STATUS_FIRST)
        );
        assert_eq!(check_head(&list(&[(":path", "/")]), 0), Err(UNKNOWN_PSEUDO));
        assert!(check_head(&list(&[(":status", "200"), (":status", "200")]), 0).is_err());
    }

    #[test]
    fn one_hundred_statuses_are_informational_but_101_is_refused() {
        assert_eq!(
            check_head(&list(&[(":status", "103")]), 0),
            Ok(ResponseHead::Informational)
        );
        assert!(check_head(&list(&[(":status", "101")]), 0).is_err());
    }

    #[test]
    fn names_and_values_follow_section_8_2_1() {
        let fine = [("grpc-status", "0"), ("x", ""), ("a_b.c!~", "a b\tc\u{e9}")];
        assert_eq!(check_trailers(&list(&fine), 0), Ok(()));
        for name in ["Grpc", "a b", "", ":status", "a:", "\u{e9}", "a\0", "\x7f"] {
            assert!(
                check_trailers(&list(&[(name, "x")]), 0).is_err(),
                "{name:?}"
            );
        }
        for value in ["a\0", "\r", "a\nb", " a", "a\t", " "] {
            assert!(
                check_trailers(&list(&[("x", value)]), 0).is_err(),
                "{value:?}"
            );
        }
        assert!(check_trailers(&list(&[("transfer-encoding", "chunked")]), 0).is_err());
    }

    #[test]
    fn a_content_length_is_one_number() {
        let length = |values: &[&str]| {
            let mut fields = vec![(":status", "200")];
            fields.extend(values.iter().map(|value| ("content-length", *value)));
            check_head(&list(&fields), 0)
        };
        let content_length = Some(42);
        assert_eq!(length(&["42"]), Ok(ResponseHead::Final { content_length }));
        assert_eq!(
            length(&["42", "42"]),
            Ok(ResponseHead::Final { content_length })
        );
        assert_eq!(
            length(&["42, 42,42", "42"]),
            Ok(ResponseHead::Final { content_length })
        );
        for bad in [
            &["42", "43"][..],
            &[""],
            &["4x"],
            &["+4"],
            &["42, 43"],
            &["42,"],
            &["99999999999999999999"],
        ] {
            assert!(length(bad).is_err(), "{bad:?}");
        }
    }
}
