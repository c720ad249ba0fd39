//! What a sweep counts, and the order of its blasts.

use std::collections::BTreeMap;

use serde_json::Value;
use volley::serve::Faults;

use super::{CALLS, SWEEP, Sweep, blast, sweep};
use crate::common::shape::UNARY;
use crate::common::{Volley, faulty, one, reference};

#[test]
fn every_call_of_a_good_server_is_counted_once_by_both_sides() {
    for flags in ["--threads 1", "--threads 2", "--threads 3"] {
        let (sweep, counts) = sweep(Faults::default(), flags);
        assert_eq!((sweep.exit, sweep.ok()), (0, CALLS), "{flags}");
        assert_eq!(sweep.failed(), BTreeMap::new());
        assert_eq!((counts.calls_started, counts.calls_ok), (CALLS, CALLS));
        // One pool per way, open for the whole sweep, none larger than its largest blast.
        assert_eq!(counts.connections, 1 + 4 + 64, "{flags}");
        assert_eq!(sweep.json["reconnects"], 0);
        assert_eq!(sweep.json["warnings"], serde_json::json!([]));
        assert_eq!(sweep.json["checks"]["replies_checked"], CALLS);
        assert_eq!(sweep.json["checks"]["failed"], 0);
        assert_eq!(sweep.stderr, "");
    }
}

#[test]
fn points_come_by_connections_and_then_by_requests() {
    let (sweep, _) = sweep(Faults::default(), "");
    let keys: Vec<(u64, u64)> = sweep
        .points()
        .iter()
        .map(|point| {
            let number = |key: &str| point[key].as_u64().unwrap();
            (number("connections"), number("requests"))
        })
        .collect();
    let expected: Vec<(u64, u64)> = [1, 4, 100]
        .into_iter()
        .flat_map(|c| [1, 2, 7, 30, 64].map(|n| (c, n)))
        .collect();
    assert_eq!(keys, expected);
}

#[test]
fn the_order_is_the_seeds() {
    let orders = |flags: &str| -> Vec<Value> {
        let (sweep, _) = sweep(Faults::default(), flags);
        let shots = sweep.points().iter();
        shots
            .map(|point| point["shots"][0]["order"].clone())
            .collect()
    };
    assert_eq!(orders("--seed 7"), orders("--seed 7"));
    assert_ne!(orders("--seed 7"), orders("--seed 8"));
}

#[test]
fn every_point_is_measured_once_before_any_is_measured_again() {
    let (sweep, _) = sweep(Faults::default(), "");
    for point in sweep.points() {
        assert!(point["shots"][0]["order"].as_u64().unwrap() < 15, "{point}");
        assert!(
            point["shots"][1]["order"].as_u64().unwrap() >= 15,
            "{point}"
        );
    }
}

#[test]
fn messages_that_take_turns_are_each_checked_against_their_own_request() {
    let server = reference(Faults::default());
    let finished = Volley::blast(UNARY.method)
        .arg("--insecure")
        .data(r#"[{"a": 1}, {"a": 2, "b": 5}, {"a": -7}]"#)
        .expect(UNARY.rule)
        .flags(SWEEP)
        .run(&server);
    let sweep = Sweep::of(&finished);
    sweep.check();
    assert_eq!(sweep.ok(), CALLS);
}

#[test]
fn the_summary_is_a_table_for_each_way() {
    let server = reference(faulty(|faults| faults.trailers_only_every = one(8)));
    let finished = blast().flags(SWEEP).format("summary").run(&server);
    assert_eq!(finished.code(), 0, "{finished:?}");
    let lines: Vec<&str> = finished.stdout.lines().collect();
    for line in [
        "1 connection",
        "up to 4 connections",
        "up to 100 connections",
    ] {
        assert!(lines.contains(&line), "{finished:?}");
    }
    let errors = lines.iter().skip_while(|line| **line != "Errors:");
    assert_eq!(errors.count(), 2, "{finished:?}");
    assert!(finished.stdout.contains(" Internal\n"), "{finished:?}");
}
