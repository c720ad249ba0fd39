//! Loads that change evenly, phase after phase: `0..5000/s for 30s`, then `5000/s for 2m`.
//!
//! All arithmetic is exact. Twice the integral of a rate is a whole number at the end of each phase, so sums of phases
//! lose nothing.

use std::sync::Arc;

use super::timetable::{Even, Timetable};

/// Twice what one iteration is worth: rates are millionths of an iteration a second, times are nanoseconds.
const ITERATION: u64 = 2 * 1_000_000 * super::SECOND_NS;

/// The greatest rate, in millionths a second: 2^32 iterations a second. Higher ones count as this one.
const MOST: u64 = (1 << 32) * 1_000_000;

/// A time in which a number changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    pub from: u64,
    pub to: u64,
    /// `None`: until the run ends by something else.
    pub length_ns: Option<u64>,
}

impl Phase {
    /// Always the same number.
    #[must_use]
    pub fn constant(number: u64) -> Self {
        Self {
            from: number,
            to: number,
            length_ns: None,
        }
    }
}

/// Iterations a second over time, and from it the due time of each iteration.
///
/// Iteration `n` (from 0) is due when the integral of the rate goes beyond `n`. After the last phase, none is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasedRate {
    pieces: Arc<[Piece]>,
}

/// A phase and its place in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    from_ns: u64,
    length_ns: u64,
    from: u64,
    to: u64,
    /// Twice the integral of the rate at its beginning.
    area: u128,
}

impl PhasedRate {
    /// One phase after another, in millionths of an iteration a second. A phase without a length is the last one, and
    /// keeps the rate that it begins with.
    #[must_use]
    pub fn new(phases: &[Phase]) -> Self {
        let mut pieces = Vec::new();
        let mut area: u128 = 0;
        for (from_ns, phase) in placed(phases) {
            let from = phase.from.min(MOST);
            let piece = Piece {
                from_ns,
                length_ns: phase.length_ns.unwrap_or(u64::MAX - from_ns),
                from,
                to: phase.length_ns.map_or(from, |_| phase.to.min(MOST)),
                area,
            };
            area = area.saturating_add(piece.grown(piece.length_ns));
            pieces.push(piece);
        }
        Self {
            pieces: pieces.into(),
        }
    }

    /// The same rate all the time, in millionths of an iteration a second.
    #[must_use]
    pub fn constant(rate: u64) -> Self {
        Self::new(&[Phase::constant(rate)])
    }

    /// When the last phase is over, in nanoseconds after the start; `None`: never. A rate of 0 without an end is no phase.
    #[must_use]
    pub fn end_ns(&self) -> Option<u64> {
        let end_ns = self.pieces.last().map_or(0, |last| match last.end_ns() {
            u64::MAX if last.from == 0 && last.to == 0 => last.from_ns,
            end_ns => end_ns,
        });
        (end_ns < u64::MAX).then_some(end_ns)
    }

    /// Millionths of an iteration a second at a moment; 0 after the last phase.
    #[must_use]
    pub fn rate_at(&self, ns: u64) -> u64 {
        let piece = self.pieces.iter().find(|piece| ns < piece.end_ns());
        piece.map_or(0, |piece| {
            between(piece.from, piece.to, ns - piece.from_ns, piece.length_ns)
        })
    }

    /// The piece in which an iteration is due.
    fn piece(&self, n: u64) -> Option<&Piece> {
        let area = area_of(n);
        let after = self.pieces.partition_point(|piece| piece.area <= area);
        // The last one of those that begin with no more; the ones before it have nothing left.
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        (piece.area.saturating_add(piece.grown(piece.length_ns)) > area).then_some(piece)
    }
}

impl Timetable for PhasedRate {
    fn intended_ns(&self, n: u64) -> Option<u64> {
        let piece = self.piece(n)?;
        Some(piece.from_ns + piece.last_within(area_of(n) - piece.area))
    }

    fn count_until(&self, ns: u64) -> u64 {
        let begun = self.pieces.partition_point(|piece| piece.from_ns < ns);
        let last = begun.checked_sub(1).and_then(|last| self.pieces.get(last));
        let iterations = last.map_or(0, |piece| {
            let grown = piece.grown((ns - piece.from_ns).min(piece.length_ns));
            piece.area.saturating_add(grown).div_ceil(ITERATION.into())
        });
        u64::try_from(iterations).unwrap_or(u64::MAX)
    }

    fn even(&self, n: u64) -> Option<Even> {
        let piece = self.piece(n).filter(|piece| piece.from == piece.to)?;
        let rate = 2 * piece.from;
        Some(Even {
            rate,
            call: ITERATION,
            rest: ((area_of(n) - piece.area) % u128::from(rate)) as u64,
            until_ns: piece.end_ns(),
        })
    }
}

impl Piece {
    fn end_ns(&self) -> u64 {
        self.from_ns + self.length_ns
    }

    /// Twice the integral over its first `ns`, rounded up: a count of whole iterations rounds up as well.
    fn grown(&self, ns: u64) -> u128 {
        let level = 2 * u128::from(self.from) * u128::from(ns);
        if self.from == self.to {
            return level;
        }
        // `change * ns² / length` in two parts that fit 128 bits, because `ns` is at most `length`.
        let (square, length) = (u128::from(ns) * u128::from(ns), u128::from(self.length_ns));
        let change = u128::from(self.from.abs_diff(self.to));
        let (whole, part) = (change * (square / length), change * (square % length));
        match self.to > self.from {
            true => level + whole + part.div_ceil(length),
            false => level - whole - part / length,
        }
    }

    /// The last nanosecond before its end at which it has grown by no more than `area`.
    fn last_within(&self, area: u128) -> u64 {
        let last = self.length_ns.saturating_sub(1);
        if self.from == self.to {
            let ns = area / (2 * u128::from(self.from)).max(1);
            return u64::try_from(ns).unwrap_or(u64::MAX).min(last);
        }
        // The root of a quadratic equation as floating point finds it, and then exactly.
        let (from, area_f) = (2.0 * self.from as f64, area as f64);
        let bend = (self.to as f64 - self.from as f64) / self.length_ns as f64;
        let root = (from * from + 4.0 * bend * area_f).max(0.0).sqrt();
        let guess = ((2.0 * area_f / (from + root)) as u64).min(last);
        let is_within = |ns: &u64| self.grown(*ns) <= area;
        let (mut low, mut high, mut step) = (guess, guess, 1);
        // `low` is within, or 0; `high` is beyond, or the end.
        while low > 0 && !is_within(&low) {
            (high, low) = (low, low.saturating_sub(step));
            step *= 2;
        }
        while high <= last && is_within(&high) {
            (low, high) = (high, high.saturating_add(step).min(self.length_ns));
            step *= 2;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match is_within(&middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }
}

/// Users over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasedUsers {
    phases: Box<[(u64, Phase)]>,
}

impl PhasedUsers {
    /// One phase after another. A phase without a length is the last one, and keeps the number that it begins with.
    #[must_use]
    pub fn new(phases: &[Phase]) -> Self {
        Self {
            phases: placed(phases).collect(),
        }
    }

    /// How many users are active at a moment, in nanoseconds after the start. After the last phase, nobody is.
    ///
    /// A rise adds each user when it has reached that number, and a fall removes one likewise.
    #[must_use]
    pub fn active_at(&self, ns: u64) -> u64 {
        let now = self.phases.iter().find(|placed| ns < end_of(placed));
        now.map_or(0, |(from_ns, phase)| match phase.length_ns {
            Some(length_ns) => between(phase.from, phase.to, ns - from_ns, length_ns),
            None => phase.from,
        })
    }

    /// The next moment after `ns` at which the number changes, or at which a phase begins or ends; `None` after all.
    #[must_use]
    pub fn next_change_after(&self, ns: u64) -> Option<u64> {
        let (from_ns, phase) = self.phases.iter().find(|placed| ns < end_of(placed))?;
        let length_ns = phase.length_ns?;
        let change = u128::from(phase.from.abs_diff(phase.to));
        let changed = change * u128::from(ns - from_ns) / u128::from(length_ns);
        let next = ((changed + 1) * u128::from(length_ns)).div_ceil(change.max(1));
        let after_ns = u64::try_from(next).unwrap_or(u64::MAX).min(length_ns);
        Some(from_ns + if change == 0 { length_ns } else { after_ns })
    }

    /// The greatest number of users at any time.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most_from(0)
    }

    /// The greatest number in the phases that are not over at a moment, in nanoseconds after the start.
    #[must_use]
    pub fn most_from(&self, ns: u64) -> u64 {
        let left = self.phases.iter().filter(|placed| ns < end_of(placed));
        let most = left.map(|(_, phase)| match phase.length_ns {
            Some(_) => phase.from.max(phase.to),
            None => phase.from,
        });
        most.max().unwrap_or_default()
    }

    /// When the last phase is over, in nanoseconds after the start; `None`: never. Nobody without an end is no phase.
    #[must_use]
    pub fn end_ns(&self) -> Option<u64> {
        let Some(last) = self.phases.last() else {
            return Some(0);
        };
        match (last.1.length_ns, last.1.from) {
            (Some(_), _) => Some(end_of(last)),
            (None, 0) => Some(last.0),
            (None, _) => None,
        }
    }
}

/// Phases of some length with their beginnings, up to the first one that does not end.
fn placed(phases: &[Phase]) -> impl Iterator<Item = (u64, Phase)> {
    let mut next_ns = Some(0_u64);
    let phases = phases.iter().filter(|phase| phase.length_ns != Some(0));
    phases.map_while(move |phase| {
        let from_ns = next_ns?;
        let end_of = |length_ns| from_ns.checked_add(length_ns);
        next_ns = phase.length_ns.and_then(end_of);
        let mut phase = *phase;
        phase.length_ns = phase.length_ns.filter(|_| next_ns.is_some());
        Some((from_ns, phase))
    })
}

fn end_of((from_ns, phase): &(u64, Phase)) -> u64 {
    let length_ns = phase.length_ns;
    length_ns.map_or(u64::MAX, |length_ns| from_ns + length_ns)
}

/// The number at a moment of an even change, which moves when the next whole number is reached.
fn between(from: u64, to: u64, ns: u64, length_ns: u64) -> u64 {
    let change = u128::from(from.abs_diff(to)) * u128::from(ns) / u128::from(length_ns.max(1));
    let change = u64::try_from(change).unwrap_or(u64::MAX);
    match to > from {
        true => from + change,
        false => from - change,
    }
}

/// Twice the integral of the rate at which an iteration is due.
fn area_of(n: u64) -> u128 {
    u128::from(n) * u128::from(ITERATION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::{Agenda, Lane, SECOND_NS as S};

    const PER_S: u64 = 1_000_000;

    #[test]
    fn a_last_phase_of_nothing_ends_with_the_phase_before_it() {
        let phases = [phase(1, 4, 3), Phase::constant(0)];
        assert_eq!(PhasedUsers::new(&phases).end_ns(), Some(3 * S));
        assert_eq!(PhasedRate::new(&phases).end_ns(), Some(3 * S));
        assert_eq!(PhasedRate::new(&[Phase::constant(0)]).end_ns(), Some(0));
    }

    fn phase(from: u64, to: u64, s: u64) -> Phase {
        Phase {
            from,
            to,
            length_ns: Some(s * S),
        }
    }

    fn rate(phases: &[(u64, u64, u64)]) -> PhasedRate {
        let phases = phases.iter();
        let phases = phases.map(|&(from, to, s)| phase(from * PER_S, to * PER_S, s));
        PhasedRate::new(&phases.collect::<Vec<_>>())
    }

    #[test]
    fn a_ramp_is_half_of_its_end_and_the_plateau_follows_it() {
        let rate = rate(&[(0, 5000, 30), (5000, 5000, 120)]);
        assert_eq!(rate.count_until(30 * S), 75_000);
        assert_eq!(rate.count_until(u64::MAX), 675_000);
        assert_eq!(rate.intended_ns(0), Some(0));
        assert_eq!(rate.intended_ns(75_000), Some(30 * S));
        assert_eq!(rate.intended_ns(75_001), Some(30 * S + S / 5000));
        assert_eq!(rate.intended_ns(675_000), None);
        assert_eq!(rate.end_ns(), Some(150 * S));
        let rates = [0, 15, 30, 149, 150].map(|s| rate.rate_at(s * S) / PER_S);
        assert_eq!(rates, [0, 2500, 5000, 5000, 0]);
    }

    #[test]
    fn ninety_a_minute_is_one_and_a_half_a_second() {
        let rate = PhasedRate::constant(90 * PER_S / 60);
        let due = [0, 1, 2, 3].map(|n| rate.intended_ns(n).unwrap());
        assert_eq!(due, [0, 666_666_666, 1_333_333_333, 2 * S]);
        assert_eq!(rate.end_ns(), None);
    }

    #[test]
    fn nothing_is_due_in_a_phase_of_rate_zero_and_the_next_one_begins_with_an_iteration() {
        let rate = rate(&[(1, 1, 2), (0, 0, 5), (1, 1, 1)]);
        let mut agenda = Agenda::new(&rate, Lane { first: 0, every: 1 }, 0);
        let mut due = Vec::new();
        while let Some(ns) = agenda.next_ns() {
            agenda.take();
            due.push(ns / S);
        }
        assert_eq!(due, [0, 1, 7]);
        assert!(agenda.is_over());
    }

    #[test]
    fn the_greatest_rates_and_times_fit() {
        let length_ns = Some(u64::MAX);
        let steep = PhasedRate::new(&[
            Phase {
                from: 0,
                to: u64::MAX,
                length_ns,
            },
            phase(7, 9, 1),
        ]);
        assert_eq!(steep.count_until(u64::MAX), u64::MAX);
        assert!(steep.intended_ns(u64::MAX).is_some());
        let falling = PhasedRate::new(&[Phase {
            from: u64::MAX,
            to: 0,
            length_ns: Some(u64::MAX - 1),
        }]);
        let [early, late] = [u64::MAX - 9, u64::MAX].map(|n| falling.intended_ns(n).unwrap());
        assert!(early < late);
        assert_eq!(PhasedRate::new(&[]).count_until(u64::MAX), 0);
    }

    #[test]
    fn users_come_when_their_number_is_reached_and_leave_likewise() {
        let users = PhasedUsers::new(&[phase(0, 4, 8), phase(2, 2, 1), phase(3, 0, 3)]);
        let active = [0, 1, 2, 7, 8, 9, 10, 11, 12].map(|s| users.active_at(s * S));
        assert_eq!(active, [0, 0, 1, 3, 2, 3, 2, 1, 0]);
        assert_eq!((users.most(), users.end_ns()), (4, Some(12 * S)));
        let mut changes = Vec::new();
        while let Some(ns) = users.next_change_after(changes.last().copied().unwrap_or_default()) {
            changes.push(ns);
        }
        assert_eq!(changes, [2, 4, 6, 8, 9, 10, 11, 12].map(|s| s * S));
        let forever = PhasedUsers::new(&[
            Phase {
                from: 10,
                to: 99,
                length_ns: None,
            },
            phase(5, 5, 1),
        ]);
        assert_eq!([forever.active_at(u64::MAX - 1), forever.most()], [10; 2]);
        assert_eq!(forever.end_ns(), None);
        assert_eq!(forever.next_change_after(0), None);
    }
}
