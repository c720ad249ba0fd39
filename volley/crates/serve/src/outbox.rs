//! Pending output, and what counts once it is written.

use std::collections::VecDeque;

use super::counts::Counts;

/// The meaning of the bytes up to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Replies,
    CallOk,
    CallFailed,
}

/// A mark for each of `n` places: `first`, `first` + `step`, … bytes from the connection's start.
#[derive(Debug)]
struct Marks {
    first: u64,
    step: u64,
    n: u64,
    mark: Mark,
}

/// The output of a connection. It is counted when it is consumed, not when it is made.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// Bytes at the front of `bytes` that are consumed.
    start: usize,
    /// Bytes consumed before those in `bytes`.
    base: u64,
    marks: VecDeque<Marks>,
}

impl Outbox {
    /// Where to append.
    #[inline]
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What is to be written next.
    #[inline]
    pub(super) fn pending(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Bytes made so far, from the connection's start.
    #[inline]
    pub(super) fn produced(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Everything appended so far must be written before `mark` counts.
    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks.push_back(Marks {
            first: self.produced(),
            step: 0,
            n: 1,
            mark,
        });
    }

    /// The last `n` times `each` appended bytes are replies.
    #[inline]
    pub(super) fn mark_replies(&mut self, n: usize, each: usize) {
        let (n, step) = (n as u64, each as u64);
        self.marks.push_back(Marks {
            first: self.produced() - (n - 1) * step,
            step,
            n,
            mark: Mark::Replies,
        });
    }

    /// The first `n` pending bytes are written: counts what they complete.
    pub(super) fn consume(&mut self, n: usize, counts: &mut Counts) {
        self.start = self.bytes.len().min(self.start + n);
        let written = self.base + self.start as u64;
        while let Some(marks) = self.marks.front_mut() {
            if marks.first > written {
                break;
            }
            let done = match (written - marks.first).checked_div(marks.step) {
                Some(steps) => marks.n.min(steps + 1),
                None => marks.n,
            };
            match marks.mark {
                Mark::Replies => counts.messages_sent += done,
                Mark::CallOk => counts.calls_ok += done,
                Mark::CallFailed => counts.calls_failed += done,
            }
            marks.n -= done;
            marks.first += done * marks.step;
            if marks.n > 0 {
                break;
            }
            self.marks.pop_front();
        }
        if self.start == self.bytes.len() {
            self.compact();
        }
    }

    /// Moves the pending bytes to the front of the buffer.
    pub(super) fn compact(&mut self) {
        self.base += self.start as u64;
        self.bytes.drain(..self.start);
        self.start = 0;
    }

    /// Calls whose last bytes are still pending.
    pub(super) fn unwritten_calls(&self) -> u64 {
        let ends = self
            .marks
            .iter()
            .filter(|marks| marks.mark != Mark::Replies);
        ends.map(|marks| marks.n).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(outbox: &mut Outbox, n: usize) -> (u64, u64, u64) {
        let mut counts = Counts::default();
        outbox.consume(n, &mut counts);
        (counts.messages_sent, counts.calls_ok, counts.calls_failed)
    }

    #[test]
    fn a_reply_counts_with_its_last_byte() {
        let mut outbox = Outbox::default();
        outbox.buffer().extend_from_slice(&[0; 3 + 4 * 10]);
        outbox.mark_replies(4, 10);
        outbox.buffer().extend_from_slice(&[0; 5]);
        outbox.mark(Mark::CallOk);
        assert_eq!(sent(&mut outbox, 12), (0, 0, 0));
        assert_eq!(sent(&mut outbox, 1), (1, 0, 0));
        assert_eq!(sent(&mut outbox, 20), (2, 0, 0));
        outbox.compact();
        assert_eq!(sent(&mut outbox, 14), (1, 0, 0));
        assert_eq!(outbox.unwritten_calls(), 1);
        assert_eq!(sent(&mut outbox, 1), (0, 1, 0));
        assert_eq!((outbox.pending().len(), outbox.produced()), (0, 48));
    }

    #[test]
    fn counts_go_on_after_the_buffer_was_emptied() {
        let mut outbox = Outbox::default();
        for _ in 0..3 {
            outbox.buffer().extend_from_slice(&[0; 17]);
            outbox.mark_replies(1, 17);
            outbox.mark(Mark::CallFailed);
            assert_eq!(sent(&mut outbox, 17), (1, 0, 1));
        }
        assert_eq!(outbox.unwritten_calls(), 0);
    }
}
