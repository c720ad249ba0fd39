//! Why a request failed.

use std::fmt;
use std::mem::discriminant;

use serde::{Serialize, Serializer};

/// Why a request failed, in the order in which conditions are looked at. Numbers are places in the step's own lists, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A text of the request needs a value that is missing, or that cannot stand there.
    Unrendered,
    /// No host of the target accepted a connection.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// No complete response in time.
    Timeout,
    /// The peer reset the stream.
    Reset,
    /// The connection was going away, and the peer had not begun the request.
    GoAway,
    /// The connection ended before the response did.
    Closed,
    /// The response breaks the protocol.
    Protocol,
    /// The body is larger than `limits.body`.
    BodyTooLarge,
    /// There is no memory left for the body, or for a message (`--max-memory`).
    OverBudget,
    /// The body, or a message, cannot be decoded.
    Decoding,
    /// More redirects than the step follows, or one that leads nowhere.
    Redirects,
    /// The script of the step has an error where it writes the request.
    Lua,
    /// Another status than expected.
    Status,
    /// A rule for each reply.
    Each(u16),
    /// Another number of replies than expected.
    Replies,
    /// A check of `expect`.
    Check(u16),
    /// A value of `save` is missing.
    Save(u16),
    /// The script of the step has an error where it looks at the response.
    LuaResponse,
    /// The script of the step says that the response is wrong.
    LuaCheck,
    /// The response took longer than `within`.
    Late,
    /// The first reply took longer than `first_within`.
    FirstLate,
}

/// A failed request, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    pub reason: Reason,
    /// What was wrong, for people. The first ones are kept.
    pub what: &'a str,
}

impl Reason {
    /// The reason in reports: `timeout`, `check`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unrendered => "cannot be rendered",
            Self::Connect => "connect",
            Self::Tls => "TLS",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::GoAway => "GOAWAY",
            Self::Closed => "connection closed",
            Self::Protocol => "protocol",
            Self::BodyTooLarge => "body too large",
            Self::OverBudget => "memory limit",
            Self::Decoding => "cannot be decoded",
            Self::Redirects => "redirects",
            Self::Lua => "Lua error",
            Self::LuaResponse => "Lua error at the response",
            Self::Status => "status",
            Self::Check(_) => "check",
            Self::Replies => "replies",
            Self::Each(_) => "each",
            Self::Late => "late",
            Self::FirstLate => "first reply late",
            Self::Save(_) => "missing value",
            Self::LuaCheck => "Lua check",
        }
    }

    /// Its place in a list of the step.
    #[must_use]
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Check(index) | Self::Each(index) | Self::Save(index) => Some(index.into()),
            _ => None,
        }
    }

    /// Whether a request that failed for this reason had kept another condition before.
    #[must_use]
    pub fn is_after(self, condition: Self) -> bool {
        self > condition && discriminant(&self) != discriminant(&condition)
    }

    /// Whether there was a response with an expected status.
    #[must_use]
    pub fn has_status(self) -> bool {
        self.is_after(Self::Status)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        self.index()
            .map_or(Ok(()), |index| write!(out, " {}", index + 1))
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}
