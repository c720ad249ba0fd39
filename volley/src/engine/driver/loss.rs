//! Connections that are lost, retired, silent or closed to new calls, and their replacements.

use super::{Book, Driver, Stage};
use crate::engine::link::Link;
use crate::engine::wire::Phase;
use crate::grpc::Code;
use crate::report::{EndedBy, Warning};

impl<B: Book> Driver<'_, B> {
    /// Retries the links that lost their connection; ends a run that has no connection left.
    pub(super) fn reconnect(&mut self, now_ns: u64) {
        if !self.broken {
            return;
        }
        let mut any = false;
        for at in 0..self.links.len() {
            let Some(link) = self.links.get(at).filter(|link| self.is_needed(link)) else {
                continue;
            };
            any = true;
            let due = link
                .down
                .as_ref()
                .is_none_or(|down| down.retry_at_ns <= now_ns);
            if link.wire.is_none() && due {
                self.open_wire(at, now_ns);
            }
        }
        if any {
            self.give_up_if_gone(now_ns);
        }
        self.broken = self.links.iter().any(|link| link.wire.is_none());
    }

    /// Whether calls may still start on a link; after the window, only those that are sent again.
    fn is_needed(&self, link: &Link) -> bool {
        self.stage.sends() || (self.stage == Stage::Drain && !link.again.is_empty())
    }

    fn give_up_if_gone(&mut self, now_ns: u64) {
        let gone = self.links.iter().all(|link| {
            link.down.as_ref().is_some_and(|down| {
                now_ns.saturating_sub(down.since_ns) >= self.plan.connect_timeout_ns
            })
        });
        if gone {
            let down = self.links.iter().find_map(|link| link.down.as_ref());
            self.gave_up = down.map(|down| Warning::ServerGone {
                reason: down.reason.clone(),
            });
            self.finish(now_ns, EndedBy::Window);
        }
    }

    /// When the next lost link is retried.
    pub(super) fn next_retry_ns(&self) -> u64 {
        if !self.broken {
            return u64::MAX;
        }
        let needed = self.links.iter().filter(|link| self.is_needed(link));
        let retries = needed.filter_map(|link| match link.wire {
            None => link.down.as_ref().map(|down| down.retry_at_ns),
            Some(_) => None,
        });
        retries.min().unwrap_or(u64::MAX)
    }

    /// Sends what retiring connections still have to say. Closes those on which the client itself
    /// ended the last call: their servers may send nothing more that would trigger it.
    pub(super) fn close_retired(&mut self, now_ns: u64) {
        let retiring = self.wires.iter();
        let retiring = retiring.filter(|(_, wire)| wire.phase == Phase::Retiring);
        let retiring: Vec<usize> = retiring.map(|(key, _)| key).collect();
        for key in retiring {
            self.flush(key, now_ns);
            self.look_at_phase(key, now_ns);
        }
    }

    /// The connection is gone: its calls fail, and its link is reopened.
    pub(super) fn lose(&mut self, key: usize, reason: &str, now_ns: u64) {
        let Some(wire) = self.wires.get_mut(key) else {
            return;
        };
        let at = wire.link;
        let reason = match wire.http.go_away() {
            Some(go_away) => format!("{reason} after {go_away}"),
            None => reason.to_owned(),
        };
        let calls = wire.http.take_calls();
        // Its last bytes: a GOAWAY, or a TLS alert.
        let _ = wire.flush();
        for mut call in calls {
            call.blame(
                Code::Unavailable,
                format!("the connection was lost: {reason}"),
            );
            self.end_call(at, call, now_ns);
        }
        self.drop_wire(key);
        // The workers that this frees may continue on the link's next connection.
        self.stirred = true;
        self.broken = true;
        if let Some(link) = self.links.get_mut(at)
            && link.wire == Some(key)
        {
            link.broke(reason, now_ns);
        }
    }

    pub(super) fn drop_wire(&mut self, key: usize) {
        if let Some(mut wire) = self.wires.try_remove(key) {
            // Dropping closes it; a failure to deregister changes nothing.
            let _ = self.poll.registry().deregister(wire.transport.source());
        }
    }

    /// Ends a run whose server allows no streams: nothing else would end it.
    pub(super) fn expect_room(&mut self, now_ns: u64) {
        let is_due = self.next_call_ns().is_none_or(|due_ns| due_ns <= now_ns) && !self.all_sent();
        // A schedule may not have given this thread's workers anything to do yet.
        let active = self.active_workers(now_ns);
        let may_call = is_due && (0..self.links.len()).any(|at| self.has_worker(at, active));
        if !may_call || !self.stage.sends() || self.broken || self.open_calls() > 0 {
            self.stuck_since_ns = None;
            return;
        }
        let since_ns = *self.stuck_since_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since_ns) >= self.plan.connect_timeout_ns {
            self.gave_up = Some(Warning::NoStreams);
            self.finish(now_ns, EndedBy::Window);
        }
    }

    /// Sends a PING on a silent connection; treats it as lost if it does not answer.
    pub(super) fn keep_alive(&mut self, now_ns: u64) {
        let Some(every_ns) = self.plan.keepalive_ns else {
            return;
        };
        let mut dead = Vec::new();
        for (key, wire) in &mut self.wires {
            match wire.pinged_ns {
                Some(_) if wire.http.pongs() > 0 && wire.heard_ns > wire.pinged_ns.unwrap_or(0) => {
                    wire.pinged_ns = None;
                }
                // gRPC's own default timeout for a keepalive's answer: 20 s.
                Some(sent_ns) if now_ns.saturating_sub(sent_ns) > 20_000_000_000 => dead.push(key),
                Some(_) => {}
                None if now_ns.saturating_sub(wire.heard_ns) >= every_ns => {
                    wire.http.ping(now_ns.to_be_bytes());
                    wire.pinged_ns = Some(now_ns);
                }
                None => {}
            }
        }
        for key in dead {
            self.lose(key, "no answer to a keepalive PING", now_ns);
        }
    }

    /// Writes what a connection has to send; treats it as lost if that fails.
    #[inline]
    pub(super) fn flush(&mut self, key: usize, now_ns: u64) {
        if let Some(wire) = self.wires.get_mut(key)
            && let Err(error) = wire.flush()
        {
            self.lose(key, &error.to_string(), now_ns);
        }
    }
}
