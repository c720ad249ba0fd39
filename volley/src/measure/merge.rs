//! Merges the tallies of several threads.

use super::Tally;
use super::tally::Counts;

impl Tally {
    /// Adds what another thread counted in the same window.
    pub fn merge(&mut self, other: Tally) {
        self.still_to_skip += other.still_to_skip;
        self.skip_first += other.skip_first;
        self.counts.add(&other.counts);
        for (code, count) in other.failed {
            *self.failed.entry(code).or_default() += count;
        }
        self.errors.merge(other.errors);
        self.checks.merge(other.checks);
        self.service.merge(&other.service);
        self.response = match (self.response.take(), other.response) {
            (Some(mut mine), Some(theirs)) => {
                mine.merge(&theirs);
                Some(mine)
            }
            (mine, theirs) => mine.or(theirs),
        };
        self.first_message.merge(&other.first_message);
        self.gap.merge(&other.gap);
        self.series.merge(other.series);
        self.warm_up.merge(&other.warm_up);
        self.seconds.merge(other.seconds);
        self.details.merge(other.details);
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.data_frames += other.data_frames;
        self.ok += other.ok;
        self.failed += other.failed;
        self.cut += other.cut;
        self.skipped += other.skipped;
        self.sent += other.sent;
        self.late += other.late;
        self.missed += other.missed;
        self.retried += other.retried;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grpc::Code;
    use crate::measure::samples::{MS, S, ended, facts, options};
    use crate::measure::{Outcome, TallyOptions};
    use crate::report::model::Report;

    /// An event to count: its kind, its time, and a duration.
    type Event = (u8, u64, u64);

    fn count(tally: &mut Tally, &(what, at_ns, span_ns): &Event) {
        let end_ns = at_ns + span_ns;
        match what % 10 {
            0 => tally.sent(at_ns, end_ns),
            1 => tally.messages(span_ns, span_ns / 2, at_ns),
            2 => tally.gap(span_ns),
            3 => tally.zero_gaps(span_ns),
            4 => tally.first_message(span_ns),
            5 => tally.wrong_reply(at_ns, &format!("reply {what} is wrong")),
            6 => {
                tally.missed(1);
                tally.retried(2);
            }
            7 => tally.cut_call(at_ns, at_ns + span_ns / 2, end_ns),
            8 => {
                let error = format!("error {}", u32::from(what) * 7 + (span_ns % 100) as u32);
                let code = Code::Unavailable;
                let outcome = Outcome::Failed { code, error };
                tally.ended(&ended(at_ns, at_ns + span_ns / 2, end_ns, outcome));
            }
            _ => tally.ended(&ended(at_ns, at_ns + span_ns / 2, end_ns, Outcome::Ok)),
        }
    }

    fn tally_of(events: &[Event], options: &TallyOptions) -> Tally {
        let mut tally = Tally::new(options);
        for event in events {
            count(&mut tally, event);
        }
        tally
    }

    fn merged<const N: usize>(tallies: [Tally; N]) -> Tally {
        tallies
            .into_iter()
            .reduce(|mut sum, tally| {
                sum.merge(tally);
                sum
            })
            .unwrap()
    }

    fn report(tally: Tally) -> Report {
        tally.into_report(facts(3 * S))
    }

    fn events() -> impl Strategy<Value = Vec<(usize, Event)>> {
        // Sometimes past the hour after which bins are folded.
        let at_ns = prop_oneof![9 => 0..5 * S, 1 => 0..10_000 * S];
        let event = (any::<u8>(), at_ns, 0..200 * MS);
        prop::collection::vec((0..3_usize, event), 0..200).prop_map(|mut events| {
            events.sort_by_key(|(_, (_, at_ns, span_ns))| at_ns + span_ns);
            events
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn threads_merged_in_any_order_report_what_one_thread_would(
            events in events(), count_errors: bool, open_loop: bool, details in 0..40_usize,
        ) {
            let options = TallyOptions { count_errors, open_loop, details, ..options() };
            let of = |thread| {
                let own = events.iter().filter(|(owner, _)| *owner == thread);
                tally_of(&own.map(|(_, event)| *event).collect::<Vec<_>>(), &options)
            };
            let all: Vec<Event> = events.iter().map(|(_, event)| *event).collect();
            let alone = report(tally_of(&all, &options));
            let left = report(merged([merged([of(0), of(1)]), of(2)]));
            let right = report(merged([of(0), merged([of(1), of(2)])]));
            let backwards = report(merged([of(2), of(1), of(0)]));
            prop_assert_eq!(&left, &right);
            prop_assert_eq!(&left, &backwards);
            prop_assert_eq!(left, alone);
        }
    }
}
