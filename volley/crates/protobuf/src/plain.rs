//! Values of JSON that are no lists and no objects, as values of fields.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use buffa_descriptor::{MapKey, ScalarType, Value};
use serde::de::{Deserializer, Error, Visitor};

/// Standard base64, with or without its padding.
pub const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const WHOLE: &str = "a whole number is needed";
const NUMBER: &str = "a number is needed";
const LARGE: &str = "the number does not fit the field: it is too large";
const SMALL: &str = "the number does not fit the field: it is too small";
const NEGATIVE: &str = "the number does not fit the field: it is below 0";

/// A value of JSON that is no list and no object.
pub(super) enum Plain {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
}

impl Plain {
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        json: D,
        expected: &'static str,
    ) -> Result<Self, D::Error> {
        json.deserialize_any(PlainVisitor(expected))
    }

    pub(super) fn scalar(self, kind: ScalarType) -> Result<Value, &'static str> {
        Ok(match kind {
            ScalarType::Double => Value::F64(self.double()?),
            ScalarType::Float => Value::F32(self.float()?),
            ScalarType::Int32 | ScalarType::Sint32 | ScalarType::Sfixed32 => {
                Value::I32(self.integer()?)
            }
            ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => {
                Value::I64(self.integer()?)
            }
            ScalarType::Uint32 | ScalarType::Fixed32 => Value::U32(self.integer()?),
            ScalarType::Uint64 | ScalarType::Fixed64 => Value::U64(self.integer()?),
            ScalarType::Bool => match self {
                Self::Bool(value) => Value::Bool(value),
                _ => return Err("`true` or `false` is needed"),
            },
            ScalarType::String => match self {
                Self::Text(text) => Value::String(text),
                _ => return Err("text is needed"),
            },
            ScalarType::Bytes => match self {
                Self::Text(text) => Value::Bytes(bytes_of(&text).ok_or("base64 is needed")?),
                _ => return Err("base64 is needed"),
            },
        })
    }

    pub(super) fn integer<N: TryFrom<i128>>(&self) -> Result<N, &'static str> {
        let whole = match self {
            Self::Unsigned(value) => (*value).into(),
            Self::Signed(value) => (*value).into(),
            Self::Float(value) => whole_of(*value).ok_or(WHOLE)?,
            Self::Text(text) => match is_number(text) {
                true => match text.parse() {
                    Ok(whole) => whole,
                    Err(_) => text.parse().ok().and_then(whole_of).ok_or(WHOLE)?,
                },
                false => return Err(WHOLE),
            },
            Self::Null | Self::Bool(_) => return Err(WHOLE),
        };
        let is_signed = N::try_from(-1).is_ok();
        N::try_from(whole).map_err(|_| match (whole < 0, is_signed) {
            (true, true) => SMALL,
            (true, false) => NEGATIVE,
            (false, _) => LARGE,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "a double is the nearest one")]
    fn double(&self) -> Result<f64, &'static str> {
        match self {
            Self::Unsigned(value) => Ok(*value as f64),
            Self::Signed(value) => Ok(*value as f64),
            Self::Float(value) => Ok(*value),
            Self::Text(text) => text_float(text),
            Self::Null | Self::Bool(_) => Err(NUMBER),
        }
    }

    /// Integers and text are rounded once.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a float is the nearest one"
    )]
    fn float(&self) -> Result<f32, &'static str> {
        let value = match self {
            Self::Unsigned(value) => *value as f32,
            Self::Signed(value) => *value as f32,
            Self::Float(value) => *value as f32,
            Self::Text(text) => return text_float(text),
            Self::Null | Self::Bool(_) => return Err(NUMBER),
        };
        match value.is_finite() {
            true => Ok(value),
            false => Err(LARGE),
        }
    }
}

fn text_float<F: FromStr + Copy + Into<f64>>(text: &str) -> Result<F, &'static str> {
    match float_of(text) {
        Some(value) => Ok(value),
        None if is_number(text) => Err(LARGE),
        None => Err(NUMBER),
    }
}

struct PlainVisitor(&'static str);

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Plain;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_unit<E: Error>(self) -> Result<Plain, E> {
        Ok(Plain::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Plain, E> {
        Ok(Plain::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Plain, E> {
        Ok(Plain::Unsigned(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Plain, E> {
        Ok(Plain::Signed(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Plain, E> {
        Ok(Plain::Float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Plain, E> {
        Ok(Plain::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Plain, E> {
        Ok(Plain::Text(text))
    }
}

pub(super) fn map_key(kind: ScalarType, text: &str) -> Result<MapKey, &'static str> {
    let plain = Plain::Text(text.to_owned());
    Ok(match kind {
        ScalarType::String => MapKey::String(text.to_owned()),
        ScalarType::Bool => match text {
            "true" => MapKey::Bool(true),
            "false" => MapKey::Bool(false),
            _ => return Err("a key of the map is `true` or `false`"),
        },
        ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => {
            MapKey::I64(plain.integer()?)
        }
        ScalarType::Uint32 | ScalarType::Fixed32 => MapKey::U32(plain.integer()?),
        ScalarType::Uint64 | ScalarType::Fixed64 => MapKey::U64(plain.integer()?),
        _ => MapKey::I32(plain.integer()?),
    })
}

/// The least int64. JSON that has it is read as an integer: a float of this value stood for one further down.
const LEAST: f64 = -9_223_372_036_854_775_808.0;

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is cut off is too large for any field"
)]
fn whole_of(value: f64) -> Option<i128> {
    let is_whole = value.fract() == 0.0;
    is_whole.then_some(value as i128 - i128::from(value == LEAST))
}

/// Whether text is a number of JSON, with nothing around it.
fn is_number(text: &str) -> bool {
    let first = text.trim_start_matches('-').bytes().next();
    let last = text.bytes().next_back();
    let digits = [first, last]
        .iter()
        .all(|byte| byte.is_some_and(|byte| byte.is_ascii_digit()));
    digits && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The float or double of a text in JSON; `None` if it is none, or too large.
pub fn float_of<F: FromStr + Copy + Into<f64>>(text: &str) -> Option<F> {
    if matches!(text, "NaN" | "Infinity" | "-Infinity") {
        return text.parse().ok();
    }
    let value = is_number(text).then(|| text.parse().ok()).flatten();
    value.filter(|value: &F| (*value).into().is_finite())
}

/// The bytes of base64 in either alphabet.
pub fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let standard = match text.contains(['-', '_']) {
        true => Cow::Owned(text.replace('-', "+").replace('_', "/")),
        false => Cow::Borrowed(text),
    };
    LENIENT.decode(standard.as_bytes()).ok()
}
