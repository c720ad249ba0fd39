//! What may be wrong with a template.

use thiserror::Error;

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("`{action}` is not closed with `}}}}`")]
    NotClosed { action: String },
    #[error("`{{{{{action}}}}}`: {error}")]
    Parse { action: String, error: ActionError },
    #[error(transparent)]
    Render(ActionError),
}

/// Why an action cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ActionError {
    #[error("{0}")]
    Syntax(String),
    #[error("unknown field `{name}`; the fields are {fields}")]
    UnknownField { name: String, fields: &'static str },
    #[error("unknown function `{name}`; the functions are newUUID, randomString and randomInt")]
    UnknownFunction { name: String },
    #[error("template functions are off; drop --disable-template-functions")]
    FunctionsOff,
    #[error("`{keyword}` is not supported; a template has only fields and functions")]
    Control { keyword: String },
    #[error("`newUUID` takes no argument")]
    NewUuidArguments,
    #[error("`randomString` takes a length, or a minimum and a maximum")]
    RandomStringArguments,
    #[error("`randomInt` takes two numbers")]
    RandomIntArguments,
    #[error("`{name}` takes integers: numbers, or calls of `randomInt`")]
    NotAnInteger { name: String },
    #[error("`randomInt` cannot choose a number that is at least {min} and below {max}")]
    EmptyRange { min: i64, max: i64 },
    #[error("`randomString` cannot have {length} characters; the maximum is {most}")]
    TooLong { length: i64, most: i64 },
}
