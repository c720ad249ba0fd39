//! Timed work on streams: sending the next message, or ending the stream.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Book, Driver, Stage};
use crate::http2::ErrorCode;
use crate::request::{Body, Shape};

/// Messages sent in one go if no interval is set.
const BURST: usize = 64;

/// How long a stream without an interval waits while its flow-control window is closed.
const BLOCKED_WAIT_NS: u64 = 1_000_000;

/// The next thing one stream needs at a moment. The greatest is the earliest, for a max-heap.
pub struct Due {
    at_ns: u64,
    wire: usize,
    serial: u64,
    stream: u32,
    task: Task,
}

enum Task {
    /// Sends the messages of a client stream, one after another.
    Send {
        body: Arc<Body>,
        /// Messages sent so far.
        sent: u64,
        /// Messages to send: those of the body, repeated; `None` until the time is up.
        total: Option<u64>,
        /// When the client ends the stream.
        until_ns: u64,
    },
    /// The client ends a server's stream.
    End,
}

impl<B: Book> Driver<'_, B> {
    /// Schedules what a newly opened call needs later. Its first message is sent at once.
    pub(super) fn arrange(&mut self, key: usize, stream: u32, body: &Arc<Body>, now_ns: u64) {
        let streaming = self.plan.streaming;
        let Some(wire) = self.wires.get(key) else {
            return;
        };
        let ends_ns = match streaming.length_ns {
            0 => u64::MAX,
            length => now_ns.saturating_add(length),
        };
        let due = |at_ns, task| Due {
            at_ns,
            wire: key,
            serial: wire.serial,
            stream,
            task,
        };
        if streaming.is_paced {
            // With a duration and no count, messages repeat until the time is up.
            let total = (streaming.length_ns == 0 || self.plan.spec.stream_call_count > 0)
                .then_some(body.ends.len() as u64);
            let task = Task::Send {
                body: Arc::clone(body),
                sent: 0,
                total,
                until_ns: ends_ns,
            };
            let first = due(now_ns, task);
            self.work(first, now_ns);
        } else if ends_ns < u64::MAX && self.plan.method.shape == Shape::ServerStreaming {
            let end = due(ends_ns, Task::End);
            self.dues.push(end);
        }
    }

    /// When the next of them is due.
    pub(super) fn next_due_ns(&self) -> u64 {
        self.dues.peek().map_or(u64::MAX, |due| due.at_ns)
    }

    /// Does everything that is due.
    pub(super) fn run_due(&mut self, now_ns: u64) {
        // Work that is due again at once waits until the sockets had their turn.
        let mut ready = Vec::new();
        while self.next_due_ns() <= now_ns {
            ready.extend(self.dues.pop());
        }
        for due in ready {
            let key = due.wire;
            self.work(due, now_ns);
            self.flush(key, now_ns);
        }
    }

    fn work(&mut self, mut due: Due, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(due.wire) else {
            return;
        };
        // Keys and stream numbers are reused on other connections; a connection's serial is not.
        if wire.serial != due.serial || self.stage == Stage::Over {
            return;
        }
        let Some(call) = wire.http.call_mut(due.stream) else {
            return;
        };
        let Task::Send {
            body,
            sent,
            total,
            until_ns,
        } = &mut due.task
        else {
            call.enough = true;
            self.end_stream(due.wire, due.stream, now_ns);
            return;
        };
        let interval_ns = self.plan.streaming.interval_ns;
        let burst = if interval_ns == 0 { BURST } else { 1 };
        for _ in 0..burst {
            let over = now_ns >= *until_ns || total.is_some_and(|total| *sent >= total);
            // The end can be given at any time: it is sent after the bytes that flow control holds
            // back.
            if !over && wire.http.queued(due.stream) > 0 {
                break;
            }
            let message = if over { &[][..] } else { message(body, *sent) };
            if !over {
                *sent += 1;
            }
            let last = over || total.is_some_and(|total| *sent >= total);
            wire.http.send(due.stream, message, last);
            if last {
                return;
            }
        }
        let wait_ns = match interval_ns {
            0 if wire.http.queued(due.stream) == 0 => 0,
            0 => BLOCKED_WAIT_NS,
            interval => interval,
        };
        // Measured from when it was due, so that delays do not add up; never in the past.
        due.at_ns = (due.at_ns.max(now_ns.saturating_sub(wait_ns)) + wait_ns).min(*until_ns);
        self.dues.push(due);
    }

    fn end_stream(&mut self, key: usize, stream: u32, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let link = wire.link;
        if let Some(call) = wire.http.cancel(stream, ErrorCode::Cancel) {
            self.end_call(link, call, now_ns);
            self.stirred = true;
        }
    }
}

/// The n-th message of a stream, in turn; nothing if there are no messages.
fn message(body: &Body, n: u64) -> &[u8] {
    let count = body.ends.len().max(1) as u64;
    let at = usize::try_from(n % count).unwrap_or(0);
    let begin = at.checked_sub(1).and_then(|before| body.ends.get(before));
    let end = body.ends.get(at).copied().unwrap_or(0);
    body.bytes
        .get(begin.copied().unwrap_or(0)..end)
        .unwrap_or_default()
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |due: &Self| (due.at_ns, due.serial, due.stream);
        key(other).cmp(&key(self))
    }
}
