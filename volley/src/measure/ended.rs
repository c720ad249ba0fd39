//! How a call ended.

use crate::grpc::Code;

/// A call that is over. All times are nanoseconds since the engine's epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it was due to be sent; in a closed loop, when it was sent.
    pub intended_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When its last frame was read.
    pub end_ns: u64,
    pub outcome: Outcome,
}

/// Whether a call did what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Status OK and all replies as expected.
    Ok,
    /// Anything else; `error` is shown to the user, and calls with the same text are counted
    /// together.
    Failed { code: Code, error: String },
}
