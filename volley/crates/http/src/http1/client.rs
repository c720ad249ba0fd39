//! A client's connection: its state, and the owner's operations. `receive` handles what the peer sends.

use volley_base::defaults;

use super::error::Violation;
use super::gather::Gather;
use super::seen::SeenHead;
use crate::http2::hpack::HeaderList;
use crate::http2::output::Output;

defaults! {
    /// What this side demands of the peer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// The largest response head, and the largest trailers, in bytes.
        pub most_head: usize = 64 << 10,
    }
}

/// An HTTP/1.1 connection as a client, with one `C` for the open request.
pub struct Connection<C> {
    pub(super) call: Option<C>,
    pub(super) phase: Phase,
    pub(super) is_head_request: bool,
    /// Something of the response has come, an interim one (1xx) included.
    pub(super) has_begun: bool,
    /// Another request may follow this one.
    pub(super) keeps_alive: bool,
    pub(super) violation: Option<Violation>,
    pub(super) most_head: usize,
    pub(super) gather: Gather,
    /// The last heads, by the last bit of the status: those of 201 and of 204 have each their place.
    pub(super) heads: [SeenHead; 2],
    pub(super) trailers: HeaderList,
    output: Output,
    opened: u64,
}

/// What comes next from the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing: no request is open.
    Idle,
    Head,
    /// So many bytes of the body; at least 1.
    Length(u64),
    UntilClose,
    ChunkLine,
    /// So many bytes of the chunk; at least 1.
    Chunk(u64),
    ChunkEnd,
    Trailers,
    /// Whatever it is, nobody wants it.
    Over,
}

impl<C> Connection<C> {
    /// A connection over which nothing was sent.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            call: None,
            phase: Phase::Idle,
            is_head_request: false,
            has_begun: false,
            keeps_alive: true,
            violation: None,
            most_head: config.most_head,
            gather: Gather::default(),
            heads: Default::default(),
            trailers: HeaderList::default(),
            output: Output::default(),
            opened: 0,
        }
    }

    /// How many requests may be opened now: 1 or 0.
    #[inline]
    pub fn capacity(&self) -> usize {
        usize::from(self.phase == Phase::Idle && self.is_reusable())
    }

    /// Whether a request is open.
    pub fn is_busy(&self) -> bool {
        self.call.is_some()
    }

    /// Whether a request can follow the open one, as far as is known. If not, finish that one, then reconnect.
    #[inline]
    pub fn is_reusable(&self) -> bool {
        self.keeps_alive && self.violation.is_none()
    }

    /// How many requests have been opened.
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// Whether something of the open request's response has come. If not, and other requests were answered before, the
    /// peer may have closed an idle connection: the request can be repeated if its method is idempotent (RFC 9112
    /// §9.3.1).
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Opens a request with its head, which ends with an empty line. A body is [sent](Self::send) after it.
    ///
    /// # Panics
    ///
    /// If [`capacity`](Self::capacity) is 0. No peer can cause this between the two calls.
    pub fn open(&mut self, call: C, head: &[u8], is_head_request: bool) {
        assert!(
            self.capacity() > 0,
            "no request can be opened: ask `capacity` first"
        );
        self.output.bytes().extend_from_slice(head);
        self.call = Some(call);
        self.phase = Phase::Head;
        self.is_head_request = is_head_request;
        self.has_begun = false;
        self.opened += 1;
    }

    /// Appends bytes of the open request's body, framed as its head says. Does nothing if none is open.
    pub fn send(&mut self, body: &[u8]) {
        if self.call.is_some() {
            self.output.bytes().extend_from_slice(body);
        }
    }

    /// Removes and returns the open request's data: the owner gives up, or the transport is gone. The connection is of
    /// no use after this, unless no request was open.
    pub fn take_call(&mut self) -> Option<C> {
        let call = self.call.take()?;
        self.abandon();
        Some(call)
    }

    /// The bytes to write to the peer.
    #[inline]
    pub fn output(&self) -> &[u8] {
        self.output.waiting()
    }

    /// The first `n` bytes of [`output`](Self::output) were written.
    #[inline]
    pub fn consume_output(&mut self, n: usize) {
        self.output.consume(n);
    }

    /// The peer sends nothing after the open response.
    pub fn expect_end(&mut self) {
        self.keeps_alive = false;
    }

    /// Whether all of the request is written.
    #[inline]
    pub(super) fn is_sent(&self) -> bool {
        self.output.waiting().is_empty()
    }

    /// The rest of the response is of no use, or that of the request, which the peer has answered without it; and so is
    /// the connection.
    pub(super) fn abandon(&mut self) {
        self.phase = Phase::Over;
        self.keeps_alive = false;
    }
}
