//! Streams that live (`--stream-rate`): each message is sent when it is due, or as soon after as it can be.

use std::sync::Arc;

use super::{BURST, Driver, Recorder, Script, StreamTimer, Task, made};
use volley_request::Body;

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Schedules the messages of a stream that was just opened: from the next one of its worker on.
    pub(super) fn begin_pacing(&mut self, key: usize, stream: u32, body: &Arc<Body>, now_ns: u64) {
        let (Some(pacer), Some(wire)) = (&self.context.pacer, self.net.wires.get_mut(key)) else {
            return;
        };
        let serial = wire.owner.serial;
        let Some(call) = wire.http.call_mut(stream) else {
            return;
        };
        call.first = pacer.sent(call.ticket.worker);
        let timer = StreamTimer {
            at_ns: pacer.next_due_ns(call.ticket.worker),
            wire: key,
            serial,
            stream,
            task: Task::Pace {
                body: Arc::clone(body),
            },
        };
        self.pace(timer, now_ns);
    }

    /// Sends the messages of a stream that are due by now. None is skipped: those that could not be sent in time are sent
    /// late. After the last one that is due before the window's end, the client ends the stream.
    pub(super) fn pace(&mut self, mut timer: StreamTimer, now_ns: u64) {
        let (Some(wire), Some(pacer)) =
            (self.net.wires.get_mut(timer.wire), &mut self.context.pacer)
        else {
            return;
        };
        let (Some(call), Task::Pace { body }) = (wire.http.call_mut(timer.stream), &timer.task)
        else {
            return;
        };
        let (ticket, first) = (call.ticket, call.first);
        let worker = ticket.worker;
        for _ in 0..BURST {
            let due_ns = pacer.next_due_ns(worker);
            if due_ns.min(pacer.closes_ns) > now_ns {
                break;
            }
            if due_ns >= pacer.closes_ns {
                wire.http.send(timer.stream, &[], true);
                return;
            }
            if wire.is_congested() || wire.http.queued(timer.stream) > 0 {
                self.hold(timer, u64::MAX);
                return;
            }
            let n = pacer.sent(worker) - first;
            let message = match made(&mut self.context.script, &ticket, body, n) {
                Ok(message) => message,
                Err(status) => {
                    if let Some(call) = wire.http.call_mut(timer.stream) {
                        call.blame(status.code, status.message);
                    }
                    self.end_stream(timer.wire, timer.stream, now_ns);
                    return;
                }
            };
            wire.http.send(timer.stream, message, false);
            pacer.count(worker);
            if due_ns >= pacer.opens_ns {
                self.context.recorder.message_sent(due_ns, now_ns);
            }
        }
        timer.at_ns = pacer.next_due_ns(worker);
        self.push_timer(timer);
    }

    /// The window closes: no more messages are due. Those that were are sent, and the streams end after them.
    pub(in crate::driver) fn end_paced_streams(&mut self, now_ns: u64) {
        for timer in std::mem::take(&mut self.timers) {
            self.net.touch(timer.wire);
            self.work(timer, now_ns);
        }
        self.net.flush_touched();
    }

    /// Notes how many streams are open: at the window's opening, or at its end.
    pub(in crate::driver) fn count_streams(&mut self, is_end: bool) {
        if self.context.pacer.is_some() {
            let wires = self.net.wires.iter();
            let open: usize = wires.map(|(_, wire)| wire.http.open_streams()).sum();
            self.context.recorder.streams_open(open as u64, is_end);
        }
    }
}
