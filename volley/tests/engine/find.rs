//! `volley find` against real servers: what it counts, and each of its answers.

use std::time::Duration;

use serde_json::Value;
use volley::serve::{Reference, Service};

use crate::common::shape::UNARY;
use crate::common::{Finished, Volley, faulty, one, reference, served, settled};

fn found(server: &Reference, flags: &str) -> Value {
    let found = Volley::find(UNARY.method).data(UNARY.data).flags(flags);
    let finished = found.flags("--insecure").run(server.address());
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    serde_json::from_str(&finished.stdout).unwrap()
}

fn counts<'a>(found: &'a Value, what: &'a str) -> impl Iterator<Item = u64> + 'a {
    let steps = found["steps"].as_array().unwrap().iter();
    steps.map(move |step| step[what].as_u64().unwrap())
}

#[test]
fn a_search_of_a_queue_counts_the_calls_that_were_due_in_each_window() {
    let server = served(|config| {
        config.service = Some(Service {
            mean: Duration::from_millis(1),
            servers: 4,
            seed: 7,
        });
    });
    let found = found(
        &server,
        "--p99 10ms --budget 20s --connections 4 --threads 1",
    );
    let sent = settled(&server).calls_started;
    assert!(counts(&found, "calls").sum::<u64>() < sent, "{found}");
    for step in found["steps"].as_array().unwrap() {
        let number = |what: &str| step[what].as_f64().unwrap();
        let mean = number("rate") * number("length_s");
        // Poisson's: within six standard deviations.
        assert!((number("calls") - mean).abs() < 6.0 * mean.sqrt(), "{step}");
        assert_eq!(
            step["kept"],
            number("over") <= 0.01 * number("calls"),
            "{step}"
        );
        assert_eq!(step["failed"], 0);
    }
    // Whatever else the host does: four servers of a millisecond each serve 4,000 calls a second.
    assert!(
        found["answer"]["rate"].as_f64().unwrap() < 4500.0,
        "{found}"
    );
}

#[test]
fn a_server_that_is_always_too_slow_or_fails_is_below_the_lowest_rate() {
    let slow = reference(faulty(|faults| faults.delay = Duration::from_millis(50)));
    let failing = reference(faulty(|faults| faults.trailers_only_every = one(2)));
    for (server, is_slow) in [(slow, true), (failing, false)] {
        let found = found(&server, "--p99 10ms");
        let answer = &found["answer"];
        assert_eq!(
            (&answer["kind"], &answer["high"]),
            (&"below".into(), &100.0.into())
        );
        assert_eq!(counts(&found, "rate").collect::<Vec<_>>(), [100; 3]);
        let calls: u64 = counts(&found, "calls").sum();
        let [over, failed] = ["over", "failed"].map(|what| counts(&found, what).sum::<u64>());
        match is_slow {
            true => assert_eq!((over, failed), (calls, 0)),
            // Every other one of all calls; the first part of a window is not counted.
            false => assert!(failed.abs_diff(calls / 2) <= 6, "{failed} of {calls}"),
        }
    }
}

#[test]
fn without_a_server_there_is_one_line_and_no_answer() {
    let gone = reference(faulty(|_| {})).address();
    let find = Volley::find(UNARY.method).data(UNARY.data);
    let finished: Finished = find.flags("--p99 10ms --insecure").run(gone);
    assert_eq!(finished.status.code(), Some(1));
    assert_eq!(finished.stdout, "");
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}
