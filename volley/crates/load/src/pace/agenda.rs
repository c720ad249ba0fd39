//! The due times of one thread's calls, over changes of the rate while the run goes on.

use std::collections::VecDeque;

use super::{Cursor, Schedule, Timetable};

/// Which calls of a run are a thread's own: `first`, `first + every`, `first + 2 * every`, …
///
/// Process `k` of `n` makes every `n`-th call from the `k`-th on, and its threads deal those out among themselves in the
/// same way. So the lanes of all processes together are the whole schedule, however many threads each one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The lane's first call.
    pub first: u64,
    /// The distance to the next one, at least 1.
    pub every: u64,
}

impl Lane {
    /// How many of the first `all` calls of a run belong to it.
    pub fn count(self, all: u64) -> u64 {
        all.saturating_sub(self.first).div_ceil(self.every.max(1))
    }

    /// The calls of one of several parts, dealt out in turn.
    pub fn part(self, index: u64, parts: u64) -> Self {
        Self {
            first: self.first + self.every * index,
            every: self.every * parts,
        }
    }
}

/// The due times of a lane.
///
/// All moments are absolute. A change takes effect at a moment: whatever was due before it stays due, and from then on
/// the new rate counts.
#[derive(Clone, Debug)]
pub struct Agenda<T = Schedule> {
    lane: Lane,
    /// One after another; the last one is in force.
    parts: VecDeque<Part<T>>,
    /// Calls that were due in parts that are over.
    before: u64,
    /// Calls that were taken although a change, known too late, made them due later. The next part leaves them out.
    ahead: u64,
    is_paused: bool,
    /// The schedule that begins when a pause ends, if it was changed meanwhile; and its time 0, if that is known.
    next: Option<(T, Option<u64>)>,
}

/// A time in which one schedule is in force.
#[derive(Clone, Debug)]
struct Part<T> {
    schedule: T,
    cursor: Cursor<T>,
    /// The schedule's time 0. It may lie before the part, if a pause stopped the schedule.
    base_ns: u64,
    from_ns: u64,
    until_ns: u64,
}

impl<T: Timetable> Agenda<T> {
    /// The calls of a lane from `start_ns` on, when the schedule begins.
    pub fn new(schedule: &T, lane: Lane, start_ns: u64) -> Self {
        Self {
            lane,
            parts: VecDeque::from([Part::new(schedule, lane, start_ns, start_ns)]),
            before: 0,
            ahead: 0,
            is_paused: false,
            next: None,
        }
    }

    /// When the next call is due; `None` if none is, unless the rate changes.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.parts.iter().find_map(Part::next_ns)
    }

    /// Takes that call.
    pub fn take(&mut self) {
        while let [first, _, ..] = self.parts.make_contiguous()
            && first.next_ns().is_none()
        {
            self.before += first.count_until(self.lane, u64::MAX);
            self.parts.pop_front();
        }
        if let Some(part) = self.parts.front_mut()
            && part.next_ns().is_some()
        {
            part.cursor.next();
        }
    }

    /// Whether no call will be due any more.
    pub fn is_over(&self) -> bool {
        !self.is_paused && self.next_ns().is_none()
    }

    /// From `at_ns` on, another schedule is in force, and begins there. In a pause, it begins with the pause's end.
    pub fn change(&mut self, at_ns: u64, schedule: &T) {
        self.replace(at_ns, schedule, None);
    }

    /// The same with a schedule whose time 0 was at `base_ns`, which is no later.
    pub fn return_to(&mut self, at_ns: u64, schedule: &T, base_ns: u64) {
        self.replace(at_ns, schedule, Some(base_ns));
    }

    fn replace(&mut self, at_ns: u64, schedule: &T, base_ns: Option<u64>) {
        if self.is_paused {
            self.next = Some((schedule.clone(), base_ns));
            return;
        }
        self.cut(at_ns);
        let base_ns = base_ns.unwrap_or(at_ns);
        self.add(Part::new(schedule, self.lane, base_ns, at_ns));
    }

    /// From `at_ns` on, no call is due.
    pub fn pause(&mut self, at_ns: u64) {
        if !std::mem::replace(&mut self.is_paused, true) {
            self.cut(at_ns);
        }
    }

    /// From `at_ns` on, the schedule goes on where a pause stopped it, or the one that replaced it begins.
    pub fn resume(&mut self, at_ns: u64) {
        if !std::mem::take(&mut self.is_paused) {
            return;
        }
        if let Some((schedule, base_ns)) = self.next.take() {
            let base_ns = base_ns.unwrap_or(at_ns);
            self.add(Part::new(&schedule, self.lane, base_ns, at_ns));
        } else if let Some(last) = self.parts.back() {
            let paused_ns = at_ns.saturating_sub(last.until_ns);
            let base_ns = last.base_ns.saturating_add(paused_ns);
            self.add(Part::new(&last.schedule, self.lane, base_ns, at_ns));
        }
    }

    /// How many calls of this lane were due before that moment, taken or not.
    pub fn due_until(&self, ns: u64) -> u64 {
        let parts = self.parts.iter();
        let counts = parts.map(|part| part.count_until(self.lane, ns));
        self.before + counts.sum::<u64>()
    }

    /// How many calls are due before that moment and were not taken.
    pub fn left_until(&self, ns: u64) -> u64 {
        self.parts.iter().map(|part| part.left_until(ns)).sum()
    }

    /// The calls that are due before a moment and were not taken, up to `limit` of them, in groups: when the middle one of
    /// each is due, and how many there are. There are about `most` groups, however many calls.
    pub fn left_in_groups(
        &self,
        until_ns: u64,
        limit: u64,
        most: u64,
    ) -> impl Iterator<Item = (u64, u64)> {
        let mut left = self.left_until(until_ns).min(limit);
        let size = left.div_ceil(most.max(1)).max(1);
        self.parts.iter().flat_map(move |part| {
            let calls = part.left_until(until_ns).min(left);
            left -= calls;
            part.groups(calls, size)
        })
    }

    fn cut(&mut self, at_ns: u64) {
        if let Some(last) = self.parts.back_mut() {
            last.until_ns = last.until_ns.min(at_ns).max(last.from_ns);
            self.ahead += last.ahead(self.lane);
        }
    }

    fn add(&mut self, mut part: Part<T>) {
        for _ in 0..std::mem::take(&mut self.ahead) {
            part.cursor.next();
        }
        self.parts.push_back(part);
    }
}

impl<T: Timetable> Part<T> {
    fn new(schedule: &T, lane: Lane, base_ns: u64, from_ns: u64) -> Self {
        let passed = schedule.count_until(from_ns - base_ns);
        let rounds = lane.count(passed);
        let first = lane.first.saturating_add(rounds.saturating_mul(lane.every));
        Self {
            schedule: schedule.clone(),
            cursor: Cursor::new(schedule.clone(), first, lane.every),
            base_ns,
            from_ns,
            until_ns: u64::MAX,
        }
    }

    #[inline]
    fn next_ns(&self) -> Option<u64> {
        let at_ns = self.base_ns.saturating_add(self.cursor.next_ns()?);
        (at_ns < self.until_ns).then_some(at_ns)
    }

    /// How many calls of the lane are due in this part before a moment.
    fn count_until(&self, lane: Lane, ns: u64) -> u64 {
        let until_ns = ns.min(self.until_ns);
        if until_ns <= self.from_ns {
            return 0;
        }
        self.numbered_until(lane, until_ns) - self.numbered_until(lane, self.from_ns)
    }

    /// How many calls of the lane the schedule has before a moment, from its own start on.
    fn numbered_until(&self, lane: Lane, ns: u64) -> u64 {
        lane.count(self.schedule.count_until(ns - self.base_ns))
    }

    /// How many calls were taken that are due only after its end.
    fn ahead(&self, lane: Lane) -> u64 {
        let taken = |next: u64| (next - lane.first) / lane.every.max(1);
        let due = self.numbered_until(lane, self.until_ns);
        let next = self.cursor.next_number();
        next.map_or(0, |next| taken(next).saturating_sub(due))
    }

    /// The next calls, in groups of one size: when the middle one of each is due, and how many there are.
    fn groups(&self, calls: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
        let firsts = (0..calls).step_by(usize::try_from(size).unwrap_or(usize::MAX));
        firsts.filter_map(move |first| {
            let count = size.min(calls - first);
            let after_ns = self.cursor.later_ns(first + (count - 1) / 2)?;
            Some((self.base_ns.saturating_add(after_ns), count))
        })
    }

    fn left_until(&self, ns: u64) -> u64 {
        let until_ns = ns.min(self.until_ns).saturating_sub(self.base_ns);
        self.cursor.count_until(until_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    /// Takes all calls that are due before a moment.
    fn taken(agenda: &mut Agenda, until_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        while let Some(ns) = agenda.next_ns().filter(|ns| *ns < until_ns) {
            agenda.take();
            all.push(ns);
        }
        all
    }

    fn alone(rps: u32) -> Agenda {
        Agenda::new(&Schedule::constant(rps), Lane { first: 0, every: 1 }, 0)
    }

    #[test]
    fn a_changed_rate_begins_at_its_moment_and_loses_no_call() {
        let mut agenda = alone(2);
        agenda.change(S, &Schedule::constant(4));
        let due = [0, S / 2, S, S + S / 4, S + S / 2, S + 3 * S / 4];
        assert_eq!(taken(&mut agenda, 2 * S), due);
    }

    #[test]
    fn calls_that_were_due_before_a_change_stay_due() {
        let mut agenda = alone(2);
        assert_eq!(agenda.left_until(S), 2);
        agenda.change(S, &Schedule::constant(1));
        agenda.change(3 * S, &Schedule::constant(1000));
        assert_eq!((agenda.left_until(3 * S), agenda.due_until(3 * S)), (4, 4));
        assert_eq!(taken(&mut agenda, 3 * S), [0, S / 2, S, 2 * S]);
        assert_eq!((agenda.left_until(3 * S), agenda.due_until(3 * S)), (0, 4));
    }

    #[test]
    fn a_change_that_is_known_too_late_sends_no_call_twice() {
        let mut agenda = alone(10);
        assert_eq!(taken(&mut agenda, 2 * S).len(), 20);
        agenda.change(S, &Schedule::constant(5));
        assert_eq!(agenda.due_until(3 * S), 20);
        assert_eq!(agenda.next_ns(), Some(3 * S));
    }

    #[test]
    fn a_pause_that_is_known_too_late_is_counted_once() {
        let mut agenda = alone(10);
        assert_eq!(taken(&mut agenda, 2 * S).len(), 20);
        agenda.pause(S);
        agenda.change(S, &Schedule::constant(5));
        agenda.resume(S + S / 2);
        assert_eq!(agenda.next_ns(), Some(3 * S + S / 2));
    }

    #[test]
    fn nothing_is_due_in_a_pause_and_the_schedule_goes_on_where_it_stopped() {
        let mut agenda = alone(2);
        agenda.pause(S / 4);
        assert_eq!(agenda.next_ns(), Some(0));
        agenda.take();
        assert_eq!((agenda.next_ns(), agenda.is_over()), (None, false));
        agenda.resume(10 * S);
        let due = [10 * S + S / 4, 10 * S + 3 * S / 4];
        assert_eq!(taken(&mut agenda, 11 * S), due);
    }

    #[test]
    fn a_rate_that_is_changed_in_a_pause_begins_with_its_end() {
        let mut agenda = alone(2);
        agenda.pause(S / 4);
        agenda.change(S, &Schedule::constant(8));
        agenda.change(2 * S, &Schedule::constant(4));
        assert_eq!(taken(&mut agenda, 9 * S), [0]);
        assert!(!agenda.is_over());
        agenda.resume(10 * S);
        assert_eq!(agenda.due_until(11 * S), 5);
        assert_eq!(taken(&mut agenda, 10 * S + S / 2), [10 * S, 10 * S + S / 4]);
        // A pause after it goes on where it stopped.
        agenda.pause(10 * S + S / 2);
        agenda.resume(12 * S);
        assert_eq!(agenda.next_ns(), Some(12 * S));
    }

    #[test]
    fn many_calls_are_left_in_a_few_groups() {
        let mut agenda = alone(1_000_000);
        agenda.take();
        let groups: Vec<_> = agenda.left_in_groups(60 * S, u64::MAX, 1000).collect();
        assert_eq!(groups.len(), 1000);
        let count: u64 = groups.iter().map(|(_, calls)| calls).sum();
        assert_eq!(count, 60 * 1_000_000 - 1);
        let group_ns = 60 * S / 1000;
        for (group, (ns, _)) in (0..).zip(groups) {
            assert!(ns.abs_diff(group * group_ns + group_ns / 2) < 2000, "{ns}");
        }
        let few: Vec<_> = agenda.left_in_groups(60 * S, 5, 2).collect();
        assert_eq!(few, [(2000, 3), (4000, 2)]);
    }

    fn changes() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
        let change = (1..2 * S, 1..3000_u32, any::<bool>());
        prop::collection::vec(change, 0..8).prop_map(|changes| {
            let mut at_ns = 0;
            let mut all = Vec::new();
            for (after_ns, rps, pauses) in changes {
                at_ns += after_ns;
                all.push((at_ns, rps, pauses));
            }
            all
        })
    }

    fn agenda(rps: u32, lane: Lane, changes: &[(u64, u32, bool)]) -> Agenda {
        let mut agenda = Agenda::new(&Schedule::constant(rps), lane, 0);
        for &(at_ns, rps, pauses) in changes {
            if pauses {
                agenda.pause(at_ns);
                if rps % 2 == 0 {
                    agenda.change(at_ns + 1, &Schedule::constant(rps));
                }
                agenda.resume(at_ns + u64::from(rps));
            } else {
                agenda.change(at_ns, &Schedule::constant(rps));
            }
        }
        agenda
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_lanes_of_all_processes_are_the_whole_whatever_changes(
            rps in 1..3000_u32, changes in changes(), threads in prop::collection::vec(1..4_u64, 1..5),
        ) {
            let whole = taken(&mut agenda(rps, Lane { first: 0, every: 1 }, &changes), 4 * S);
            let processes = threads.len() as u64;
            let mut parts = Vec::new();
            for (process, threads) in (0..).zip(threads) {
                for thread in 0..threads {
                    let lane = Lane { first: process, every: processes }.part(thread, threads);
                    let mut agenda = agenda(rps, lane, &changes);
                    let due = agenda.due_until(4 * S);
                    prop_assert_eq!(agenda.left_until(4 * S), due);
                    let singly: Vec<_> = agenda.left_in_groups(4 * S, due, due).collect();
                    let few = agenda.left_in_groups(4 * S, due, 10).map(|(_, calls)| calls);
                    prop_assert_eq!(few.sum::<u64>(), due);
                    let own = taken(&mut agenda, 4 * S);
                    prop_assert_eq!(own.len() as u64, due);
                    let ones: Vec<_> = own.iter().map(|ns| (*ns, 1)).collect();
                    prop_assert_eq!(singly, ones);
                    prop_assert_eq!(agenda.due_until(4 * S), due);
                    parts.extend(own);
                }
            }
            parts.sort_unstable();
            prop_assert_eq!(parts, whole);
        }
    }
}
