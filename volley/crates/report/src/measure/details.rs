//! Single calls: the first ones to end, up to a limit.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use volley_http::grpc::Code;

/// One call, times as everywhere in this module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub end_ns: u64,
    pub latency_ns: u64,
    pub outcome: DetailOutcome,
}

/// How a call that is kept ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DetailOutcome {
    Ok,
    /// `error` is shared by all calls with the same text.
    Failed {
        code: Code,
        error: Arc<str>,
    },
    Cut,
}

/// The calls kept by one thread, or by all once merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    most: usize,
    kept: Vec<Kept>,
}

impl Details {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::new(),
        }
    }

    /// The maximum number of calls.
    pub fn most(&self) -> usize {
        self.most
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.kept.len() >= self.most
    }

    /// Keeps a call while there is room. The calls of one thread arrive in the order of their ends,
    /// so the first ones are kept.
    pub fn keep(&mut self, kept: Kept) {
        if !self.is_full() {
            self.kept.push(kept);
        }
    }

    pub fn clear(&mut self) {
        self.kept.clear();
    }

    pub fn merge(&mut self, other: Self) {
        self.most = self.most.max(other.most);
        self.kept.extend(other.kept);
        self.sort();
        self.kept.truncate(self.most);
    }

    /// The same, with times since a moment.
    pub fn since(mut self, start_ns: u64) -> Self {
        for kept in &mut self.kept {
            kept.end_ns = kept.end_ns.saturating_sub(start_ns);
        }
        self
    }

    /// In the order of their ends.
    pub fn into_sorted(mut self) -> Vec<Kept> {
        self.sort();
        self.kept
    }

    fn sort(&mut self) {
        self.kept.sort_by(|a, b| a.key().cmp(&b.key()));
    }
}

impl Kept {
    /// A total order, so that merging does not depend on the order of threads.
    fn key(&self) -> (u64, u64, &str, &str) {
        let (code, error) = match &self.outcome {
            DetailOutcome::Ok => ("", ""),
            DetailOutcome::Failed { code, error } => (code.name(), error.as_ref()),
            DetailOutcome::Cut => ("cut", ""),
        };
        (self.end_ns, self.latency_ns, code, error)
    }
}
