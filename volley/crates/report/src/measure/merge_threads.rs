//! Merges what several threads have counted. What several processes have counted is merged by [`Part`](super::Part), in part.rs.

use super::Tally;
use super::tally::Counted;

impl Tally {
    /// Adds what another thread counted in the same window. A [`Chronicle`](super::Chronicle) has their seconds.
    pub fn merge(&mut self, other: Tally) {
        self.counted.merge(other.counted);
    }
}

impl Counted {
    pub(super) fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        for (code, count) in other.failed {
            let sum = self.failed.entry(code).or_default();
            *sum = sum.saturating_add(count);
        }
        self.errors.merge(other.errors);
        self.checks.merge(other.checks);
        self.compressed.add(&other.compressed);
        self.service.merge(&other.service);
        for (mine, theirs) in [
            (&mut self.response, &other.response),
            (&mut self.delay, &other.delay),
        ] {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.merge(theirs);
            }
        }
        self.first_message.merge(&other.first_message);
        self.gap.merge(&other.gap);
        self.details.merge(other.details);
        self.life.merge(other.life);
        if let Some(paced) = &other.paced {
            self.paced.get_or_insert_default().merge(paced);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volley_http::grpc::Code;
    use volley_load::spec::{CountSpec, Share};

    use super::*;
    use crate::measure::samples::{MS, S, cut, ended, facts, options, timed};
    use crate::measure::{
        Cause, Chronicle, Outcome, Part, SecondCounts, StreamEvent, TallyOptions, Warning,
    };
    use crate::report::model::Report;

    /// An event to count: its kind, its time, and a duration.
    type Event = (u8, u64, u64);

    fn count(tally: &mut Tally, &(what, at_ns, span_ns): &Event) {
        let end_ns = at_ns + span_ns;
        match what % 13 {
            10 => tally.message_sent(at_ns, end_ns),
            11 => tally.message_answered(at_ns, end_ns),
            12 => {
                tally.message_unanswered(at_ns, end_ns);
                tally.stream(StreamEvent::Broke);
            }
            0 => tally.sent(at_ns, end_ns),
            1 => tally.messages(span_ns, span_ns / 2, end_ns),
            2 => tally.gap(span_ns),
            3 => tally.zero_gaps(span_ns),
            4 => tally.first_message(span_ns),
            5 => tally.wrong_reply(at_ns, &format!("reply {what} is wrong")),
            6 => {
                tally.missed(at_ns, end_ns, 3);
                tally.retried(2);
            }
            7 => tally.cut_call(&cut(at_ns, at_ns + span_ns / 2, end_ns)),
            8 => {
                let error = format!("error {}", u32::from(what) * 7 + (span_ns % 100) as u32);
                let code = Code::Unavailable;
                let outcome = Outcome::Failed {
                    code,
                    error,
                    cause: Cause::Answer,
                };
                tally.ended(&ended(at_ns, at_ns + span_ns / 2, end_ns, outcome));
            }
            _ => tally.ended(&ended(at_ns, at_ns + span_ns / 2, end_ns, Outcome::Ok)),
        }
    }

    /// A tally, and the seconds that it has not kept.
    type Parted = (Tally, Vec<SecondCounts>);

    fn tally_of(events: &[Event], options: &TallyOptions) -> Parted {
        let mut tally = Tally::new(options);
        for event in events {
            count(&mut tally, event);
        }
        // It answers to the end: when it fell silent is known only roughly once threads are merged.
        tally.counted.life.heard(20_000 * S);
        let seconds = tally.rest();
        (tally, seconds)
    }

    fn merged<const N: usize>(parts: [Parted; N]) -> Parted {
        parts
            .into_iter()
            .reduce(|(mut sum, mut seconds), (tally, more)| {
                sum.merge(tally);
                seconds.extend(more);
                (sum, seconds)
            })
            .unwrap()
    }

    fn report((tally, seconds): Parted) -> Report {
        let mut chronicle = Chronicle::new(1, 0, false);
        chronicle.add(seconds);
        Report::from(tally.into_part(facts(&timed(), 3 * S), None, chronicle))
    }

    fn events() -> impl Strategy<Value = Vec<(usize, Event)>> {
        // Sometimes past the half hour after which bins are folded.
        let at_ns = prop_oneof![9 => 0..5 * S, 1 => 0..10_000 * S];
        let event = (any::<u8>(), at_ns, 0..200 * MS);
        prop::collection::vec((0..8_usize, event), 0..200).prop_map(|mut events| {
            events.sort_by_key(|(_, (_, at_ns, span_ns))| at_ns + span_ns);
            events
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn threads_merged_in_any_order_report_what_one_thread_would(
            events in events(), count_errors: bool, open_loop: bool, details in 0..40_u64,
        ) {
            let count = CountSpec { count_errors, details, ..CountSpec::default() };
            let options = TallyOptions { count, open_loop, ..options() };
            let of = |thread| {
                let own = events.iter().filter(|(owner, _)| *owner % 3 == thread);
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn parts_that_were_written_read_and_merged_report_what_one_process_would(
            events in events(), count_errors: bool, open_loop: bool, details in 0..40_u64, of in prop::sample::select(vec![2, 3, 8_u32]),
        ) {
            let count = CountSpec { count_errors, details, ..CountSpec::default() };
            let options = TallyOptions { count: count.clone(), open_loop, ..options() };
            let part = |share: Share| {
                let mut spec = timed();
                spec.load.share = share;
                spec.count = count.clone();
                let own = events.iter().filter(|(owner, _)| *owner as u32 % share.of + 1 == share.number);
                let (tally, seconds) = tally_of(&own.map(|(_, event)| *event).collect::<Vec<_>>(), &options);
                let mut chronicle = Chronicle::new(1, 0, share.is_part());
                chronicle.add(seconds);
                let report = Report::from(tally.into_part(facts(&spec, 3 * S), None, chronicle));
                (report.tally.clone(), report)
            };
            let mut parts = (1..=of).map(|number| {
                let text = part(Share { number, of }).0.unwrap().to_string();
                Part::read(serde_json::from_str(&text).unwrap()).unwrap()
            });
            let mut sum = parts.next().unwrap();
            for part in parts {
                sum.merge(part).unwrap();
            }
            sum.check_whole().unwrap();
            let (_, mut alone) = part(Share::default());
            let mut together = Report::from(sum);
            // Each process has threads, connections and a memory of its own.
            (together.threads, together.connections, together.cost) = (1, 1, alone.cost);
            alone.warnings.retain(|warning| !matches!(warning, Warning::ClientBound { .. }));
            together.warnings.retain(|warning| !matches!(warning, Warning::ClientBound { .. }));
            prop_assert_eq!(together, alone);
        }
    }
}
