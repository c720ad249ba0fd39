//! What a thread hands back.

use std::collections::BTreeMap;

use volley_report::measure::{EndedBy, Use, Warning};

/// The result of a thread.
pub struct ThreadResult<B> {
    /// Everything it recorded.
    pub recorder: B,
    /// How long after the load's start it woke up.
    pub late_ns: u64,
    /// When it last counted.
    pub ended_ns: u64,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// Connections reopened during the run: those that were lost or that the server retired, and those that volley gave
    /// up by itself.
    pub reconnects: u64,
    pub planned_reconnects: u64,
    /// What went to each address.
    pub uses: BTreeMap<String, Use>,
    /// The most addresses that were known at a time, if each should get its share.
    pub addresses: Option<usize>,
    /// A TLS server did not agree to HTTP/2, and did not refuse it.
    pub without_alpn: bool,
    /// The lowest stream limit of a server that made calls wait.
    pub stream_limit: Option<u32>,
    /// Calls still open when the drain timeout ended.
    pub left_open: u64,
    /// Calls that were due before a pause and not sent before its end.
    pub waited: u64,
    /// Why it ended early.
    pub gave_up: Option<Warning>,
    /// For each link that was lost and could not be reopened: since when, and why.
    pub down: Vec<(u64, String)>,
    /// If somebody watches: the ages of the calls that the end cut or that were never sent, in ns, and how many have each.
    pub ages: Vec<(u64, u64)>,
    /// CPU seconds of this thread since the window opened.
    pub cpu_s: f64,
}
