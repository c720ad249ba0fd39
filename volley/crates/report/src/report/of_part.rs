//! The report of what was counted.

use std::collections::BTreeMap;

use volley_base::units::numbers::duration;
use volley_load::pace::whole_ns;
use volley_load::spec::{DurationStop, Share};

use super::model::{Calls, Checks, Detail, PacedStreams, Report, Sends, Series, WarmUp};
use super::{ghz_options, warnings};
use crate::measure::{
    DetailOutcome, Distribution, EndedBy, History, Latency, LatencyKind, Part, TOGETHER_NS, Warning,
};

impl From<Part> for Report {
    /// The report on all parts together. If parts are missing, it says what is needed to merge it with them.
    fn from(part: Part) -> Self {
        let is_whole = part.check_whole().is_ok();
        let tally = (!is_whole).then(|| serde_json::to_value(&part).unwrap_or_default());
        let (started_unix_ns, history) = (part.started_unix_ns, part.history);
        let apart_ns = part.last_started_unix_ns.saturating_sub(started_unix_ns);
        let (mut run, counted) = (part.run, part.counted);
        if apart_ns > TOGETHER_NS {
            let after = duration(apart_ns);
            run.warnings.push(Warning::Apart { after });
        }
        let mut spec = run.spec;
        if is_whole {
            spec.load.share = Share::default();
        }
        let counts = counted.counts;
        let limit_ns = spec.load.length().map(whole_ns);
        if run.ended_by == EndedBy::Window
            && limit_ns.is_some_and(|limit_ns| run.elapsed_ns >= limit_ns)
            && let Some(total) = spec.load.own_calls().filter(|total| counts.sent < *total)
        {
            let sent = counts.sent;
            run.warnings.push(Warning::TimeOver { sent, total });
        }
        let details_most = counted.details.most();
        let includes_failed = spec.count.count_errors;
        let timed = |times: Distribution, kind| {
            let latency = times.into_latency(kind);
            Latency {
                includes_failed,
                ..latency.unwrap_or_else(|| Latency::none(kind))
            }
        };
        let service = timed(counted.service, LatencyKind::Service);
        let (latency, service_latency) = match counted.response {
            Some(response) => (timed(response, LatencyKind::Response), Some(service)),
            None => (service, None),
        };
        let ignores_cut = spec.load.duration_stop == DurationStop::Ignore;
        let (cut, ignored) = match ignores_cut {
            true => (0, counts.cut),
            false => (counts.cut, 0),
        };
        let series = series(&history);
        let load_ns = match run.ended_by {
            EndedBy::Finished => run.window_ns.min(series.sent_until_ns()),
            _ => run.window_ns,
        };
        let first_message = counted.first_message.into_latency(LatencyKind::Service);
        let gap = counted.gap.into_latency(LatencyKind::Service);
        // The replies of a stream are answers, too.
        let longest_ns = match [&first_message, &gap] {
            [Some(first), Some(gap)] if gap.samples > 0 => first.max_ns.max(gap.max_ns),
            _ => service_latency.as_ref().unwrap_or(&latency).max_ns,
        };
        let details = counted.details.into_sorted().into_iter();
        let details = details.filter(|kept| !ignores_cut || kept.outcome != DetailOutcome::Cut);
        let details = details.map(|kept| Detail {
            end_unix_ns: started_unix_ns.saturating_add(kept.end_ns),
            latency_ns: kept.latency_ns,
            outcome: kept.outcome,
        });
        let failed = counted.failed.into_iter();
        let delay = counted.delay;
        let mut report = Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ns,
            messages: counts.messages,
            data_frames: counts.data_frames,
            compressed: counted.compressed,
            calls: Calls {
                ok: counts.ok,
                failed: failed.map(|(code, count)| (code.name(), count)).collect(),
                cut,
                ignored,
            },
            errors: counted.errors.into_counts(),
            sends: Sends {
                sent: counts.sent,
                missed: counts.missed,
                late: counts.late,
                retried: counts.retried,
            },
            latency,
            service_latency,
            send_delay: delay.and_then(|delay| delay.into_latency(LatencyKind::Response)),
            first_message,
            gap,
            paced: counted.paced.map(|paced| PacedStreams {
                rate: spec.request.stream.rate,
                counts: paced.counts,
                reply: paced.reply.into_latency(LatencyKind::Response),
                delay: paced.delay.into_latency(LatencyKind::Response),
            }),
            series,
            warm_up: history.warm_up.clone().map(|seconds| WarmUp {
                seconds,
                elapsed_ns: run.warmup_ns,
            }),
            latency_series: history.latency_series(run.elapsed_ns),
            seconds: history.into_seconds(run.elapsed_ns),
            checks: Checks {
                compared: spec.checks.compare(),
                replies_checked: counts.messages,
                failed: counted.checks.calls,
                samples: counted.checks.into_samples(),
            },
            details: details.collect(),
            warnings: run.warnings,
            options: ghz_options::of(&spec),
            name: spec.name,
            tags: spec.tags,
            host: run.host,
            call: run.call,
            elapsed_ns: run.elapsed_ns,
            window_ns: run.window_ns,
            silence: counted.life.silence(load_ns, longest_ns),
            ended_by: run.ended_by,
            threads: run.threads,
            spins: spec.load.spin,
            connections: run.connections,
            reconnects: run.reconnects,
            planned_reconnects: run.planned_reconnects,
            addresses: match run.addresses.len() {
                0 | 1 => BTreeMap::new(),
                _ => run.addresses,
            },
            cost: run.cost,
            events: run.events,
            tally,
            thresholds: Vec::new(),
        };
        warnings::add(&mut report, counts.skipped, details_most);
        report
    }
}

fn series(history: &History) -> Series {
    let bins = &history.bins;
    Series {
        interval_ms: history.width_ns / 1_000_000,
        messages: bins.iter().map(|bin| bin.messages).collect(),
        ok: bins.iter().map(|bin| bin.ok).collect(),
        failed: bins.iter().map(|bin| bin.failed).collect(),
        sent: bins.iter().map(|bin| bin.sent).collect(),
        intended: bins.iter().map(|bin| bin.due).collect(),
    }
}

#[cfg(test)]
mod tests {
    use volley_base::units::timestamp::unix_ns;
    use volley_load::pace::Schedule;
    use volley_load::spec::{CountSpec, Spec};

    use super::*;
    use crate::measure::samples::{
        MS, S, counting, cut, due_report, ended, facts, failed, options, report, timed,
    };
    use crate::measure::{Chronicle, Outcome, RunFacts, Tally, TallyOptions};

    #[test]
    fn a_frozen_second_is_in_the_response_latency_of_an_open_loop() {
        let schedule = Schedule::constant(1000);
        let mut tally = Tally::new(&TallyOptions {
            open_loop: true,
            ..options()
        });
        for call in schedule.cursor(0, 1).take(5000) {
            let due_ns = call.intended_ns;
            // The server answers immediately, except from 2 s to 3 s, when it also delays the
            // sends.
            let served_ns = match due_ns / S {
                2 => 3 * S,
                _ => due_ns,
            };
            tally.sent(due_ns, served_ns);
            tally.ended(&ended(due_ns, served_ns, served_ns, Outcome::Ok));
        }
        let report = due_report(tally, facts(&timed(), 5 * S), &schedule);

        let latency = &report.latency;
        assert_eq!(latency.kind, LatencyKind::Response);
        assert_eq!(latency.samples, 5000);
        // 1000 calls waited 1000, 999, … 1 ms.
        assert_eq!(latency.mean_ns, 500_500 * MS / 5000);
        assert!(latency.ended_at(990_000).unwrap() > 900 * MS);
        assert_eq!(report.service_latency.unwrap().max_ns, 0);
        assert_eq!(report.series.intended, [100; 50]);
        assert_eq!(report.series.sent[20..30], [0; 10]);
        assert_eq!(report.series.sent[30], 1100);
        assert_eq!((report.sends.sent, report.sends.late), (5000, 999));
        assert_eq!(report.seconds[2], crate::measure::Second::default());
        assert_eq!(report.seconds[3].samples, 2000);
    }

    #[test]
    fn a_closed_loop_has_service_latency_only() {
        let mut tally = Tally::new(&options());
        tally.ended(&ended(0, 40, 100, Outcome::Ok));
        let report = report(tally, facts(&timed(), S));
        assert_eq!(report.latency.kind, LatencyKind::Service);
        assert_eq!(report.latency.max_ns, 60);
        assert_eq!(report.service_latency, None);
        assert_eq!((report.first_message, report.gap), (None, None));
    }

    #[test]
    fn failed_calls_are_among_the_latencies_only_if_asked_for() {
        for (count_errors, samples, max_ns) in [(false, 1, 10), (true, 2, 500)] {
            let mut tally = counting(CountSpec {
                count_errors,
                ..CountSpec::default()
            });
            tally.ended(&ended(0, 0, 10, Outcome::Ok));
            tally.ended(&ended(0, 0, 500, failed("down")));
            let mut spec = timed();
            spec.count.count_errors = count_errors;
            let report = report(tally, facts(&spec, S));
            let latency = report.latency;
            assert_eq!((latency.samples, latency.max_ns), (samples, max_ns));
            assert_eq!(latency.includes_failed, count_errors);
            assert_eq!(report.calls.failed, BTreeMap::from([("Unavailable", 1)]));
            assert_eq!(report.errors, BTreeMap::from([("down".to_owned(), 1)]));
        }
    }

    #[test]
    fn skipped_calls_are_in_no_figure_but_their_messages_are() {
        let mut tally = counting(CountSpec {
            skip_first: 2,
            details: 9,
            ..CountSpec::default()
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
        let report = report(tally, facts(&timed(), S));
        assert_eq!((report.checks.failed, report.checks.samples.len()), (0, 0));
        assert_eq!((report.calls.count(), report.messages), (3, 5));
        assert_eq!((report.latency.samples, report.latency.min_ns), (3, 3));
        assert_eq!((report.details.len(), report.errors.len()), (3, 0));
        assert_eq!(report.series.ok[0], 3);
    }

    #[test]
    fn the_end_of_the_warm_up_forgets_everything_before_it() {
        let warm = TallyOptions {
            count: CountSpec {
                skip_first: 1,
                details: 9,
                ..CountSpec::default()
            },
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
            tally.cut_call(&cut(at, at, at + 9));
            tally.missed(at, at + 9, 1);
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
        let [tally, fresh] = [tally, fresh].map(|tally| report(tally, facts(&timed(), S)));
        assert_eq!(tally, fresh);
    }

    #[test]
    fn the_warm_ups_seconds_begin_with_its_load() {
        let warm_up = |threads: u64| {
            let mut sum = Tally::new(&options());
            let mut chronicle = Chronicle::new(1, 0, false);
            for thread in 0..threads {
                let mut tally = Tally::new(&options());
                tally.start(2 * S);
                tally.messages(3, 2, 2 * S + thread);
                tally.messages(4, 1, 4 * S - 1);
                tally.reset(4 * S);
                tally.messages(5, 6, 4 * S);
                chronicle.add(tally.rest());
                sum.merge(tally);
            }
            let run = RunFacts {
                warmup_ns: 2 * S,
                ..facts(&timed(), S)
            };
            let report = Report::from(sum.into_part(run, None, chronicle));
            let found = [report.messages, report.data_frames];
            assert_eq!(found, [5, 6].map(|one| one * threads));
            report.warm_up.unwrap().seconds
        };
        assert_eq!(warm_up(1), [3, 4]);
        assert_eq!(warm_up(3), [9, 12]);
    }

    #[test]
    fn ignored_calls_are_neither_cut_nor_kept() {
        let mut tally = counting(CountSpec {
            details: 9,
            ..CountSpec::default()
        });
        for _ in 0..3 {
            tally.cut_call(&cut(0, 0, S));
        }
        let mut spec = timed();
        spec.load.duration_stop = DurationStop::Ignore;
        let report = report(tally, facts(&spec, S));
        let calls = report.calls;
        assert_eq!((calls.cut, calls.ignored, report.details.len()), (0, 3, 0));
    }

    #[test]
    fn no_call_is_due_after_the_window_or_beyond_the_total() {
        let schedule = Schedule::constant(100);
        let intended = |window_ns, spec: &Spec| {
            let run = RunFacts {
                window_ns,
                ..facts(spec, S)
            };
            let report = due_report(Tally::new(&options()), run, &schedule);
            report.series.intended
        };
        let due = intended(250 * MS, &timed());
        assert_eq!(due, [10, 10, 5, 0, 0, 0, 0, 0, 0, 0]);
        let mut spec = Spec::default();
        spec.load.total = 13;
        assert_eq!(intended(S, &spec), [10, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn times_of_day_are_counted_from_the_wall_clock_at_the_epoch() {
        let mut tally = Tally::new(&TallyOptions {
            count: CountSpec {
                details: 1,
                ..CountSpec::default()
            },
            start_ns: 5,
            ..options()
        });
        tally.ended(&ended(6, 6, 8, Outcome::Ok));
        let report = report(tally, facts(&timed(), S));
        let epoch_ns = unix_ns(options().wall_start);
        assert_eq!(report.started_unix_ns, epoch_ns + 5);
        assert_eq!(report.details[0].end_unix_ns, epoch_ns + 8);
    }
}
