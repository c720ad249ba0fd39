//! How a connection ends.

/// Whether, and how, a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is not.
    Open,
    /// GOAWAY told why: close once that is written.
    Refused,
    /// A fault: close once what is pending is written, without a word.
    Cut,
    /// A fault: write what is pending, then nothing, until the client closes.
    Silent,
}
