//! Actions, the contents of `{{` and `}}`, and the functions that they may call.

use fastrand::Rng;
use gotmpl::Value;
use volley_base::excerpt::excerpt;
use volley_base::uuid::Uuid;

use super::arithmetic::Arithmetic;
use super::program::Program;
use super::{ActionError, CallData};

/// A `randomString` without a length gets 2 to 16 characters.
const LENGTHS: (i64, i64) = (2, 16);
/// A longer string is surely a mistake.
const MOST: i64 = 1 << 26;

/// A call with its arguments, checked for number and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    NewUuid,
    /// Random letters and digits: of one length, or of a length between two numbers.
    RandomString(Int, Option<Int>),
    /// A number from the first (raised to 0) to below the second (1 if it is not positive).
    RandomInt(Int, Int),
}

/// An argument: a number, or the result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    Constant(i64),
    Call(Box<Function>),
}

impl Function {
    pub(super) fn exists(name: &str) -> bool {
        matches!(name, "newUUID" | "randomString" | "randomInt")
    }

    /// `arguments`: `None` stands for an argument that is not an integer.
    pub(super) fn new(name: &str, arguments: Vec<Option<Int>>) -> Result<Self, ActionError> {
        if !Self::exists(name) {
            return Err(ActionError::UnknownFunction {
                name: excerpt(name, 40),
            });
        }
        let arguments: Option<Vec<Int>> = arguments.into_iter().collect();
        let arguments = arguments.ok_or(ActionError::NotAnInteger {
            name: name.to_owned(),
        })?;
        let count = arguments.len();
        let mut arguments = arguments.into_iter();
        let function = match (name, arguments.next(), arguments.next(), count) {
            ("newUUID", None, ..) => Self::NewUuid,
            ("newUUID", ..) => return Err(ActionError::NewUuidArguments),
            ("randomString", Some(length), max, 1 | 2) => Self::RandomString(length, max),
            ("randomString", ..) => return Err(ActionError::RandomStringArguments),
            (_, Some(min), Some(max), 2) => Self::RandomInt(min, max),
            _ => return Err(ActionError::RandomIntArguments),
        };
        function.check().map(|()| function)
    }

    /// Refuses arguments that are wrong for any random number.
    fn check(&self) -> Result<(), ActionError> {
        match self {
            Self::RandomInt(Int::Constant(min), Int::Constant(max)) => {
                Ok(range(*min, *max).map(drop)?)
            }
            Self::RandomString(Int::Constant(length), None) => lengths(*length, None).map(|_| ()),
            Self::RandomString(Int::Constant(min), Some(Int::Constant(max))) => {
                lengths(*min, Some(*max)).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn render(&self, random: &mut Rng, out: &mut String) -> Result<(), ActionError> {
        match self {
            Self::NewUuid => Uuid::new(random).render(out),
            Self::RandomString(min, max) => {
                let min = min.value(random)?;
                let max = max.as_ref().map(|max| max.value(random)).transpose()?;
                let (least, most) = lengths(min, max)?;
                let length = random.i64(least..=most);
                out.extend((0..length).map(|_| random.alphanumeric()));
            }
            Self::RandomInt(..) => {
                out.push_str(itoa::Buffer::new().format(self.number(random)?));
            }
        }
        Ok(())
    }

    /// Its value in one call.
    pub(super) fn value(&self, random: &mut Rng) -> Result<Value, ActionError> {
        if let Self::RandomInt(..) = self {
            return Ok(Value::Int(self.number(random)?));
        }
        let mut text = String::new();
        self.render(random, &mut text)?;
        Ok(Value::String(text.into()))
    }

    fn number(&self, random: &mut Rng) -> Result<i64, Box<ActionError>> {
        let Self::RandomInt(min, max) = self else {
            return Ok(0);
        };
        let (min, max) = (min.value(random)?, max.value(random)?);
        let (least, below) = range(min, max)?;
        Ok(random.i64(least..below))
    }
}

impl Int {
    #[inline]
    fn value(&self, random: &mut Rng) -> Result<i64, Box<ActionError>> {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Call(function) => function.number(random),
        }
    }
}

#[inline]
fn range(min: i64, max: i64) -> Result<(i64, i64), Box<ActionError>> {
    let (least, below) = (min.max(0), if max <= 0 { 1 } else { max });
    if least < below {
        Ok((least, below))
    } else {
        Err(Box::new(ActionError::EmptyRange { min, max }))
    }
}

fn lengths(min: i64, max: Option<i64>) -> Result<(i64, i64), ActionError> {
    let (least, most) = match max {
        None if min <= 0 => LENGTHS,
        None => (min, min),
        Some(max) => (min.max(0), max.max(min).max(0)),
    };
    if most <= MOST {
        Ok((least, most))
    } else {
        Err(ActionError::TooLong {
            length: most,
            most: MOST,
        })
    }
}

/// The meaning of an action. If it is the same for all calls, it is already text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Text(String),
    WorkerId,
    RequestNumber,
    Timestamp,
    TimestampUnix,
    TimestampUnixMilli,
    TimestampUnixNano,
    Uuid,
    Call(Function),
    Arithmetic(Arithmetic),
    Program(Program),
}

impl Action {
    /// Whether it gives an integer in every call.
    pub(super) fn is_number(&self) -> bool {
        match self {
            Self::Call(function) => matches!(function, Function::RandomInt(..)),
            Self::RequestNumber
            | Self::Arithmetic(_)
            | Self::TimestampUnix
            | Self::TimestampUnixMilli
            | Self::TimestampUnixNano => true,
            Self::Text(_) | Self::WorkerId | Self::Timestamp | Self::Uuid | Self::Program(_) => {
                false
            }
        }
    }

    /// Its value in one call; `Err(None)`: that is no integer. A result of two words costs no memory.
    pub(super) fn number(&self, call: &mut CallData) -> Result<i64, Option<Box<ActionError>>> {
        match self {
            Self::Call(function @ Function::RandomInt(..)) => {
                function.number(call.random()).map_err(Some)
            }
            Self::Arithmetic(arithmetic) => arithmetic.value(call).map_err(Some),
            Self::RequestNumber => i64::try_from(call.number()).map_err(|_| None),
            Self::TimestampUnix => i64::try_from(call.now().as_secs()).map_err(|_| None),
            Self::TimestampUnixMilli => i64::try_from(call.now().as_millis()).map_err(|_| None),
            Self::TimestampUnixNano => i64::try_from(call.now().as_nanos()).map_err(|_| None),
            _ => Err(None),
        }
    }

    pub(super) fn write(&self, call: &mut CallData, out: &mut String) -> Result<(), ActionError> {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::WorkerId => call.worker_id(out),
            Self::RequestNumber => out.push_str(itoa::Buffer::new().format(call.number())),
            Self::Timestamp => out.push_str(&call.timestamp()),
            Self::TimestampUnix => out.push_str(&call.now().as_secs().to_string()),
            Self::TimestampUnixMilli => out.push_str(&call.now().as_millis().to_string()),
            Self::TimestampUnixNano => out.push_str(&call.now().as_nanos().to_string()),
            Self::Uuid => call.uuid().render(out),
            Self::Call(function) => return function.render(call.random(), out),
            Self::Arithmetic(arithmetic) => {
                out.push_str(itoa::Buffer::new().format(arithmetic.value(call)?));
            }
            Self::Program(program) => return program.render(call, out),
        }
        Ok(())
    }
}
