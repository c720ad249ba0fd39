//! Timed work on streams: sending the next message, or ending the stream.

mod pacing;

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Driver, Recorder, Script, Stage};
use crate::call::Ticket;
use volley_http::grpc::Status;
use volley_http::http2::ErrorCode;
use volley_request::{Body, Shape};

/// Messages sent in one go if no interval is set.
const BURST: usize = 64;

/// So many are kept without a look at whether their calls are over.
pub const FEW_TIMERS: usize = 1024;

/// The next thing one stream needs at a moment. The greatest is the earliest, for a max-heap.
pub struct StreamTimer {
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
    /// Sends those of a stream that lives.
    Pace { body: Arc<Body> },
    /// The client ends a server's stream.
    End,
}

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Schedules what a newly opened call needs later. Its first message is sent at once.
    pub(super) fn arrange(&mut self, key: usize, stream: u32, body: &Arc<Body>, now_ns: u64) {
        if self.context.pacer.is_some() {
            self.begin_pacing(key, stream, body, now_ns);
            return;
        }
        let streaming = self.plan.streaming;
        let Some(wire) = self.net.wires.get(key) else {
            return;
        };
        let ends_ns = match streaming.length_ns {
            0 => u64::MAX,
            length => now_ns.saturating_add(length),
        };
        let timer = |at_ns, task| StreamTimer {
            at_ns,
            wire: key,
            serial: wire.owner.serial,
            stream,
            task,
        };
        if streaming.is_paced {
            // With a duration and no count, messages repeat until the time is up, if there are any.
            let is_counted = streaming.length_ns == 0 || self.plan.spec.request.stream.count > 0;
            let total = body.ends.len() as u64;
            let total = (is_counted || total == 0).then_some(total);
            let task = Task::Send {
                body: Arc::clone(body),
                sent: 0,
                total,
                until_ns: ends_ns,
            };
            let first = timer(now_ns, task);
            self.work(first, now_ns);
        } else if ends_ns < u64::MAX && self.plan.method.shape == Shape::ServerStreaming {
            let end = timer(ends_ns, Task::End);
            self.push_timer(end);
        }
    }

    /// Adds one. Those of calls that are over are removed before there are many.
    fn push_timer(&mut self, timer: StreamTimer) {
        if self.timers.len() >= self.most_timers {
            let wires = &mut self.net.wires;
            self.timers.retain(|timer| {
                let wire = wires.get_mut(timer.wire);
                let wire = wire.filter(|wire| wire.owner.serial == timer.serial);
                wire.is_some_and(|wire| wire.http.call_mut(timer.stream).is_some())
            });
            self.most_timers = FEW_TIMERS.max(2 * self.timers.len());
        }
        self.timers.push(timer);
    }

    /// Holds one back until its connection can take more, or until its stream must end.
    fn hold(&mut self, timer: StreamTimer, until_ns: u64) {
        self.held_until_ns = self.held_until_ns.min(until_ns);
        self.held.entry(timer.wire).or_default().push(timer);
    }

    /// A connection may take more: what it held back goes on.
    #[inline]
    pub(super) fn go_on(&mut self, key: usize, now_ns: u64) {
        if !self.held.is_empty() {
            self.go_on_held(key, now_ns);
        }
    }

    #[cold]
    fn go_on_held(&mut self, key: usize, now_ns: u64) {
        for timer in self.held.remove(&key).unwrap_or_default() {
            self.work(timer, now_ns);
        }
        self.net.flush(key);
    }

    /// When the next of them is due.
    pub(super) fn next_timer_ns(&self) -> u64 {
        let next = self.timers.peek().map_or(u64::MAX, |timer| timer.at_ns);
        next.min(self.held_until_ns)
    }

    /// Does everything that is due.
    pub(super) fn run_timers(&mut self, now_ns: u64) {
        // Work that is due again at once waits until the sockets had their turn.
        let mut ready = Vec::new();
        if self.held_until_ns <= now_ns {
            self.held_until_ns = u64::MAX;
            ready.extend(self.held.drain().flat_map(|(_, held)| held));
        }
        while self.next_timer_ns() <= now_ns {
            ready.extend(self.timers.pop());
        }
        for timer in ready {
            self.net.touch(timer.wire);
            self.work(timer, now_ns);
        }
        self.net.flush_touched();
    }

    fn work(&mut self, mut timer: StreamTimer, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(timer.wire) else {
            return;
        };
        // Keys and stream numbers are reused on other connections; a connection's serial is not.
        if wire.owner.serial != timer.serial || self.stage == Stage::Over {
            return;
        }
        let Some(call) = wire.http.call_mut(timer.stream) else {
            return;
        };
        if matches!(timer.task, Task::Pace { .. }) {
            self.pace(timer, now_ns);
            return;
        }
        let Task::Send {
            body,
            sent,
            total,
            until_ns,
        } = &mut timer.task
        else {
            call.enough = true;
            self.end_stream(timer.wire, timer.stream, now_ns);
            return;
        };
        let ticket = call.ticket;
        let interval_ns = self.plan.streaming.interval_ns;
        let burst = if interval_ns == 0 { BURST } else { 1 };
        for _ in 0..burst {
            let over = now_ns >= *until_ns || total.is_some_and(|total| *sent >= total);
            // The end can be given at any time: it is sent after the bytes that flow control holds
            // back.
            if !over && (wire.is_congested() || wire.http.queued(timer.stream) > 0) {
                let until_ns = *until_ns;
                self.hold(timer, until_ns);
                return;
            }
            let message = match over {
                true => Ok(&[][..]),
                false => made(&mut self.context.script, &ticket, body, *sent),
            };
            let message = match message {
                Ok(message) => message,
                Err(status) => {
                    if let Some(call) = wire.http.call_mut(timer.stream) {
                        call.blame(status.code, status.message);
                    }
                    self.end_stream(timer.wire, timer.stream, now_ns);
                    return;
                }
            };
            if !over {
                *sent += 1;
            }
            let last = over || total.is_some_and(|total| *sent >= total);
            wire.http.send(timer.stream, message, last);
            if last {
                return;
            }
        }
        // Measured from when it was due, so that delays do not add up; never in the past.
        let from_ns = timer.at_ns.max(now_ns.saturating_sub(interval_ns));
        timer.at_ns = (from_ns + interval_ns).min(*until_ns);
        self.push_timer(timer);
    }

    fn end_stream(&mut self, key: usize, stream: u32, now_ns: u64) {
        let Some(wire) = self.net.wires.get_mut(key) else {
            return;
        };
        let link = wire.owner.link;
        if let Some(call) = wire.http.cancel(stream, ErrorCode::Cancel) {
            wire.owner.unanswered += u32::from(!call.answered);
            self.end_call(link, call, now_ns);
            self.stirred = true;
        }
    }
}

/// The n-th message of a stream: the script's own, or that of the body.
fn made<'a, S: Script>(
    script: &'a mut S,
    ticket: &Ticket,
    body: &'a Body,
    n: u64,
) -> Result<&'a [u8], Status> {
    let made = script.message(ticket, n)?;
    Ok(made.unwrap_or_else(|| message(body, n)))
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

impl PartialEq for StreamTimer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for StreamTimer {}

impl PartialOrd for StreamTimer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for StreamTimer {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |timer: &Self| (timer.at_ns, timer.serial, timer.stream);
        key(other).cmp(&key(self))
    }
}
