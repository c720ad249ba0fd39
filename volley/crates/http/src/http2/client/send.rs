//! What the owner sends: requests, their content, and the frames that end them.

use std::sync::Arc;

use super::Connection;
use crate::http2::error_code::ErrorCode;
use crate::http2::frame;
use crate::http2::head::{Head, Own};
use crate::http2::pending::{Content, Kept, Pending};
use crate::http2::streams::{RequestPhase, ResponsePhase, Stream};
use crate::http2::window::{DEFAULT_WINDOW, ReceiveWindow, SendWindow};

impl<C> Connection<C> {
    /// Opens a stream with the request's head, and returns its number; with `end_stream` nothing follows.
    ///
    /// The encoded block of the last head is kept: calls that share one `Arc` cost only a copy.
    ///
    /// # Panics
    ///
    /// If [`capacity`](Self::capacity) is 0. No peer can cause this between the two calls.
    pub fn open(&mut self, call: C, head: &Arc<Head>, end_stream: bool) -> u32 {
        self.open_with(call, head, Own::default(), end_stream)
    }

    /// The same with fields of this call alone.
    ///
    /// # Panics
    ///
    /// As [`open`](Self::open).
    pub fn open_with(&mut self, call: C, head: &Arc<Head>, own: Own<'_>, end_stream: bool) -> u32 {
        self.begin(call, head, own, &[], end_stream)
    }

    /// The same with all its content, which ends the request.
    ///
    /// # Panics
    ///
    /// As [`open`](Self::open).
    #[inline]
    pub fn open_whole(
        &mut self,
        call: C,
        head: &Arc<Head>,
        own: Own<'_>,
        content: Content<'_>,
    ) -> u32 {
        let bytes = match content {
            Content::Own(bytes) => bytes,
            Content::Shared(bytes) => bytes.as_slice(),
        };
        let most = (self.peer.initial_window as usize).min(self.peer.max_frame_size);
        if !bytes.is_empty() && bytes.len() <= most.min(self.send_window.available()) {
            return self.begin(call, head, own, bytes, true);
        }
        let id = self.begin(call, head, own, &[], false);
        match content {
            Content::Own(bytes) => self.send(id, bytes, true),
            Content::Shared(bytes) => self.send_shared(id, bytes, true),
        }
        id
    }

    /// Opens a stream. `content`, if there is any, is all of it, fits into a frame, and may be sent now.
    #[inline]
    fn begin(
        &mut self,
        call: C,
        head: &Arc<Head>,
        own: Own<'_>,
        content: &[u8],
        ends: bool,
    ) -> u32 {
        assert!(
            self.capacity() > 0,
            "no stream can be opened: ask `capacity` first"
        );
        let id = self.next_id;
        self.next_id += 2;
        let max_frame_size = self.peer.max_frame_size;
        let ends_at_once = ends && content.is_empty();
        let (out, heads) = (self.output.bytes(), &mut self.heads);
        let is_head = if content.is_empty() || !own.is_empty() {
            let is_head = heads.write(out, id, head, own, ends_at_once, max_frame_size);
            if !content.is_empty() {
                frame::write_data(out, id, content, true);
            }
            is_head
        } else {
            heads.write_whole(out, id, head, content, max_frame_size)
        };
        let mut send = SendWindow::new(self.peer.initial_window);
        if !content.is_empty() {
            send.consume(content.len());
            self.send_window.consume(content.len());
        }
        let receive = if self.is_acknowledged {
            self.stream_target
        } else {
            self.stream_target.max(DEFAULT_WINDOW)
        };
        self.streams.insert(Stream {
            id,
            receive: ReceiveWindow::new(receive),
            send,
            phase: ResponsePhase::AwaitingHead,
            request: match ends {
                true => RequestPhase::Ended,
                false => RequestPhase::Open,
            },
            in_row: false,
            is_head,
            content_left: None,
            pending: None,
            call,
        });
        id
    }

    /// Sends content, as far as the windows allow. The rest is kept, and sent when they open. Does nothing if the
    /// stream is already closed, or its end was already given.
    pub fn send(&mut self, stream: u32, bytes: &[u8], end_stream: bool) {
        self.send_as(stream, bytes, end_stream, |sent| {
            Kept::Own(bytes.get(sent..).unwrap_or_default().to_vec())
        });
    }

    /// The same for content that many streams share: what is kept takes no memory.
    #[inline]
    pub fn send_shared(&mut self, stream: u32, bytes: &Arc<Vec<u8>>, end_stream: bool) {
        self.send_as(stream, bytes, end_stream, |_| {
            Kept::Shared(Arc::clone(bytes))
        });
    }

    /// `keep`: what is kept of the bytes if so many were sent.
    #[inline]
    fn send_as(
        &mut self,
        stream: u32,
        bytes: &[u8],
        end_stream: bool,
        keep: impl FnOnce(usize) -> Kept,
    ) {
        let max_frame_size = self.peer.max_frame_size;
        let Some(stream) = self.streams.get_mut(stream) else {
            return;
        };
        if stream.request != RequestPhase::Open || self.violation.is_some() {
            return;
        }
        if end_stream {
            stream.request = RequestPhase::Ending;
        }
        if let Some(pending) = &mut stream.pending {
            pending.append(bytes, end_stream);
            return;
        }
        let mut rest = bytes;
        loop {
            let allowed = stream.send.available().min(self.send_window.available());
            let (now, later) = rest.split_at(rest.len().min(allowed).min(max_frame_size));
            let ends = end_stream && later.is_empty();
            if now.is_empty() && !ends {
                break;
            }
            stream.send.consume(now.len());
            self.send_window.consume(now.len());
            frame::write_data(self.output.bytes(), stream.id, now, ends);
            if ends {
                stream.request = RequestPhase::Ended;
            }
            rest = later;
            if rest.is_empty() {
                return;
            }
        }
        if !rest.is_empty() {
            let id = stream.id;
            let sent = bytes.len() - rest.len();
            let kept = keep(sent);
            let start = match &kept {
                Kept::Own(_) => 0,
                Kept::Shared(_) => sent,
            };
            stream.pending = Some(Box::new(Pending::new(kept, start, end_stream)));
            self.take_turn(id);
        }
    }

    /// Bytes of this stream that flow control holds back.
    pub fn queued(&self, stream: u32) -> usize {
        let pending = self
            .streams
            .get(stream)
            .and_then(|stream| stream.pending.as_ref());
        pending.map_or(0, |pending| pending.bytes().len())
    }

    /// Cancels a call: sends RST_STREAM, and ignores whatever follows. `None` if it is already closed.
    pub fn cancel(&mut self, stream: u32, code: ErrorCode) -> Option<C> {
        let stream = self.streams.remove(stream)?;
        if self.violation.is_none() {
            frame::write_rst_stream(self.output.bytes(), stream.id, code);
        }
        Some(stream.call)
    }

    /// Sends a PING. [`pongs`](Self::pongs) counts the answers.
    pub fn ping(&mut self, payload: [u8; 8]) {
        frame::write_ping(self.output.bytes(), false, payload);
    }

    /// The peer sends nothing after what has come: no streams open after this.
    pub fn expect_end(&mut self) {
        self.is_shut_down = true;
    }

    /// Sends GOAWAY: no streams open after this; open ones continue.
    pub fn shut_down(&mut self, code: ErrorCode) {
        // After a violation, a GOAWAY that says more is already there.
        if self.violation.is_none() && !self.is_shut_down {
            frame::write_go_away(self.output.bytes(), 0, code, &[]);
        }
        self.is_shut_down = true;
    }
}
