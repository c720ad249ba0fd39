use thiserror::Error;

use super::wire::What;

/// Why an `--expect` rule cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpectError {
    #[error(
        "--expect '{rule}': {reason}; a rule is 'field = expression', as in 'result = a + b + i'"
    )]
    Syntax { rule: String, reason: String },
    #[error("--expect '{rule}': the reply `{message}` has no field `{name}`; it has {known}")]
    UnknownReplyField {
        rule: String,
        message: String,
        name: String,
        known: String,
    },
    #[error(
        "--expect '{rule}': there is no `{name}`; the request `{message}` has \
         {known}, and `i` is the reply's index"
    )]
    UnknownName {
        rule: String,
        message: String,
        name: String,
        known: String,
    },
    #[error(
        "--expect '{rule}': `{name}` of `{message}` is {kind}; only single \
         integers, bools and enums can be compared"
    )]
    NotANumber {
        rule: String,
        message: String,
        name: String,
        kind: String,
    },
}

/// How a reply differs from what it must be. Replies are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// Not a message of the method's output type. `at`: byte offset in the message.
    #[error("reply {i}: malformed protobuf at byte {at}: {what}")]
    Malformed { i: u64, at: usize, what: What },
    /// A rule does not hold: `expected` is the value of its right side, `rule`.
    #[error("reply {i}: `{field}` is {got}, expected {}", sides(expected, rule))]
    Value {
        i: u64,
        field: String,
        expected: String,
        got: String,
        rule: String,
    },
    /// More replies than requests, where each reply is compared with its own request.
    #[error(
        "reply {i}: `{field}` is {got}, but `{rule}` has no request {i}: only {sent} were sent"
    )]
    NoRequest {
        i: u64,
        field: String,
        got: String,
        sent: u64,
        rule: String,
    },
}

/// The value of a rule's right side, and how it came about.
fn sides(expected: &str, rule: &str) -> String {
    match expected == rule {
        true => expected.to_owned(),
        false => format!("{expected} = {rule}"),
    }
}
