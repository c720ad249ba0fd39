//! Request bytes that wait for flow control.

use std::collections::VecDeque;
use std::sync::Arc;

/// What is left to send on one stream. Never empty: an END_STREAM without bytes needs no window.
#[derive(Debug)]
pub struct Pending {
    bytes: Kept,
    /// How many of them were sent.
    start: usize,
    /// The stream ends after the last byte.
    pub end_stream: bool,
}

/// Bytes of a stream.
#[derive(Clone, Debug)]
pub enum Kept {
    /// Its own.
    Own(Vec<u8>),
    /// Those of many streams.
    Shared(Arc<Vec<u8>>),
}

/// The whole content of a request.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Its own.
    Own(&'a [u8]),
    /// That of many requests: what is kept of it takes no memory.
    Shared(&'a Arc<Vec<u8>>),
}

impl Pending {
    /// Keeps what follows the first `start` bytes.
    pub fn new(bytes: Kept, start: usize, end_stream: bool) -> Self {
        Self {
            bytes,
            start,
            end_stream,
        }
    }

    /// What is left.
    pub fn bytes(&self) -> &[u8] {
        let bytes = match &self.bytes {
            Kept::Own(bytes) => bytes.as_slice(),
            Kept::Shared(bytes) => bytes,
        };
        bytes.get(self.start..).unwrap_or_default()
    }

    /// Adds to the end.
    pub fn append(&mut self, bytes: &[u8], end_stream: bool) {
        self.end_stream |= end_stream;
        let left = self.bytes().len();
        match &mut self.bytes {
            Kept::Own(own) => {
                if self.start > left {
                    own.drain(..self.start);
                    self.start = 0;
                }
                own.extend_from_slice(bytes);
            }
            Kept::Shared(_) => {
                self.bytes = Kept::Own([self.bytes(), bytes].concat());
                self.start = 0;
            }
        }
    }

    /// The first `n` bytes were sent.
    pub fn consume(&mut self, n: usize) {
        self.start += n;
    }
}

/// Streams that have bytes and a window of their own, and wait for the connection's window. They take turns, one frame
/// each.
#[derive(Debug, Default)]
pub struct Turns {
    ids: VecDeque<u32>,
}

impl Turns {
    /// Adds a stream at the end of the queue. `open_streams` limits its length: the ids of closed streams are removed,
    /// by `is_waiting`, before there are many.
    pub fn push(&mut self, id: u32, open_streams: usize, is_waiting: impl Fn(u32) -> bool) {
        if self.ids.len() > 2 * open_streams + 32 {
            self.ids.retain(|&id| is_waiting(id));
        }
        self.ids.push_back(id);
    }

    /// The stream whose turn it is; it may be closed by now.
    pub fn pop(&mut self) -> Option<u32> {
        self.ids.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_gone_and_what_is_appended_follows() {
        for bytes in [
            Kept::Own(b"abcdef".to_vec()),
            Kept::Shared(Arc::new(b"abcdef".to_vec())),
        ] {
            let mut pending = Pending::new(bytes, 1, false);
            pending.consume(3);
            assert_eq!(pending.bytes(), b"ef");
            pending.append(b"gh", true);
            assert_eq!((pending.bytes(), pending.start), (&b"efgh"[..], 0));
            assert!(pending.end_stream);
        }
    }

    #[test]
    fn streams_that_are_gone_do_not_make_the_row_grow() {
        let mut turns = Turns::default();
        for id in 0..10_000 {
            turns.push(id, 1, |waiting| waiting == 7);
        }
        assert!(turns.ids.len() <= 36, "{} in the row", turns.ids.len());
        assert_eq!(turns.pop(), Some(7));
    }
}
