//! Values of JSON that are no lists and no objects, as values of fields.

use std::borrow::Cow;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use buffa_descriptor::{MapKey, ScalarType, Value};
use serde_json::{Number, Value as Json};

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

/// The value of a field.
pub(super) fn scalar(json: Json, kind: ScalarType) -> Result<Value, &'static str> {
    Ok(match kind {
        ScalarType::Double => Value::F64(double(&json)?),
        ScalarType::Float => Value::F32(float(&json)?),
        ScalarType::Int32 | ScalarType::Sint32 | ScalarType::Sfixed32 => {
            Value::I32(integer(&json)?)
        }
        ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => {
            Value::I64(integer(&json)?)
        }
        ScalarType::Uint32 | ScalarType::Fixed32 => Value::U32(integer(&json)?),
        ScalarType::Uint64 | ScalarType::Fixed64 => Value::U64(integer(&json)?),
        ScalarType::Bool => Value::Bool(json.as_bool().ok_or("`true` or `false` is needed")?),
        ScalarType::String => match json {
            Json::String(text) => Value::String(text),
            _ => return Err("text is needed"),
        },
        ScalarType::Bytes => {
            let bytes = json.as_str().and_then(bytes_of);
            Value::Bytes(bytes.ok_or("base64 is needed")?)
        }
    })
}

pub(super) fn integer<N: TryFrom<i128>>(json: &Json) -> Result<N, &'static str> {
    let whole = match json {
        Json::Number(number) => {
            let whole = number.as_i128();
            whole.or_else(|| number.as_f64().and_then(whole_of))
        }
        Json::String(text) if is_number(text) => {
            let whole = text.parse().ok();
            whole.or_else(|| text.parse().ok().and_then(whole_of))
        }
        _ => None,
    };
    let whole = whole.ok_or(WHOLE)?;
    let is_signed = N::try_from(-1).is_ok();
    N::try_from(whole).map_err(|_| match (whole < 0, is_signed) {
        (true, true) => SMALL,
        (true, false) => NEGATIVE,
        (false, _) => LARGE,
    })
}

fn double(json: &Json) -> Result<f64, &'static str> {
    match json {
        Json::String(text) => text_float(text),
        number => number.as_f64().ok_or(NUMBER),
    }
}

fn float(json: &Json) -> Result<f32, &'static str> {
    match json {
        Json::Number(number) => float_of_number(number).ok_or(LARGE),
        Json::String(text) => text_float(text),
        _ => Err(NUMBER),
    }
}

/// The float that is nearest to a number; `None` if it is too large. Integers are rounded once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a float is the nearest one"
)]
#[must_use]
pub fn float_of_number(number: &Number) -> Option<f32> {
    let value = match number.as_i128() {
        Some(value) => value as f32,
        None => number.as_f64()? as f32,
    };
    value.is_finite().then_some(value)
}

fn text_float<F: FromStr + Copy + Into<f64>>(text: &str) -> Result<F, &'static str> {
    match float_of(text) {
        Some(value) => Ok(value),
        None if is_number(text) => Err(LARGE),
        None => Err(NUMBER),
    }
}

pub(super) fn map_key(kind: ScalarType, text: &str) -> Result<MapKey, &'static str> {
    let json = Json::from(text);
    Ok(match kind {
        ScalarType::String => MapKey::String(text.to_owned()),
        ScalarType::Bool => match text {
            "true" => MapKey::Bool(true),
            "false" => MapKey::Bool(false),
            _ => return Err("a key of the map is `true` or `false`"),
        },
        ScalarType::Int64 | ScalarType::Sint64 | ScalarType::Sfixed64 => {
            MapKey::I64(integer(&json)?)
        }
        ScalarType::Uint32 | ScalarType::Fixed32 => MapKey::U32(integer(&json)?),
        ScalarType::Uint64 | ScalarType::Fixed64 => MapKey::U64(integer(&json)?),
        _ => MapKey::I32(integer(&json)?),
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
