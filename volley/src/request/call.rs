//! One call: what is sent, and what must come back.

use std::sync::Arc;

use super::body::Body;
use super::expect::Expected;
use crate::http2::Head;

/// Everything that one call needs. Cheap to clone: three counted references.
#[derive(Clone, Debug)]
pub struct Request {
    /// Pseudo-header and header fields.
    pub head: Arc<Head>,
    /// The messages to send.
    pub body: Arc<Body>,
    /// What its replies must be.
    pub expected: Arc<Expected>,
}

/// Which call this is, for templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallNumber {
    /// Which worker makes it, from 0.
    pub worker: u32,
    /// Unique in the run, from 0: `{{.RequestNumber}}`.
    pub number: u64,
}
