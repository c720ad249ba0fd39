//! Workers over time: which may call, and that all calls are made in any case.

use std::time::Duration;

use rustix::process::Signal;
use volley::serve::Faults;

use crate::common::shape::UNARY;
use crate::common::{Report, faulty, reference, until};
use crate::signals::interrupt;

#[test]
fn workers_of_a_step_schedule_join_one_after_another() {
    // A call never ends, so each worker makes one: their number is that of workers that ever
    // worked.
    let report = joined(
        "--concurrency-schedule step --concurrency-start 2 --concurrency-step 3 \
         --concurrency-end 8 --concurrency-step-duration 200ms --connections 2 --threads 2",
        8,
    );
    // Nobody joins before the schedule says so.
    let mut workers = 0;
    for (bin, joined) in report.numbers("/series/sent").iter().enumerate() {
        workers += joined;
        assert!(
            workers <= 2 + 3 * (bin as u64 / 2),
            "{workers} in bin {bin}"
        );
    }
}

/// A run that is over when so many workers have made a call that never ends.
fn joined(flags: &str, workers: u64) -> Report {
    let server = reference(faulty(|faults| faults.delay = Duration::from_secs(3600)));
    let running = UNARY.run("-z 10m").flags(flags).start(&server);
    until(&server, |counts| counts.calls_started == workers);
    interrupt(running.pid(), Signal::INT);
    let report = running.wait().report();
    assert_eq!((report.sent(), report.cut()), (workers, workers));
    report
}

#[test]
fn workers_that_a_falling_schedule_takes_away_make_no_further_calls() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(400)));
    let report = UNARY
        .checked(
            "--concurrency-schedule step --concurrency-start 9 --concurrency-step -4 \
             --concurrency-end 1 --concurrency-step-duration 500ms -z 2s --duration-stop wait",
        )
        .report(&server);
    report.all_ok();
    let by_bin = report.numbers("/series/sent");
    assert!(by_bin.iter().sum::<u64>() >= 9, "{by_bin:?}");
    // From 500 ms on, five workers make calls of 400 ms or more; from 1 s on, only one does.
    let later: u64 = by_bin.iter().skip(6).sum();
    assert!(later <= 5 * 2 + 5, "{by_bin:?}");
    let last: u64 = by_bin.iter().skip(11).sum();
    assert!(last <= 4, "{by_bin:?}");
}

#[test]
fn n_calls_are_made_though_the_workers_of_one_thread_are_taken_away() {
    let server = reference(Faults::default());
    for flags in ["", "--rps 2000"] {
        let report = UNARY
            .checked(
                "--concurrency-schedule step --concurrency-start 2 --concurrency-step -1 \
                 --concurrency-end 1 --concurrency-step-duration 1ms --connections 2 --threads 2 \
                 -n 400",
            )
            .flags(flags)
            .report(&server);
        assert_eq!(report.all_ok(), 400);
    }
}

#[test]
fn a_thread_whose_workers_come_later_waits_for_them() {
    // The second thread's first worker starts after the time that a server without room is given.
    let report = joined(
        "--concurrency-schedule step --concurrency-start 1 --concurrency-step 1 \
         --concurrency-end 2 --concurrency-step-duration 2s --connect-timeout 1s \
         --connections 2 --threads 2",
        2,
    );
    assert!(!report.warns_of("stream"), "{:?}", report.warnings());
}
