//! What is open while the run goes on, for live figures.

use super::{Driver, Recorder, Script};
use crate::call::Ticket;

/// Calls that wait to be sent are counted in about so many groups.
const GROUPS: u64 = 1000;

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// The ages that the calls that are open had at a moment, in ns, and how many have each: since they were due, which in
    /// a closed loop is when they were sent. Those that are due and wait to be sent count, too. Empty if nobody watches.
    pub(super) fn open_ages(&mut self, at_ns: u64) -> Vec<(u64, u64)> {
        let Some(ages) = &mut self.ages else {
            return Vec::new();
        };
        let from_ns = self.context.counted_from_ns;
        let mut record = |ticket: &Ticket| {
            let age_ns = at_ns.checked_sub(ticket.intended_ns);
            if let Some(age_ns) = age_ns.filter(|_| ticket.intended_ns >= from_ns) {
                ages.record(age_ns, 1);
            }
        };
        for (_, wire) in &mut self.net.wires {
            wire.http.for_each_call(|_, call| record(&call.ticket));
        }
        for link in &self.links {
            link.again.iter().for_each(&mut record);
        }
        self.add_waiting(at_ns);
        self.ages.as_mut().map_or_else(Vec::new, |ages| ages.take())
    }

    /// Adds the calls that are due and wait to be sent.
    fn add_waiting(&mut self, at_ns: u64) {
        let from_ns = self.schedule_base();
        let (Some(ages), Some(agenda), true) = (&mut self.ages, &self.agenda, self.stage.sends())
        else {
            return;
        };
        let until_ns = at_ns.min(self.closes_ns);
        let most = self.quota.unwrap_or(u64::MAX);
        let left = agenda.left_in_groups(until_ns, most, GROUPS);
        for (intended_ns, calls) in left.filter(|(due_ns, _)| *due_ns >= from_ns) {
            ages.record(at_ns.saturating_sub(intended_ns), calls);
        }
        // All threads share these.
        if self.index == 0 {
            self.shared.adrift.for_each(from_ns, |due| {
                if let Some(age_ns) = at_ns.checked_sub(due.intended_ns) {
                    ages.record(age_ns, 1);
                }
            });
        }
    }
}
