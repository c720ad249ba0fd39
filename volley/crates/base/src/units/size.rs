//! Sizes in bytes, as people write them: `65535`, `42 MB`, `16MiB`.

use thiserror::Error;

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    #[error(
        "a size is a number of bytes with an optional unit, such as `65535`, `4MiB` or `42 MB`"
    )]
    NoNumber,
    #[error(
        "`{0}` is not a unit of size: use kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024)"
    )]
    Unit(String),
    #[error("the size must be from 1 byte to 2147483647 bytes (2 GiB - 1)")]
    OutOfRange,
}

/// Reads a size in bytes, at least 1 and below 2 GiB. That is the limit of HTTP/2 windows (RFC 9113
/// §6.9.1) and, in practice, of gRPC messages.
pub fn parse(text: &str) -> Result<u32, SizeError> {
    let bytes = bytes(text)?;
    match (1.0..=f64::from(i32::MAX)).contains(&bytes) {
        // In range and positive, so the cast drops only the fraction.
        true => Ok(bytes as u32),
        false => Err(SizeError::OutOfRange),
    }
}

fn bytes(text: &str) -> Result<f64, SizeError> {
    let text = text.trim();
    let is_unit = |c: char| !c.is_ascii_digit() && c != '.' && c != ',';
    let (number, unit) = text.split_at(text.find(is_unit).unwrap_or(text.len()));
    let number = number.replace(',', "").parse::<f64>();
    Ok(number.map_err(|_| SizeError::NoNumber)? * factor(unit.trim())?)
}

/// The same for a limit: more than the most means the most.
pub fn limit(text: &str) -> Result<u32, SizeError> {
    match bytes(text)? {
        bytes if bytes > f64::from(i32::MAX) => Ok(i32::MAX as u32),
        _ => parse(text),
    }
}

fn factor(unit: &str) -> Result<f64, SizeError> {
    match unit.to_ascii_lowercase().as_str() {
        "" | "b" => Ok(1.0),
        "k" | "kb" => Ok(1e3),
        "m" | "mb" => Ok(1e6),
        "g" | "gb" => Ok(1e9),
        "ki" | "kib" => Ok(1024.0),
        "mi" | "mib" => Ok(1_048_576.0),
        "gi" | "gib" => Ok(1_073_741_824.0),
        _ => Err(SizeError::Unit(unit.to_owned())),
    }
}

/// For serde: a number of bytes, or text such as `16MiB`.
pub mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Bytes(u32),
        Text(String),
    }

    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(bytes: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(*bytes)
    }

    /// # Errors
    ///
    /// If it is no size.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        match Written::deserialize(from)? {
            Written::Bytes(bytes) => super::parse(&bytes.to_string()),
            Written::Text(text) => super::parse(&text),
        }
        .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_decimal_and_binary_units() {
        for (text, bytes) in [
            ("1", 1),
            ("65535", 65_535),
            ("65,535", 65_535),
            ("42 MB", 42_000_000),
            ("42mib", 44_040_192),
            ("1.5k", 1_500),
            ("0.5 KiB", 512),
            ("1gi", 1 << 30),
            ("2147483647b", i32::MAX as u32),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn a_limit_beyond_what_can_be_sent_is_the_most() {
        assert_eq!(limit("4GB"), Ok(i32::MAX as u32));
        assert_eq!(limit("2000mib"), Ok(2_097_152_000));
        assert_eq!(limit("0"), Err(SizeError::OutOfRange));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        assert_eq!(parse("12 XB"), Err(SizeError::Unit("XB".into())));
        for text in ["", "MB", "1.2.3", "-1"] {
            assert_eq!(parse(text), Err(SizeError::NoNumber), "{text:?}");
        }
        for text in ["0", "0.2", "2GiB", "99999999999999"] {
            assert_eq!(parse(text), Err(SizeError::OutOfRange), "{text}");
        }
    }
}
