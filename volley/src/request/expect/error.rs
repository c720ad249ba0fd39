use thiserror::Error;

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
