//! Whole tallies.

use proptest::prelude::*;

use super::*;
use volley_load::pace::SECOND_NS as S;
use volley_report::measure::{Latency, LatencyKind};

const MS: u64 = 1_000_000;

/// What happens to one request, and so to one iteration.
#[derive(Clone, Debug)]
struct Event {
    at_ns: u64,
    step: usize,
    service_ns: u64,
    blocked_ns: u64,
    delay_ns: Option<u64>,
    what: u8,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = (
        0..400 * S,
        0..3_usize,
        0..3 * S,
        prop_oneof![Just(0), 0..S],
        prop::option::of(0..S),
        any::<u8>(),
    );
    let event = event.prop_map(
        |(at_ns, step, service_ns, blocked_ns, delay_ns, what)| Event {
            at_ns,
            step,
            service_ns,
            blocked_ns,
            delay_ns,
            what,
        },
    );
    prop::collection::vec(event, 0..60).prop_map(|mut events| {
        events.sort_by_key(|event| event.at_ns);
        events
    })
}

fn count(tally: &mut Tally, event: &Event) {
    let Event {
        at_ns,
        step,
        service_ns,
        blocked_ns,
        delay_ns,
        what,
    } = *event;
    // The calls of a thread come in the order of time.
    let end_ns = 10 * S + at_ns;
    let sent_ns = end_ns - service_ns;
    let asked_ns = sent_ns - blocked_ns;
    let due_ns = delay_ns.map(|delay_ns| asked_ns - delay_ns);
    tally.iteration_began(step % 2, due_ns, end_ns);
    if what < 20 {
        let waiting = Timing {
            due_ns,
            ..timing(asked_ns, end_ns)
        };
        tally.left_open(step, &waiting, false);
        tally.iteration_left_open(step % 2, (0, asked_ns, end_ns));
        return;
    }
    tally.sent(step, end_ns, 100);
    let timing = Timing {
        due_ns,
        sent_ns,
        first_ns: (what % 3 > 0).then_some(sent_ns + service_ns / 2),
        ..timing(asked_ns, end_ns)
    };
    if what < 40 {
        tally.left_open(step, &timing, true);
        tally.iteration_left_open(step % 2, (0, sent_ns, end_ns));
        return;
    }
    tally.check(step, sent_ns, usize::from(what % 4), what % 5 > 0);
    tally.replies(step, sent_ns, u64::from(what % 4), end_ns);
    let text = format!("{what}");
    let failure = Failure {
        reason: Reason::Check(u16::from(what % 4)),
        what: &text,
    };
    let verdict = if what % 5 > 0 { Ok(()) } else { Err(&failure) };
    tally.ended(
        step,
        &timing,
        (what % 7 > 0).then_some(200 + u16::from(what % 3)),
        317,
        verdict,
    );
    let end = [End::Ok, End::Failed, End::OutOfData][usize::from(what % 3)];
    tally.iteration_ended(step % 2, (0, sent_ns, end_ns), end);
    tally.dropped(step % 2, u64::from(what % 2), sent_ns, end_ns);
    tally.unfed(step % 2, u64::from(what % 6));
}

fn counted<'a>(events: impl IntoIterator<Item = &'a Event>) -> Tally {
    let mut tally = Tally::new(2, 3, 10 * S);
    events
        .into_iter()
        .for_each(|event| count(&mut tally, event));
    tally.close(60 * S);
    tally
}

fn latency(distribution: volley_report::measure::Distribution) -> Option<Latency> {
    distribution.into_latency(LatencyKind::Service)
}

/// Everything that a tally knows.
fn known(tally: Tally) -> impl PartialEq + std::fmt::Debug {
    let (scenarios, steps) = tally.into_parts();
    let scenarios: Vec<_> = scenarios
        .into_iter()
        .map(|one| {
            let times = one.times.map(|times| {
                (
                    latency(times.duration),
                    latency(times.delay),
                    times.seconds.into_history(),
                )
            });
            (one.counts, times)
        })
        .collect();
    let steps: Vec<_> = steps
        .into_iter()
        .map(|one| {
            let times = one.times.map(|mut times| {
                (
                    latency(times.blocked()),
                    latency(times.response),
                    times.service.and_then(latency),
                    latency(times.first_byte),
                    times.seconds.into_history(),
                )
            });
            (one.counts, one.statuses, one.failures, one.checks, times)
        })
        .collect();
    (scenarios, steps)
}

fn timing(sent_ns: u64, end_ns: u64) -> Timing {
    Timing {
        end_ns,
        ..Timing::at(sent_ns)
    }
}

#[test]
fn what_was_sent_before_the_window_is_in_no_figure_and_the_sums_are_exact() {
    let mut tally = Tally::new(1, 1, 0);
    tally.iteration_began(0, None, 0);
    for sent_ns in [0, MS] {
        tally.sent(0, sent_ns, 10);
    }
    tally.ended(0, &timing(0, 2 * MS), Some(200), 5, Ok(()));
    tally.reset(3 * MS);
    tally.check(0, MS, 0, false);
    tally.ended(
        0,
        &timing(MS, 4 * MS),
        Some(500),
        5,
        Err(&Failure {
            reason: Reason::Status,
            what: "500",
        }),
    );
    tally.iteration_ended(0, (0, 0, 4 * MS), End::Failed);
    for sent_ns in [4 * MS, 5 * MS] {
        tally.sent(0, sent_ns, 10);
    }
    tally.ended(0, &timing(4 * MS, 6 * MS), Some(204), 7, Ok(()));
    tally.left_open(0, &timing(5 * MS, 6 * MS), true);
    let (scenarios, steps) = tally.into_parts();
    assert_eq!(scenarios[0].counts, IterationCounts::default());
    let counts = steps[0].counts;
    assert_eq!(
        (counts.sent, counts.ok, counts.failed, counts.open),
        (2, 1, 0, 1)
    );
    assert_eq!((counts.sent_bytes, counts.received_bytes), (20, 7));
    assert_eq!(steps[0].statuses, vec![(204, 1)]);
    assert!(steps[0].failures.is_empty() && steps[0].checks.is_empty());
}

#[test]
fn a_request_that_cannot_be_sent_has_failed_and_was_not_sent() {
    let mut tally = Tally::new(1, 1, 0);
    let failure = Failure {
        reason: Reason::Connect,
        what: "127.0.0.1:1: connection refused",
    };
    tally.unsent(0, &Timing::at(MS), &failure);
    tally.reset(2 * MS);
    tally.unsent(0, &Timing::at(MS), &failure);
    tally.unsent(0, &Timing::at(3 * MS), &failure);
    let (_, steps) = tally.into_parts();
    let counts = steps[0].counts;
    assert_eq!((counts.sent, counts.unsent, counts.failed), (0, 1, 1));
    assert_eq!(
        steps[0].failures[&Reason::Connect].first_sample(),
        failure.what
    );
}

#[test]
fn a_request_with_a_due_moment_has_both_times() {
    let mut tally = Tally::new(1, 2, 0);
    let late = Timing {
        due_ns: Some(MS),
        first_ns: Some(4 * MS),
        ..timing(3 * MS, 6 * MS)
    };
    tally.ended(0, &late, Some(200), 0, Ok(()));
    tally.ended(1, &timing(3 * MS, 6 * MS), Some(200), 0, Ok(()));
    let (_, steps) = tally.into_parts();
    let [first, second] = steps.try_into().ok().unwrap();
    let mut times = *first.times.unwrap();
    let mean = |distribution| latency(distribution).map(|latency| latency.mean_ns / MS);
    assert_eq!(
        [
            mean(times.blocked()),
            mean(times.response),
            times.service.and_then(mean),
            mean(times.first_byte)
        ],
        [Some(0), Some(5), Some(3), Some(1)]
    );
    assert!(second.times.unwrap().service.is_none());
}

#[test]
fn what_was_not_sent_has_no_time_from_the_sending_in_any_order() {
    let (waiting, blocked) = (
        timing(MS, 9 * MS),
        Timing {
            asked_ns: 2 * MS,
            ..timing(3 * MS, 9 * MS)
        },
    );
    let ended = timing(4 * MS, 6 * MS);
    let events: [&dyn Fn(&mut Tally); 3] = [
        &|tally| tally.left_open(0, &waiting, false),
        &|tally| tally.left_open(0, &blocked, true),
        &|tally| tally.ended(0, &ended, Some(200), 0, Ok(())),
    ];
    let counted = |at: &[usize]| {
        let mut tally = Tally::new(1, 1, 0);
        at.iter().for_each(|at| events[*at](&mut tally));
        tally
    };
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        for threads in [
            vec![&order[..]],
            vec![&order[..1], &order[1..]],
            vec![&order[..2], &order[2..]],
        ] {
            let mut threads = threads.into_iter().map(counted);
            let mut tally = threads.next().unwrap();
            threads.for_each(|thread| tally.merge(thread));
            let (_, steps) = tally.into_parts();
            let mut times = *steps.into_iter().next().unwrap().times.unwrap();
            let of = |distribution| {
                let latency = latency(distribution).unwrap();
                [
                    latency.samples,
                    latency.max_ns / MS,
                    latency.open,
                    latency.oldest_ns / MS,
                ]
            };
            assert_eq!(
                [
                    of(times.blocked()),
                    of(times.response),
                    of(times.service.unwrap())
                ],
                [[2, 1, 1, 8], [1, 2, 2, 8], [1, 2, 1, 6]],
                "{order:?}"
            );
        }
    }
}

#[test]
fn a_step_that_never_runs_takes_no_memory_and_one_that_does_not_exist_is_left_out() {
    let mut tally = Tally::new(200, 200, 0);
    tally.sent(200, 0, 1);
    tally.iteration_began(200, None, 0);
    tally.check(9, 0, 3, true);
    let (scenarios, steps) = tally.into_parts();
    assert!(
        scenarios.iter().all(|one| one.times.is_none())
            && steps.iter().all(|one| one.times.is_none())
    );
    assert_eq!(steps[9].checks[3].passed, 1);
}

#[test]
fn the_seconds_that_passed_are_told_once_with_the_sums_so_far() {
    let mut tally = Tally::new(1, 2, 10 * S);
    assert_eq!(
        tally.passed(10 * S),
        Passed {
            scenarios: vec![IterationCounts::default()],
            steps: vec![Default::default(); 2],
            verdicts: vec![Default::default(); 2],
            open: Vec::new()
        }
    );
    for at in [0, 1, S, S + 1, S + 2] {
        tally.sent(1, 10 * S + at, 1);
        tally.ended(1, &timing(10 * S + at, 10 * S + at), Some(200), 0, Ok(()));
    }
    let passed = tally.passed(11 * S + S / 2);
    let (counts, seconds) = &passed.steps[1];
    assert_eq!((counts.ok, seconds.len(), seconds[0].sum().ok), (5, 1, 2));
    assert_eq!(tally.passed(12 * S).steps[1].1[0].sum().ok, 3);
    assert!(tally.passed(13 * S).steps[1].1.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn merged_tallies_equal_one_tally_of_the_union(events in events(), owners in prop::collection::vec(0..3_u8, 60)) {
        let of = |owner: u8| {
            let own = events.iter().zip(&owners).filter(move |(_, its)| **its == owner);
            counted(own.map(|(event, _)| event))
        };
        let whole = known(counted(&events));
        for order in [[0, 1, 2], [2, 0, 1]] {
            let mut merged = of(order[0]);
            merged.merge(of(order[1]));
            merged.merge(of(order[2]));
            prop_assert_eq!(&known(merged), &whole);
        }
    }
}
