//! The loop of a thread: what is due is done, and then it sleeps.

use std::sync::atomic::Ordering;

use super::{Driver, GLANCE_NS, Timer};
use crate::engine::flight::is_open;
use crate::engine::iteration::Course;
use crate::report::EndedBy;
use crate::tally::Passed;
use volley_load::pace::SECOND_NS;
use volley_net::NetError;

/// While a name is looked up, a thread looks so often whether that is done.
const LOOK_UP_NS: u64 = 2_000_000;

impl Driver<'_> {
    /// Does what is due, and then waits, unless `is_over` says that this was all.
    pub(super) fn round(
        &mut self,
        is_over: impl Fn(&mut Self, u64) -> bool,
    ) -> Result<bool, NetError> {
        let now_ns = self.now_ns();
        if now_ns >= self.next_glance_ns {
            self.glance(now_ns);
        }
        self.turn(now_ns);
        if is_over(self, now_ns) {
            return Ok(true);
        }
        self.wait()?;
        self.take_events();
        Ok(false)
    }

    /// What is due, and what can go on.
    fn turn(&mut self, now_ns: u64) {
        self.obey(now_ns);
        self.ring(now_ns);
        self.end_late(now_ns);
        self.call_users(now_ns);
        self.arrive(now_ns);
        self.go_on(now_ns);
        self.open_links(now_ns);
        self.net.flush_touched();
    }

    /// Opens the links whose time has come.
    pub(super) fn open_links(&mut self, now_ns: u64) {
        if std::mem::take(&mut self.links_changed) || now_ns >= self.next_retry_ns {
            self.reconnect(now_ns);
            let retries = self
                .pools
                .iter()
                .filter_map(|pool| match pool.links.is_empty() {
                    // Its name is being looked up.
                    true if pool.has_waiting() => Some(now_ns.saturating_add(LOOK_UP_NS)),
                    _ => pool.next_retry_ns(),
                });
            self.next_retry_ns = retries.min().unwrap_or(u64::MAX);
        }
    }

    fn ring(&mut self, now_ns: u64) {
        while let Some(timer) = self.timers.pop(now_ns) {
            match timer {
                Timer::Go(key, serial) => {
                    let iteration = self.core.iterations.get_mut(key);
                    if let Some(iteration) = iteration.filter(|one| one.serial == serial) {
                        iteration.thinks = false;
                        self.core.ready.push(key);
                    }
                }
                Timer::User(load, user) => self.begin_user(load, user, now_ns),
                Timer::Refresh(at) => {
                    if self.stopped_by.is_none() {
                        self.begin(Course::Refresh(at), (0, 0), now_ns, now_ns);
                    }
                }
            }
        }
    }

    fn glance(&mut self, now_ns: u64) {
        self.next_glance_ns = now_ns.saturating_add(GLANCE_NS);
        if self.common.signal.load(Ordering::Relaxed) {
            self.end_by(EndedBy::Signal, now_ns);
            if self.common.control.is_cut() {
                self.ends_ns = now_ns;
            }
        } else if self.common.board.is_halted() {
            self.end_by(EndedBy::Failure, now_ns);
        }
        self.hear_orders();
        if now_ns >= self.next_note_ns {
            self.next_note_ns += SECOND_NS;
            self.report(now_ns);
        }
        let version = self.common.board.version();
        if version != self.version {
            (self.values, self.version) = (self.common.board.get(), version);
        }
        self.expect_greetings(now_ns);
        self.fail_back(now_ns);
    }

    /// Reports what this thread has counted so far.
    pub(super) fn report(&mut self, now_ns: u64) {
        if let Some(post) = &self.common.post {
            let flights = self.common.tells_ages.then(|| self.core.flights.iter());
            let open = flights
                .into_iter()
                .flatten()
                .map(|(_, one)| (one.step, one.timing(now_ns).response_ns()));
            let passed = Passed {
                open: open.collect(),
                ..self.core.tally.passed(now_ns)
            };
            // Nobody may listen any more.
            let _ = post.send((self.index, passed, self.stage));
        }
    }

    /// Sleeps until a socket is ready, or until something is due.
    pub(super) fn wait(&mut self) -> Result<(), NetError> {
        let has_work = self.links_changed || !self.core.ready.is_empty();
        let wake_ns = self.next_wake_ns();
        self.net.edge_ns = self.ends_ns;
        self.net.wait(wake_ns, has_work)
    }

    fn next_wake_ns(&mut self) -> u64 {
        let flights = &self.core.flights;
        [
            self.timers.next_ns(),
            self.deadlines
                .next_ns(|key, serial| is_open(flights, key, serial)),
            self.next_arrival_ns(),
            Some(self.next_retry_ns),
            Some(self.next_change_ns()),
            Some(self.ends_ns),
            self.next_order_ns(),
        ]
        .into_iter()
        .flatten()
        .fold(self.next_glance_ns, u64::min)
    }

    /// Ends the load of all threads.
    pub(super) fn halt(&mut self, now_ns: u64) {
        self.common.board.halt();
        self.end_by(EndedBy::Failure, now_ns);
    }
}
