//! The arguments of a function, and limits on what functions make.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use gotmpl::{FuncMap, TemplateError, Value};

/// What a function gives.
pub type Outcome = Result<Value, TemplateError>;

/// A dict's entries.
pub type Entries = BTreeMap<Arc<str>, Value>;

/// No value may be longer, in bytes.
pub const LONGEST: usize = 1 << 24;

/// Values may be nested this deep.
const DEEPEST: usize = 32;

/// What all functions of one template may take and make in one call, in bytes.
const BUDGET: usize = 1 << 28;

thread_local! {
    static BUDGET_LEFT: Cell<usize> = const { Cell::new(BUDGET) };
}

/// A template is rendered from its beginning.
pub fn refill() {
    BUDGET_LEFT.set(BUDGET);
}

fn charge(value: &Value) -> Result<(), TemplateError> {
    let length = length(value, DEEPEST)?;
    let left = BUDGET_LEFT.get().checked_sub(length);
    BUDGET_LEFT.set(left.ok_or_else(|| too_much("the functions make too much"))?);
    Ok(())
}

/// About how long a value is as text.
fn length(value: &Value, depth: usize) -> Result<usize, TemplateError> {
    let inner = depth
        .checked_sub(1)
        .ok_or_else(|| too_much("values are nested too deeply"))?;
    let mut length = 16;
    let mut add = |more: usize| {
        length += more;
        if length > LONGEST {
            return Err(too_much("a value is longer than 16 MiB"));
        }
        Ok(())
    };
    match value {
        Value::String(text) => add(text.len())?,
        Value::List(items) => {
            for item in items.iter() {
                add(self::length(item, inner)?)?;
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries.iter() {
                add(key.len() + self::length(value, inner)?)?;
            }
        }
        _ => {}
    }
    Ok(length)
}

#[cold]
pub fn too_much(what: &str) -> TemplateError {
    TemplateError::Exec(what.to_owned())
}

/// Functions by name.
pub struct Functions(pub FuncMap);

impl Functions {
    /// Adds one under all of its names.
    pub fn add(&mut self, names: &[&'static str], f: fn(&Args) -> Outcome) {
        for &name in names {
            let call = move |values: &[Value]| {
                values.iter().try_for_each(charge)?;
                let value = f(&Args { name, values })?;
                charge(&value)?;
                Ok(value)
            };
            self.0.insert(name.to_owned(), Arc::new(call));
        }
    }
}

/// The arguments of a call.
pub struct Args<'a> {
    pub name: &'a str,
    pub values: &'a [Value],
}

impl Args<'_> {
    pub fn wrong(&self, reason: impl Display) -> TemplateError {
        TemplateError::Exec(format!("`{}` {reason}", self.name))
    }

    pub fn at(&self, place: usize) -> Result<&Value, TemplateError> {
        self.values.get(place).ok_or_else(|| {
            let (needed, given) = (place + 1, self.values.len());
            self.wrong(format_args!(
                "takes {needed} arguments or more, not {given}"
            ))
        })
    }

    pub fn text(&self, place: usize) -> Result<String, TemplateError> {
        self.at(place).map(text)
    }

    pub fn int(&self, place: usize) -> Result<i64, TemplateError> {
        let value = self.at(place)?;
        int(value).ok_or_else(|| self.wrong_type("a number", value))
    }

    /// A number of characters or items; it may not make a value too long.
    pub fn count(&self, place: usize) -> Result<usize, TemplateError> {
        let count = self.int(place)?;
        let small = usize::try_from(count.max(0)).ok();
        small
            .filter(|count| *count <= LONGEST)
            .ok_or_else(|| self.wrong(format_args!("cannot make {count} of something")))
    }

    fn wrong_type(&self, needed: &str, value: &Value) -> TemplateError {
        self.wrong(format_args!(
            "takes {needed}, not a value of type {}",
            value.type_name()
        ))
    }
}

pub fn text(value: &Value) -> String {
    match value {
        Value::Nil => String::new(),
        Value::String(text) => text.as_ref().to_owned(),
        value => value.to_string(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "as in Go")]
pub fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(int) => Some(*int),
        Value::Uint(int) => i64::try_from(*int).ok(),
        Value::Float(float) => Some(*float as i64),
        Value::Bool(on) => Some(i64::from(*on)),
        Value::Nil => Some(0),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

pub fn string(text: impl Into<String>) -> Outcome {
    Ok(Value::String(text.into().into()))
}
