use thiserror::Error;

use super::wire::What;

/// How a reply differs from what it must be. Replies are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// Not a message of the method's output type. `at`: byte offset in the message.
    #[error("reply {i}: malformed protobuf at byte {at}: {what}")]
    Malformed { i: u64, at: usize, what: What },
    /// A rule does not hold: `expected` is the value of its right side, `rule`.
    #[error("reply {i}: `{field}` is {got}, expected {expected} = {rule}")]
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
