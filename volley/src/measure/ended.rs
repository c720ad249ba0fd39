//! How a call ended.

use crate::grpc::Code;

/// A call that ended. All times are nanoseconds since the engine's epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it was due; in a closed loop, when it was sent.
    pub intended_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When its last frame was read.
    pub end_ns: u64,
    pub outcome: Outcome,
}

/// Whether a call succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Status OK and all replies as expected.
    Ok,
    /// Anything else. The user sees `error`; calls with the same text are counted together.
    Failed { code: Code, error: String },
}
