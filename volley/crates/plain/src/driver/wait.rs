//! Waiting for sockets and for time, and the work that time triggers.

use super::{Driver, GLANCE_NS, LoadError, Recorder, Script};
use crate::call::Ticket;
use crate::sink::TOO_LATE;
use volley_http::grpc::{Code, Status};
use volley_http::http2::ErrorCode;
use volley_report::measure::Cause;

/// The shortest and the longest interval between two checks for timeouts.
const CHECK_NS: std::ops::RangeInclusive<u64> = 1_000_000..=250_000_000;

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Waits for the sockets until a moment, or until the next glance at the time, and handles those that are ready.
    pub(super) fn turn(&mut self, until_ns: u64) -> Result<(), LoadError> {
        let glance_ns = self.clock.now_ns().saturating_add(GLANCE_NS);
        self.next_glance_ns = glance_ns.min(until_ns);
        self.wait()?;
        self.take_events();
        Ok(())
    }

    /// Sleeps until a socket is ready, or until something is due.
    pub(super) fn wait(&mut self) -> Result<(), LoadError> {
        let wake_ns = self.next_wake_ns(self.clock.now_ns());
        self.net.edge_ns = self.next_edge_ns();
        Ok(self.net.wait(wake_ns, self.stirred)?)
    }

    fn next_wake_ns(&self, now_ns: u64) -> u64 {
        let mut wake_ns = self.next_glance_ns.min(self.next_timer_ns());
        wake_ns = wake_ns.min(self.next_edge_ns()).min(self.next_check_ns);
        wake_ns = wake_ns.min(self.next_retry_ns());
        if !self.stage.sends() {
            return wake_ns;
        }
        if let Some(change) = self.changes.get(self.in_force) {
            wake_ns = wake_ns.min(change.at_ns);
        }
        if let Some(change) = self
            .plan
            .workers
            .next_change_after(self.since_start(now_ns))
        {
            wake_ns = wake_ns.min(self.schedule_base().saturating_add(change));
        }
        // A due call waits for a worker, whom a reply frees; that reply wakes the thread. But a call that has become due
        // since the thread last looked may find a free one.
        match self.next_call_ns() {
            Some(due_ns) if due_ns > now_ns || self.may_send() => wake_ns.min(due_ns),
            _ => wake_ns,
        }
    }

    pub(super) fn check_every_ns(&self) -> u64 {
        let shortest = self
            .plan
            .timeout_ns
            .unwrap_or(u64::MAX)
            .min(self.plan.keepalive_ns.unwrap_or(u64::MAX));
        (shortest / 20).clamp(*CHECK_NS.start(), *CHECK_NS.end())
    }

    /// Ends the calls that exceed `-t`, checks silent connections, and starts the new workers of the concurrency
    /// schedule.
    pub(super) fn check_timeouts(&mut self, now_ns: u64) {
        self.next_check_ns = now_ns.saturating_add(self.check_every_ns());
        self.stirred = true;
        self.expect_greetings(now_ns);
        self.balance(now_ns);
        self.expect_room(now_ns);
        self.keep_alive(now_ns);
        if let Some(timeout_ns) = self.plan.timeout_ns {
            self.end_late(now_ns, timeout_ns);
            self.end_unsent(now_ns, timeout_ns);
        }
        self.close_retired(now_ns);
    }

    pub(super) fn end_late(&mut self, now_ns: u64, timeout_ns: u64) {
        let mut late = Vec::new();
        for (key, wire) in &mut self.net.wires {
            wire.http.for_each_call(|stream, call| {
                if now_ns.saturating_sub(call.ticket.sent_ns) >= timeout_ns {
                    late.push((key, stream));
                }
            });
        }
        for (key, stream) in late {
            let Some(wire) = self.net.wires.get_mut(key) else {
                continue;
            };
            let at = wire.owner.link;
            if let Some(mut call) = wire.http.cancel(stream, ErrorCode::Cancel) {
                wire.owner.unanswered += u32::from(!call.answered);
                self.net.overdue(key, call.ticket.sent_ns, now_ns);
                call.blame_for(Cause::TimedOut, Code::DeadlineExceeded, TOO_LATE.to_owned());
                self.end_call(at, call, now_ns);
            }
        }
    }

    /// Ends the calls that waited too long to be sent again: their link may stay without a connection.
    pub(super) fn end_unsent(&mut self, now_ns: u64, timeout_ns: u64) {
        for at in 0..self.links.len() {
            let Some(link) = self.links.get_mut(at) else {
                continue;
            };
            let is_late = |ticket: &mut Ticket| now_ns.saturating_sub(ticket.sent_ns) >= timeout_ns;
            let late: Vec<Ticket> = link.again.extract_if(.., is_late).collect();
            for ticket in late {
                let status = Status::new(Code::DeadlineExceeded, TOO_LATE);
                self.fail(at, ticket, (&status, Cause::TimedOut), now_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::driver::samples::{driver, shared, spec};
    use crate::plan::Plan;
    use crate::stage::Opening;
    use volley_serve::{Config, Reference};

    #[test]
    fn a_call_that_has_become_due_since_the_last_look_is_not_slept_over() {
        let server = Reference::start(Config::default()).unwrap();
        let mut spec = spec(&server.address().to_string());
        spec.load.rate.rps = 10;
        let plan = Plan::new(&spec, &shared().signal).unwrap();
        let shared = shared();
        let mut driver = driver(&spec, &plan, &shared);
        driver.connect().unwrap();
        let start_ns = driver.clock.now_ns();
        driver.start(start_ns, Arc::new(Opening::at(start_ns)));
        driver.next_glance_ns = u64::MAX;
        driver.dispatch(start_ns);
        let due_ns = driver.next_call_ns().unwrap();
        assert_eq!(driver.next_wake_ns(due_ns - 1), due_ns);
        assert!(driver.next_wake_ns(due_ns + 1) <= due_ns + 1);
    }
}
