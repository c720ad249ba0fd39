//! What is kept of sprig, but for dates. What is changed comes last, so that it can be piped in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotmpl::{TemplateError, Value};
use ring::digest;

use super::args::{Args, Functions, LONGEST, Outcome, int, string, text};

pub fn add_strings(all: &mut Functions) {
    all.add(&["upper"], |args| string(args.text(0)?.to_uppercase()));
    all.add(&["lower"], |args| string(args.text(0)?.to_lowercase()));
    all.add(&["trim"], |args| string(args.text(0)?.trim()));
    all.add(&["trunc"], |args| {
        let (most, text) = (args.int(0)?, args.text(1)?);
        let kept = usize::try_from(most.unsigned_abs()).unwrap_or(usize::MAX);
        let cut = if most < 0 {
            text.chars().count().saturating_sub(kept)
        } else {
            0
        };
        string(text.chars().skip(cut).take(kept).collect::<String>())
    });
    all.add(&["repeat"], |args| {
        let (count, text) = (args.count(0)?, args.text(1)?);
        check_growth(args, count, text.len())?;
        string(text.repeat(count))
    });
    all.add(&["replace"], |args| {
        let (old, new, text) = (args.text(0)?, args.text(1)?, args.text(2)?);
        check_growth(args, text.matches(&old).count(), new.len())?;
        string(text.replace(&old, &new))
    });
    all.add(&["contains"], |args| {
        about(args, |part, text| text.contains(part))
    });
    all.add(&["hasPrefix"], |args| {
        about(args, |part, text| text.starts_with(part))
    });
    all.add(&["hasSuffix"], |args| {
        about(args, |part, text| text.ends_with(part))
    });
    all.add(&["trimPrefix"], |args| {
        let (prefix, text) = (args.text(0)?, args.text(1)?);
        string(text.strip_prefix(&prefix).unwrap_or(&text))
    });
    all.add(&["trimSuffix"], |args| {
        let (suffix, text) = (args.text(0)?, args.text(1)?);
        string(text.strip_suffix(&suffix).unwrap_or(&text))
    });
    all.add(&["quote"], |args| {
        let given = args.values.iter().filter(|value| **value != Value::Nil);
        let quoted = given.map(|value| serde_json::Value::from(text(value)).to_string());
        string(quoted.collect::<Vec<_>>().join(" "))
    });
    all.add(&["join"], |args| {
        let items: Vec<String> = match args.at(1)? {
            Value::List(items) => items.iter().map(text).collect(),
            value => vec![text(value)],
        };
        let mark = args.text(0)?;
        check_growth(args, items.len(), mark.len())?;
        string(items.join(&mark))
    });
}

/// What is so of a part of a text, and the text.
fn about(args: &Args, is_so: impl Fn(&str, &str) -> bool) -> Outcome {
    Ok(Value::Bool(is_so(&args.text(0)?, &args.text(1)?)))
}

/// Integers wrap, as in Go.
pub fn add_math(all: &mut Functions) {
    all.add(&["add"], |args| folded(args, 0, i64::wrapping_add));
    all.add(&["add1"], |args| {
        Ok(Value::Int(args.int(0)?.wrapping_add(1)))
    });
    all.add(&["mul"], |args| folded(args, 1, i64::wrapping_mul));
    all.add(&["sub"], |args| {
        Ok(Value::Int(args.int(0)?.wrapping_sub(args.int(1)?)))
    });
    all.add(&["div"], |args| divided(args, i64::wrapping_div));
    all.add(&["mod"], |args| divided(args, i64::wrapping_rem));
    all.add(&["int", "int64", "atoi"], |args| {
        Ok(Value::Int(int(args.at(0)?).unwrap_or(0)))
    });
}

pub fn add_lists(all: &mut Functions) {
    all.add(&["list", "tuple"], |args| {
        Ok(Value::List(args.values.into()))
    });
    all.add(&["until"], |args| {
        let end = args.int(0)?;
        if end.unsigned_abs() > LONGEST as u64 / 16 {
            return Err(args.wrong("makes too long a list"));
        }
        let numbers = (0..end.abs()).map(|number| Value::Int(number * end.signum()));
        Ok(Value::List(numbers.collect()))
    });
    all.add(&["dict"], |args| {
        let pairs = args.values.chunks(2).filter_map(<[Value]>::split_first);
        let entries = pairs.map(|(key, value)| {
            let value = value.first().cloned().unwrap_or(Value::String("".into()));
            (text(key).into(), value)
        });
        Ok(Value::Map(std::sync::Arc::new(entries.collect())))
    });
    all.add(&["default"], |args| match args.values {
        [.., given] if args.values.len() > 1 && given.is_truthy() => Ok(given.clone()),
        _ => args.at(0).cloned(),
    });
    all.add(&["ternary"], |args| {
        Ok(args.at(usize::from(!args.at(2)?.is_truthy()))?.clone())
    });
}

pub fn add_encodings(all: &mut Functions) {
    all.add(&["b64enc"], |args| string(STANDARD.encode(args.text(0)?)));
    all.add(&["sha256sum"], |args| {
        let sum = digest::digest(&digest::SHA256, args.text(0)?.as_bytes());
        let digits = sum.as_ref().iter().map(|byte| format!("{byte:02x}"));
        string(digits.collect::<String>())
    });
    all.add(
        &["toJson", "mustToJson", "toRawJson", "mustToRawJson"],
        |args| string(json(args.at(0)?).to_string()),
    );
}

/// From the thread's generator: a call seeds it with its own.
pub fn add_random(all: &mut Functions) {
    all.add(&["randAlphaNum"], |args| {
        drawn(args, fastrand::alphanumeric)
    });
    all.add(&["randAlpha"], |args| drawn(args, fastrand::alphabetic));
    all.add(&["randNumeric"], |args| drawn(args, || fastrand::digit(10)));
    all.add(&["randInt"], |args| {
        let (least, below) = (args.int(0)?, args.int(1)?);
        if least >= below {
            return Err(args.wrong(format_args!(
                "cannot choose a number that is at least {least} and below {below}"
            )));
        }
        Ok(Value::Int(fastrand::i64(least..below)))
    });
}

/// Go's own that make texts, here so that they cannot make too much.
pub fn add_go(all: &mut Functions) {
    all.add(&["print"], |args| string(printed(args)));
    all.add(&["println"], |args| {
        let given = args.values.iter().filter(|value| **value != Value::Nil);
        string(given.map(text).collect::<Vec<_>>().join(" ") + "\n")
    });
    all.add(&["html"], |args| {
        string(gotmpl::html_escape(&printed(args)))
    });
    all.add(&["js"], |args| string(gotmpl::js_escape(&printed(args))));
    all.add(&["urlquery"], |args| {
        string(gotmpl::url_encode(&printed(args)))
    });
}

/// As Go's `Sprint`: a space between two values that are no strings.
fn printed(args: &Args) -> String {
    let mut out = String::new();
    let mut was_string = true;
    for value in args.values {
        let is_string = matches!(value, Value::String(_));
        if !was_string && !is_string {
            out.push(' ');
        }
        out += &value.to_string();
        was_string = is_string;
    }
    out
}

fn check_growth(args: &Args, times: usize, length: usize) -> Result<(), TemplateError> {
    match times.checked_mul(length) {
        Some(length) if length <= LONGEST => Ok(()),
        _ => Err(args.wrong("makes too long a text")),
    }
}

fn folded(args: &Args, first: i64, step: fn(i64, i64) -> i64) -> Outcome {
    let mut numbers = (0..args.values.len().max(1)).map(|place| args.int(place));
    numbers
        .try_fold(first, |sum, number| Ok(step(sum, number?)))
        .map(Value::Int)
}

fn divided(args: &Args, step: fn(i64, i64) -> i64) -> Outcome {
    match (args.int(0)?, args.int(1)?) {
        (_, 0) => Err(args.wrong("divides by zero")),
        (number, by) => Ok(Value::Int(step(number, by))),
    }
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

fn drawn(args: &Args, draw: fn() -> char) -> Outcome {
    let count = args.count(0)?;
    string((0..count).map(|_| draw()).collect::<String>())
}
