//! A client's connection, of the version that its first bytes show.

use std::sync::Arc;

use super::config::Rules;
use super::connection::ServerSide;
use super::counts::Counts;
use super::http1::Http1;
use volley_http::http2::frame::PREFACE;

/// So many bytes of HTTP/2's preface are the beginning of no other method: `PRI`.
const CERTAIN: usize = 3;

/// A connection without its socket. Its methods are those of [`ServerSide`].
pub(super) enum Connection {
    /// Too few bytes have come.
    Unknown {
        rules: Arc<Rules>,
        first: Vec<u8>,
    },
    Http1(Box<Http1>),
    Http2(Box<ServerSide>),
}

impl Connection {
    pub(super) fn new(rules: Arc<Rules>) -> Self {
        let first = Vec::new();
        Self::Unknown { rules, first }
    }

    pub(super) fn receive(&mut self, bytes: &[u8], now_ns: u64, counts: &mut Counts) {
        match self {
            Self::Unknown { rules, first } => {
                first.extend_from_slice(bytes);
                let is_preface = first.iter().zip(PREFACE).all(|(a, b)| a == b);
                if is_preface && first.len() < CERTAIN {
                    return;
                }
                let (rules, first) = (Arc::clone(rules), std::mem::take(first));
                *self = match is_preface {
                    true => Self::Http2(Box::new(ServerSide::with_rules(rules))),
                    false => Self::Http1(Box::new(Http1::new(rules))),
                };
                self.receive(&first, now_ns, counts);
            }
            Self::Http1(one) => one.receive(bytes, now_ns, counts),
            Self::Http2(one) => one.receive(bytes, now_ns, counts),
        }
    }

    pub(super) fn fill(&mut self) {
        if let Self::Http2(one) = self {
            one.fill();
        }
    }

    pub(super) fn wants_input(&self) -> bool {
        match self {
            Self::Unknown { .. } => true,
            Self::Http1(one) => one.wants_input(),
            Self::Http2(one) => one.wants_input(),
        }
    }

    #[inline]
    pub(super) fn output(&self) -> &[u8] {
        match self {
            Self::Unknown { .. } => &[],
            Self::Http1(one) => one.output(),
            Self::Http2(one) => one.output(),
        }
    }

    #[inline]
    pub(super) fn consume_output(&mut self, n: usize, now_ns: u64, counts: &mut Counts) {
        match self {
            Self::Unknown { .. } => {}
            Self::Http1(one) => one.consume_output(n, now_ns, counts),
            Self::Http2(one) => one.consume_output(n, counts),
        }
    }

    pub(super) fn advance(&mut self, now_ns: u64, counts: &mut Counts) {
        match self {
            Self::Unknown { .. } => {}
            Self::Http1(one) => one.advance(now_ns, counts),
            Self::Http2(one) => one.advance(now_ns),
        }
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        match self {
            Self::Unknown { .. } => None,
            Self::Http1(one) => one.next_due(),
            Self::Http2(one) => one.next_due(),
        }
    }

    pub(super) fn has_output(&self) -> bool {
        match self {
            Self::Http2(one) => one.has_output(),
            _ => !self.output().is_empty(),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self {
            Self::Unknown { .. } => false,
            Self::Http1(one) => one.is_finished(),
            Self::Http2(one) => one.is_finished(),
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        match self {
            Self::Unknown { .. } => false,
            Self::Http1(one) => one.is_cut(),
            Self::Http2(one) => one.is_cut(),
        }
    }

    pub(super) fn lost(self, counts: &mut Counts) {
        match self {
            Self::Unknown { .. } => {}
            Self::Http1(one) => one.lost(counts),
            Self::Http2(one) => one.lost(counts),
        }
    }
}
