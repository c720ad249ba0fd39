use thiserror::Error;

use super::wire::What;

/// How a reply is not what it must be. Replies are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// Not a message of the method's output type. `at`: offset in it, in bytes.
    #[error("reply {i}: malformed protobuf at byte {at}: {what}")]
    Malformed { i: u64, at: usize, what: What },
    /// A rule does not hold: `expected` is what its right side, `rule`, comes to.
    #[error("reply {i}: `{field}` is {got}, expected {expected} = {rule}")]
    Value {
        i: u64,
        field: String,
        expected: String,
        got: String,
        rule: String,
    },
    /// More replies than requests, where each is held against its own request.
    #[error(
        "reply {i}: `{field}` is {got}, but only {sent} requests were sent for `{rule}` to speak of"
    )]
    NoRequest {
        i: u64,
        field: String,
        got: String,
        sent: u64,
        rule: String,
    },
}
