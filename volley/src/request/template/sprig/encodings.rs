//! Encodings, checksums, and JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotmpl::{TemplateError, Value};
use ring::digest;

use super::args::{Args, Entries, Functions, Outcome, string};

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub fn add(all: &mut Functions) {
    all.add(&["b64enc"], |args| string(STANDARD.encode(args.text(0)?)));
    all.add(&["b64dec"], |args| {
        let bytes = STANDARD
            .decode(args.text(0)?)
            .map_err(|error| args.wrong(error))?;
        string(String::from_utf8_lossy(&bytes))
    });
    all.add(&["b32enc"], |args| string(base32(args.text(0)?.as_bytes())));
    all.add(&["b32dec"], |args| {
        let bytes = from_base32(&args.text(0)?).ok_or_else(|| args.wrong("takes base32"))?;
        string(String::from_utf8_lossy(&bytes))
    });
    all.add(&["sha1sum"], |args| {
        sum(args, &digest::SHA1_FOR_LEGACY_USE_ONLY)
    });
    all.add(&["sha256sum"], |args| sum(args, &digest::SHA256));
    all.add(&["sha512sum"], |args| sum(args, &digest::SHA512));
    all.add(&["adler32sum"], |args| {
        let fold = |(a, b): (u32, u32), byte: u8| {
            let a = (a + u32::from(byte)) % 65_521;
            (a, (b + a) % 65_521)
        };
        let (a, b) = args.text(0)?.bytes().fold((1, 0), fold);
        string((b << 16 | a).to_string())
    });
    all.add(
        &["toJson", "mustToJson", "toRawJson", "mustToRawJson"],
        |args| string(json(args.at(0)?).to_string()),
    );
    all.add(&["toPrettyJson", "mustToPrettyJson"], |args| {
        string(format!("{:#}", json(args.at(0)?)))
    });
    all.add(&["fromJson", "mustFromJson"], |args| {
        let value = serde_json::from_str(&args.text(0)?);
        value
            .map(|value| from_json(&value))
            .map_err(|error| args.wrong(error))
    });
}

fn sum(args: &Args, algorithm: &'static digest::Algorithm) -> Outcome {
    let sum = digest::digest(algorithm, args.text(0)?.as_bytes());
    string(
        sum.as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// RFC 4648 §6.
fn base32(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let bits = (0..5).fold(0_u64, |bits, at| {
            bits << 8 | u64::from(chunk.get(at).copied().unwrap_or(0))
        });
        let used = (chunk.len() * 8).div_ceil(5);
        for place in 0..8 {
            let digit = (bits >> (35 - 5 * place)) & 31;
            let symbol = BASE32.get(usize::try_from(digit).unwrap_or(0));
            out.push(if place < used {
                symbol.copied().map_or('=', char::from)
            } else {
                '='
            });
        }
    }
    out
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut out) = (0_u64, 0, Vec::new());
    for symbol in text.trim_end_matches('=').bytes() {
        let digit = BASE32.iter().position(|known| *known == symbol)?;
        bits = (bits << 5 | digit as u64) & 0xffff;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(out)
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Nil | Value::Function(_) => serde_json::Value::Null,
        Value::Bool(on) => (*on).into(),
        Value::Int(int) => (*int).into(),
        Value::Uint(int) => (*int).into(),
        Value::Float(float) => (*float).into(),
        Value::String(text) => text.as_ref().into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key.to_string(), json(value)));
            serde_json::Value::Object(entries.collect())
        }
    }
}

fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(on) => Value::Bool(*on),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().unwrap_or(0.0)),
        },
        serde_json::Value::String(text) => Value::String(text.as_str().into()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key.as_str().into(), from_json(value)));
            Value::Map(entries.collect::<Entries>().into())
        }
    }
}

/// Regular expressions, which Go and Rust write alike.
pub fn add_regex(all: &mut Functions) {
    all.add(&["regexMatch", "mustRegexMatch"], |args| {
        Ok(Value::Bool(regex(args)?.is_match(&args.text(1)?)))
    });
    all.add(&["regexFind", "mustRegexFind"], |args| {
        let text = args.text(1)?;
        string(regex(args)?.find(&text).map_or("", |found| found.as_str()))
    });
    all.add(&["regexFindAll", "mustRegexFindAll"], |args| {
        let (text, most) = (args.text(1)?, args.int(2)?);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        super::args::strings(
            regex(args)?
                .find_iter(&text)
                .take(most)
                .map(|found| found.as_str()),
        )
    });
    all.add(&["regexReplaceAll", "mustRegexReplaceAll"], |args| {
        let (text, with) = (args.text(1)?, args.text(2)?);
        check_growth(args, &text, &with)?;
        string(regex(args)?.replace_all(&text, with.as_str()))
    });
    all.add(
        &["regexReplaceAllLiteral", "mustRegexReplaceAllLiteral"],
        |args| {
            let (text, with) = (args.text(1)?, args.text(2)?);
            check_growth(args, &text, &with)?;
            string(regex(args)?.replace_all(&text, regex::NoExpand(&with)))
        },
    );
    all.add(&["regexSplit", "mustRegexSplit"], |args| {
        let (text, most) = (args.text(1)?, args.int(2)?);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        super::args::strings(regex(args)?.splitn(&text, most))
    });
    all.add(&["regexQuoteMeta"], |args| {
        string(regex::escape(&args.text(0)?))
    });
}

fn regex(args: &Args) -> Result<regex::Regex, TemplateError> {
    use std::cell::RefCell;
    use std::collections::HashMap;
    thread_local! {
        static COMPILED: RefCell<HashMap<String, regex::Regex>> = RefCell::default();
    }
    let pattern = args.text(0)?;
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(regex) = compiled.get(&pattern) {
            return Ok(regex.clone());
        }
        let limited = regex::RegexBuilder::new(&pattern)
            .size_limit(1 << 20)
            .build();
        let regex = limited
            .map_err(|_| args.wrong(format_args!("cannot use the expression `{pattern}`")))?;
        // Patterns that calls make up are not kept without end.
        if compiled.len() >= 64 {
            compiled.clear();
        }
        compiled.insert(pattern, regex.clone());
        Ok(regex)
    })
}

/// A replacement may name groups, each at most as long as the text.
fn check_growth(args: &Args, text: &str, with: &str) -> Result<(), TemplateError> {
    let groups = with.matches('$').count();
    let longest = (text.len() + 1).checked_mul(with.len() + 1);
    let longest =
        longest.and_then(|length| length.checked_add(groups * text.len() * (text.len() + 1)));
    match longest {
        Some(length) if length <= 1 << 28 => Ok(()),
        _ => Err(args.wrong("might make too long a text")),
    }
}
