//! Warnings that follow from a run's own counts.

use volley_base::units::numbers::duration;

use super::model::{Report, Sends};
use crate::measure::{EndedBy, PacedCounts, Silence, Warning};

/// More late sends than one in this many cause a warning.
const LATE_PART: u64 = 100;
/// From this share on, the generator counts as the limit (measuring.md: client-bound).
const BUSY_PERCENT: u32 = 90;
/// Shorter runs consist mostly of their beginning and end.
const BUSY_LEAST_NS: u64 = 100_000_000;

/// Adds the warnings that follow from the report's counts. `details_most` is the number of single
/// calls that were to be kept.
pub(super) fn add(report: &mut Report, skipped: u64, details_most: usize) {
    let (failed, elapsed_ns) = (report.calls.failed_total(), report.elapsed_ns);
    let Sends {
        sent, missed, late, ..
    } = report.sends;
    let (silence, intended) = (report.silence, sent + missed);
    let (kept, count) = (report.details.len() as u64, report.calls.count());
    let (threads, reconnects) = (report.threads, report.reconnects);
    let (busy_percent, is_stopped) = (busy_percent(report), report.is_stopped());
    let (wrong, sample) = (report.checks.failed, report.checks.samples.first());
    let sample = sample.cloned().unwrap_or_default();
    let ended = report.calls.ok + failed;
    let spins = report.spins;
    let interrupted = report.ended_by == EndedBy::Signal;
    let paced = report.paced.as_ref().map(|paced| paced.counts);
    let none_ok = report.calls.ok == 0 && failed > 0;

    let mut warn = |due: bool, warning: Warning| {
        if due && !report.warnings.contains(&warning) {
            report.warnings.push(warning);
        }
    };
    let after = duration(elapsed_ns);
    let end = match is_stopped {
        true => Warning::Stopped { after },
        false => Warning::Interrupted { after },
    };
    warn(interrupted, end);
    let nothing = ended == 0 && skipped == 0 && !interrupted && paced.is_none();
    warn(nothing, Warning::NothingEnded);
    warn(ended == 0 && skipped > 0, Warning::AllSkipped { skipped });
    warn(none_ok, Warning::AllFailed { count: failed });
    match silence {
        Some(Silence { since_ns, .. }) => warn(true, Warning::Silent { since_ns, missed }),
        None => {
            warn(missed > 0, Warning::Missed { missed, intended });
            warn(late > sent / LATE_PART, Warning::Late { late, sent });
        }
    }
    let is_bound = busy_percent >= BUSY_PERCENT && elapsed_ns >= BUSY_LEAST_NS && !spins;
    let bound = Warning::ClientBound {
        busy_percent,
        threads,
    };
    warn(is_bound, bound);
    if let Some(PacedCounts {
        wanted, open_first, ..
    }) = paced
    {
        let open = open_first;
        warn(open < wanted, Warning::StreamsNotOpen { open, wanted });
    }
    warn(reconnects > 0, Warning::Reconnected { reconnects });
    warn(wrong > 0, Warning::WrongReplies { wrong, sample });
    let is_capped = details_most > 0 && kept < count;
    warn(is_capped, Warning::DetailsCapped { kept, count });
}

/// The share of their time that its threads spent on a CPU, or the busiest one alone.
fn busy_percent(report: &Report) -> u32 {
    let average_s = report.cost.cpu_s / f64::from(report.threads.max(1));
    let busiest_s = average_s.max(report.cost.busiest_thread_s);
    (100.0 * busiest_s / report.elapsed_s()).round().min(100.0) as u32
}

#[cfg(test)]
mod tests {
    use volley_load::spec::CountSpec;

    use crate::measure::samples::{
        MS, S, counting, cut, ended, facts, failed, options, report, timed,
    };
    use crate::measure::{Cost, Outcome, RunFacts, Tally, Warning};

    fn tally(sent: u64, late: u64) -> Tally {
        let mut tally = Tally::new(&options());
        for call in 0..sent {
            tally.sent(0, if call < late { 2 * MS } else { 0 });
            tally.ended(&ended(0, 0, 5, Outcome::Ok));
        }
        tally
    }

    fn warnings(tally: Tally) -> Vec<Warning> {
        report(tally, facts(&timed(), S)).warnings
    }

    #[test]
    fn a_good_run_has_no_warning() {
        assert_eq!(warnings(tally(1000, 10)), []);
    }

    #[test]
    fn more_than_one_late_call_in_a_hundred_is_warned_of() {
        let (late, sent) = (11, 1000);
        assert_eq!(warnings(tally(sent, late)), [Warning::Late { late, sent }]);
    }

    #[test]
    fn missed_sends_are_warned_of_with_what_was_intended() {
        let mut tally = tally(90, 0);
        tally.missed(0, 9, 10);
        let (missed, intended) = (10, 100);
        assert_eq!(warnings(tally), [Warning::Missed { missed, intended }]);
    }

    #[test]
    fn an_empty_a_failed_and_a_skipped_run_are_told_apart() {
        assert_eq!(warnings(tally(0, 0)), [Warning::NothingEnded]);

        let mut failing = tally(0, 0);
        failing.ended(&ended(0, 0, 5, failed("down")));
        assert_eq!(warnings(failing), [Warning::AllFailed { count: 1 }]);

        let mut skipping = counting(CountSpec {
            skip_first: 9,
            ..CountSpec::default()
        });
        skipping.ended(&ended(0, 0, 5, Outcome::Ok));
        assert_eq!(warnings(skipping), [Warning::AllSkipped { skipped: 1 }]);
    }

    #[test]
    fn a_busy_generator_is_warned_of() {
        let cost = |cpu_s| Cost {
            cpu_s,
            ..Cost::default()
        };
        let spec = timed();
        let run = |cost| RunFacts {
            threads: 2,
            cost,
            ..facts(&spec, S)
        };
        assert_eq!(report(tally(1, 0), run(cost(1.78))).warnings, []);
        let busy = Warning::ClientBound {
            busy_percent: 90,
            threads: 2,
        };
        let one_thread_alone = Cost {
            busiest_thread_s: 0.9,
            ..cost(1.0)
        };
        for cost in [cost(1.8), one_thread_alone] {
            let warnings = report(tally(1, 0), run(cost)).warnings;
            assert_eq!(warnings, std::slice::from_ref(&busy));
        }
    }

    #[test]
    fn what_the_engine_has_said_is_not_said_twice() {
        let warning = Warning::Reconnected { reconnects: 3 };
        let spec = timed();
        let run = RunFacts {
            reconnects: 3,
            warnings: vec![warning.clone()],
            ..facts(&spec, S)
        };
        assert_eq!(report(tally(1, 0), run).warnings, [warning]);
    }

    #[test]
    fn single_calls_left_out_are_warned_of_only_if_any_were_asked_for() {
        let mut some = counting(CountSpec {
            details: 1,
            ..CountSpec::default()
        });
        some.ended(&ended(0, 0, 5, Outcome::Ok));
        some.cut_call(&cut(0, 0, 9));
        let (kept, count) = (1, 2);
        assert_eq!(warnings(some), [Warning::DetailsCapped { kept, count }]);
    }

    #[test]
    fn a_wrong_reply_is_warned_of() {
        let mut tally = tally(1, 0);
        let sample = "reply 0: `result` is 4, expected 3".to_owned();
        tally.wrong_reply(7, &sample);
        let wrong = 1;
        assert_eq!(warnings(tally), [Warning::WrongReplies { wrong, sample }]);
    }
}
