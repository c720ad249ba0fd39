//! Builds the report from the merged counts.

use super::tally::Tally;
use super::{series::Bin, warnings};
use crate::pace::Schedule;
use crate::report::latency::{Kind, Latency};
use crate::report::model::{
    Calls, Checks, Cost, Detail, DetailOutcome, EndedBy, Report, Sends, Series, WarmUp,
};
use crate::report::timestamp::unix_ns;
use crate::report::warning::Warning;
use std::collections::BTreeMap;

/// What the engine knows about a run, and no thread counted.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// `--name`; empty if none was given.
    pub name: String,
    pub tags: BTreeMap<String, String>,
    /// The options as ghz's JSON shows them.
    pub options: serde_json::Value,
    /// The target as the user gave it.
    pub host: String,
    /// `package.Service/Method`.
    pub call: String,
    /// From the first call to the window's opening; 0 without a warm-up.
    pub warmup_ns: u64,
    /// From the window's opening until the last counted call ended or was cut.
    pub elapsed_ns: u64,
    /// From the window's opening until no new calls started.
    pub window_ns: u64,
    pub ended_by: EndedBy,
    /// `--duration-stop=ignore`: ghz's counts leave out the calls cut at the end.
    pub ignore_cut: bool,
    pub threads: u32,
    pub connections: u32,
    /// Connections reopened during the run.
    pub reconnects: u64,
    /// What the generator itself used; see [`super::process`].
    pub cost: Cost,
    /// Whether replies were checked against `--expect` or `--expect-replies`.
    pub compared: bool,
    /// The rate of an open loop; its time 0 is the window's opening.
    pub schedule: Option<Schedule>,
    /// `-n`: later calls of the schedule are not sent.
    pub total: Option<u64>,
    /// Warnings that only the engine can give; those that follow from the counts are added.
    pub warnings: Vec<Warning>,
}

impl Tally {
    /// The report of a run, from the merged tallies of all threads.
    #[must_use]
    pub fn into_report(self, run: RunFacts) -> Report {
        let counts = self.counts;
        let details_most = self.details.most();
        let service = self.service.into_latency(Kind::Service);
        let with_failed = |latency| Latency {
            includes_failed: self.count_errors,
            ..latency
        };
        let timed = |latency: Option<Latency>, kind| {
            with_failed(latency.unwrap_or_else(|| Latency::none(kind)))
        };
        let (latency, service_latency) = match self.response {
            Some(response) => {
                let response = response.into_latency(Kind::Response);
                (
                    timed(response, Kind::Response),
                    Some(timed(service, Kind::Service)),
                )
            }
            None => (timed(service, Kind::Service), None),
        };
        let (cut, ignored) = if run.ignore_cut {
            (0, counts.cut)
        } else {
            (counts.cut, 0)
        };
        let (width_ns, bins) = self.series.finish(run.elapsed_ns);
        let at_unix_ns = |ns: u64| unix_ns(self.wall_start).saturating_add(ns);
        let details = self.details.into_sorted().into_iter();
        let details = details.filter(|kept| !run.ignore_cut || kept.outcome != DetailOutcome::Cut);

        let mut report = Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ns: at_unix_ns(self.start_ns),
            messages: counts.messages,
            data_frames: counts.data_frames,
            calls: Calls {
                ok: counts.ok,
                failed: self.failed,
                cut,
                ignored,
            },
            errors: self.errors.into_counts(),
            sends: Sends {
                sent: counts.sent,
                missed: counts.missed,
                late: counts.late,
                retried: counts.retried,
            },
            latency,
            service_latency,
            first_message: self.first_message.into_latency(Kind::Service),
            gap: self.gap.into_latency(Kind::Service),
            series: series(width_ns, &bins, &run),
            warm_up: self.warm_up.finish(run.warmup_ns).map(|seconds| WarmUp {
                seconds,
                elapsed_ns: run.warmup_ns,
            }),
            seconds: self.seconds.summaries(run.elapsed_ns),
            checks: Checks {
                compared: run.compared,
                replies_checked: counts.messages,
                failed: self.checks.calls,
                samples: self.checks.into_samples(),
            },
            details: details
                .map(|kept| Detail {
                    end_unix_ns: at_unix_ns(kept.end_ns),
                    latency_ns: kept.latency_ns,
                    outcome: kept.outcome,
                })
                .collect(),
            warnings: Vec::new(),
            name: run.name,
            tags: run.tags,
            options: run.options,
            host: run.host,
            call: run.call,
            elapsed_ns: run.elapsed_ns,
            window_ns: run.window_ns,
            ended_by: run.ended_by,
            threads: run.threads,
            connections: run.connections,
            reconnects: run.reconnects,
            cost: run.cost,
        };
        report.warnings = run.warnings;
        warnings::add(&mut report, counts.skipped, details_most);
        report
    }
}

/// The counts of each bin in the report's form, and how many calls of the schedule were due in it.
fn series(width_ns: u64, bins: &[Bin], run: &RunFacts) -> Series {
    let due_before = |ns: u64| {
        let due = run
            .schedule
            .as_ref()
            .map_or(0, |schedule| schedule.count_until(ns.min(run.window_ns)));
        due.min(run.total.unwrap_or(u64::MAX))
    };
    let begins = (0..bins.len() as u64).map(|bin| bin.saturating_mul(width_ns));
    Series {
        interval_ms: width_ns / 1_000_000,
        messages: bins.iter().map(|bin| bin.messages).collect(),
        ok: bins.iter().map(|bin| bin.ok).collect(),
        failed: bins.iter().map(|bin| bin.failed).collect(),
        sent: bins.iter().map(|bin| bin.sent).collect(),
        intended: begins
            .map(|from| due_before(from.saturating_add(width_ns)) - due_before(from))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::Code;
    use crate::measure::samples::{MS, S, ended, facts, options};
    use crate::measure::{Outcome, TallyOptions};
    use crate::pace::LoadSpec;

    fn failed(error: &str) -> Outcome {
        Outcome::Failed {
            code: Code::Unavailable,
            error: error.to_owned(),
        }
    }

    #[test]
    fn a_frozen_second_is_in_the_response_latency_of_an_open_loop() {
        let load = LoadSpec {
            rps: 1000,
            ..LoadSpec::default()
        };
        let schedule = Schedule::new(&load).unwrap().unwrap();
        let mut tally = Tally::new(&TallyOptions {
            open_loop: true,
            ..options()
        });
        for call in schedule.cursor(0, 1).take(5000) {
            let due_ns = call.intended_ns;
            // The server answers immediately, except from 2 s to 3 s, when it also delays the
            // sends.
            let served_ns = if (2 * S..3 * S).contains(&due_ns) {
                3 * S
            } else {
                due_ns
            };
            tally.sent(due_ns, served_ns);
            tally.ended(&ended(due_ns, served_ns, served_ns, Outcome::Ok));
        }
        let report = tally.into_report(RunFacts {
            schedule: Some(schedule),
            ..facts(5 * S)
        });

        let latency = &report.latency;
        assert_eq!((latency.kind, latency.samples), (Kind::Response, 5000));
        // 1000 calls waited 1000, 999, … 1 ms.
        assert_eq!(latency.mean_ns, 500_500 * MS / 5000);
        assert!(latency.at(990_000).unwrap() > 900 * MS);
        assert_eq!(report.service_latency.unwrap().max_ns, 0);
        assert_eq!(report.series.intended, [100; 50]);
        assert_eq!(
            report.series.sent[20..31],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1100]
        );
        assert_eq!((report.sends.sent, report.sends.late), (5000, 999));
        assert_eq!(report.seconds[2], crate::report::model::Second::default());
        assert_eq!(report.seconds[3].samples, 2000);
    }

    #[test]
    fn a_closed_loop_has_service_latency_only() {
        let mut tally = Tally::new(&options());
        tally.ended(&ended(0, 40, 100, Outcome::Ok));
        let report = tally.into_report(facts(S));
        assert_eq!(
            (report.latency.kind, report.latency.max_ns),
            (Kind::Service, 60)
        );
        assert_eq!(report.service_latency, None);
        assert_eq!((report.first_message, report.gap), (None, None));
    }

    #[test]
    fn failed_calls_are_among_the_latencies_only_if_asked_for() {
        for (count_errors, samples, max_ns) in [(false, 1, 10), (true, 2, 500)] {
            let mut tally = Tally::new(&TallyOptions {
                count_errors,
                ..options()
            });
            tally.ended(&ended(0, 0, 10, Outcome::Ok));
            tally.ended(&ended(0, 0, 500, failed("down")));
            let report = tally.into_report(facts(S));
            assert_eq!(
                (report.latency.samples, report.latency.max_ns),
                (samples, max_ns)
            );
            assert_eq!(report.latency.includes_failed, count_errors);
            assert_eq!(report.calls.failed, BTreeMap::from([("Unavailable", 1)]));
            assert_eq!(report.errors, BTreeMap::from([("down".to_owned(), 1)]));
        }
    }

    #[test]
    fn skipped_calls_are_in_no_figure_but_their_messages_are() {
        let mut tally = Tally::new(&TallyOptions {
            skip_first: 2,
            details: 9,
            ..options()
        });
        for end_ns in 1..=5 {
            tally.messages(1, 1, end_ns);
            let outcome = if end_ns == 1 {
                tally.wrong_reply(end_ns, "warming up");
                failed("warming up")
            } else {
                Outcome::Ok
            };
            tally.ended(&ended(0, 0, end_ns, outcome));
        }
        let report = tally.into_report(facts(S));
        assert_eq!((report.checks.failed, report.checks.samples.len()), (0, 0));
        assert_eq!((report.calls.count(), report.messages), (3, 5));
        assert_eq!((report.latency.samples, report.latency.min_ns), (3, 3));
        assert_eq!((report.details.len(), report.errors.len()), (3, 0));
        assert_eq!(report.series.ok[0], 3);
    }

    #[test]
    fn the_end_of_the_warm_up_forgets_everything_before_it() {
        let warm = TallyOptions {
            skip_first: 1,
            details: 9,
            open_loop: true,
            ..options()
        };
        let count = |tally: &mut Tally, at: u64| {
            tally.sent(at, at + 2 * MS);
            tally.messages(3, 1, at);
            tally.gap(7);
            tally.zero_gaps(2);
            tally.first_message(9);
            tally.wrong_reply(at, "wrong");
            tally.ended(&ended(at, at, at + 5, Outcome::Ok));
            tally.ended(&ended(at, at, at + 6, failed("down")));
            tally.ended(&ended(at, at, at + 8, Outcome::Ok));
            tally.cut_call(at, at, at + 9);
            tally.missed(1);
            tally.retried(1);
        };
        let mut tally = Tally::new(&warm);
        tally.start(2 * S);
        count(&mut tally, 3 * S);
        tally.reset(4 * S);
        count(&mut tally, 4 * S);
        let mut fresh = Tally::new(&TallyOptions {
            start_ns: 4 * S,
            ..warm
        });
        count(&mut fresh, 4 * S);
        assert_eq!(tally.into_report(facts(S)), fresh.into_report(facts(S)));
    }

    #[test]
    fn the_warm_ups_seconds_begin_with_its_load() {
        let warm_up = |threads: u64| {
            let mut sum = Tally::new(&options());
            for thread in 0..threads {
                let mut tally = Tally::new(&options());
                tally.start(2 * S);
                tally.messages(3, 2, 2 * S + thread);
                tally.messages(4, 1, 4 * S - 1);
                tally.reset(4 * S);
                tally.messages(5, 6, 4 * S);
                sum.merge(tally);
            }
            let report = sum.into_report(RunFacts {
                warmup_ns: 2 * S,
                ..facts(S)
            });
            assert_eq!(
                (report.messages, report.data_frames),
                (5 * threads, 6 * threads)
            );
            report.warm_up.unwrap().seconds
        };
        assert_eq!(warm_up(1), [3, 4]);
        assert_eq!(warm_up(3), [9, 12]);
    }

    #[test]
    fn ignored_calls_are_neither_cut_nor_kept() {
        let mut tally = Tally::new(&TallyOptions {
            details: 9,
            ..options()
        });
        for _ in 0..3 {
            tally.cut_call(0, 0, S);
        }
        let report = tally.into_report(RunFacts {
            ignore_cut: true,
            ..facts(S)
        });
        assert_eq!(
            (report.calls.cut, report.calls.ignored, report.details.len()),
            (0, 3, 0)
        );
    }

    #[test]
    fn no_call_is_due_after_the_window_or_beyond_the_total() {
        let load = LoadSpec {
            rps: 100,
            ..LoadSpec::default()
        };
        let schedule = Schedule::new(&load).unwrap();
        let intended = |window_ns, total| {
            let run = RunFacts {
                schedule: schedule.clone(),
                window_ns,
                total,
                ..facts(S)
            };
            Tally::new(&options()).into_report(run).series.intended
        };
        assert_eq!(intended(250 * MS, None), [10, 10, 5, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(intended(S, Some(13)), [10, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn times_of_day_are_counted_from_the_wall_clock_at_the_epoch() {
        let mut tally = Tally::new(&TallyOptions {
            start_ns: 5,
            details: 1,
            ..options()
        });
        tally.ended(&ended(6, 6, 8, Outcome::Ok));
        let report = tally.into_report(facts(S));
        let epoch_ns = unix_ns(options().wall_start);
        assert_eq!(report.started_unix_ns, epoch_ns + 5);
        assert_eq!(report.details[0].end_unix_ns, epoch_ns + 8);
    }
}
