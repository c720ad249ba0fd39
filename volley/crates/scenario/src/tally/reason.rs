//! Why a request failed.

use std::fmt;
use std::mem::discriminant;

use serde::{Serialize, Serializer};
use volley_base::named;

named! {
    /// Why a request failed, in the order in which conditions are looked at. Numbers are places in the step's own
    /// lists, from 0.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Reason {
        /// A text of the request needs a value that is missing, or that cannot stand there.
        Unrendered = "cannot be rendered",
        /// No host of the target accepted a connection.
        Connect = "connect",
        /// The TLS handshake failed.
        Tls = "TLS",
        /// No complete response in time.
        Timeout = "timeout",
        /// The peer reset the stream.
        Reset = "reset",
        /// The connection was going away, and the peer had not begun the request.
        GoAway = "GOAWAY",
        /// The connection ended before the response did.
        Closed = "connection closed",
        /// The response breaks the protocol.
        Protocol = "protocol",
        /// The body is larger than `limits.body`.
        BodyTooLarge = "body too large",
        /// There is no memory left for the body, or for a message (`--max-memory`).
        OverBudget = "memory limit",
        /// The body, or a message, cannot be decoded.
        Decoding = "cannot be decoded",
        /// More redirects than the step follows, or one that leads nowhere.
        Redirects = "redirects",
        /// The script of the step has an error where it writes the request.
        Lua = "Lua error",
        /// Another status than expected.
        Status = "status",
        /// A rule for each reply.
        Each(u16) = "each",
        /// Another number of replies than expected.
        Replies = "replies",
        /// A check of `expect`.
        Check(u16) = "check",
        /// A value of `save` is missing.
        Save(u16) = "missing value",
        /// The script of the step has an error where it looks at the response.
        LuaResponse = "Lua error at the response",
        /// The script of the step says that the response is wrong.
        LuaCheck = "Lua check",
        /// The response took longer than `within`.
        Late = "late",
        /// The first reply took longer than `first_within`.
        FirstLate = "first reply late",
    }
}

/// A failed request, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    pub reason: Reason,
    /// What was wrong, for people. The first ones are kept.
    pub what: &'a str,
}

impl Reason {
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
