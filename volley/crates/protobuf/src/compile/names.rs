//! Names and texts that a descriptor derives from others.

/// `a_field_name` as `aFieldName`.
#[must_use]
pub fn json(name: &str) -> String {
    camel(name, false)
}

/// The name of the message that a map is made of.
pub(super) fn map_entry(name: &str) -> String {
    format!("{}Entry", camel(name, true))
}

fn camel(name: &str, mut capital: bool) -> String {
    let mut camel = String::with_capacity(name.len());
    for character in name.chars() {
        if character == '_' {
            capital = true;
        } else {
            camel.push(match capital {
                true => character.to_ascii_uppercase(),
                false => character,
            });
            capital = false;
        }
    }
    camel
}

/// The first choice for the oneof of a proto3 field with `optional`.
pub(super) fn synthetic_oneof(field: &str) -> String {
    match field.starts_with('_') {
        true => field.to_owned(),
        false => format!("_{field}"),
    }
}

/// The name of an enum's value without the enum's own name, `LikeThis`, as languages with scopes show it.
pub(super) fn enum_value(item: &str, value: &str) -> String {
    let prefix: Vec<u8> = item.bytes().filter(|byte| *byte != b'_').collect();
    let mut wanted = prefix.iter();
    let mut rest = value.bytes().enumerate();
    let mut start = 0;
    let stripped = loop {
        let Some(letter) = wanted.as_slice().first() else {
            break true;
        };
        match rest.next() {
            Some((_, b'_')) => {}
            Some((index, byte)) if byte.eq_ignore_ascii_case(letter) => {
                wanted.next();
                start = index + 1;
            }
            _ => break false,
        }
    };
    let tail = value
        .get(start..)
        .unwrap_or_default()
        .trim_start_matches('_');
    let kept = if stripped && !tail.is_empty() {
        tail
    } else {
        value
    };
    camel(&kept.to_ascii_lowercase(), true)
}

/// Bytes as C writes them in a string.
pub(super) fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'"' => text.push_str("\\\""),
            b'\'' => text.push_str("\\'"),
            b'\\' => text.push_str("\\\\"),
            0x20..=0x7e => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text
}

/// The shortest of two lengths that reads as the same number.
pub(super) fn double(value: f64) -> String {
    let short = general(value, 15);
    match short.parse::<f64>() {
        Ok(read) if read == value || value.is_nan() => short,
        _ => general(value, 17),
    }
}

/// The same for 32 bits. Of those that are too small for all digits, protoc always writes the longer one.
pub(super) fn float(value: f32) -> String {
    let short = general(value.into(), 6);
    match short.parse::<f32>() {
        Ok(read) if (read == value && !value.is_subnormal()) || value.is_nan() => short,
        _ => general(value.into(), 9),
    }
}

/// A number as C's `%g` writes it.
fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let digits = i32::try_from(digits).unwrap_or(i32::MAX);
    if power < -4 || power >= digits {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), power.abs());
    }
    let decimals = usize::try_from(digits - 1 - power).unwrap_or_default();
    trim(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_derived() {
        assert_eq!(json("a_field__name_1x_"), "aFieldName1x");
        assert_eq!(json("_Up"), "Up");
        assert_eq!(map_entry("a_b1c"), "AB1cEntry");
        assert_eq!(synthetic_oneof("_x"), "_x");
    }

    #[test]
    fn the_prefix_of_a_value_is_dropped() {
        assert_eq!(enum_value("FooBar", "FOO_BAR_BAZ_QUX"), "BazQux");
        assert_eq!(enum_value("Foo", "fo_o_x"), "X");
        assert_eq!(enum_value("Foo", "FOO"), "Foo");
        assert_eq!(enum_value("Foo", "A_B"), "AB");
    }

    #[test]
    fn bytes_are_escaped_as_in_c() {
        assert_eq!(escape(b"\xff\x012\n\"'\\?"), "\\377\\0012\\n\\\"\\'\\\\?");
    }

    #[test]
    fn numbers_are_as_short_as_c_writes_them() {
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(16_777_217.0), "16777216");
        assert_eq!(float(1e10), "1e+10");
        assert_eq!(float(1e-37), "1e-37");
        assert_eq!(float(-7e-45), "-7.00649232e-45");
        assert_eq!(double(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(double(1e15), "1e+15");
        assert_eq!(double(-0.0), "-0");
        assert_eq!(double(1e-5), "1e-05");
        assert_eq!(double(123456.0), "123456");
    }
}
