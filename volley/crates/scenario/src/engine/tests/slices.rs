//! Slices of data that belong to connections.

use std::collections::BTreeMap;

use super::load::done;
use super::peer::{Asked, Does, Peer};
use super::wires::reasons;
use super::{plan, report};
use crate::tally::Reason;

/// The rows that a server was asked with, by connection, in ascending order.
fn rows(peer: &Peer) -> Vec<Vec<u64>> {
    let mut all = BTreeMap::<usize, Vec<u64>>::new();
    for asked in peer.asked() {
        all.entry(asked.connection).or_default().push(row(&asked));
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.iter_mut().for_each(|rows| rows.sort_unstable());
    all.sort();
    all
}

fn row(asked: &Asked) -> u64 {
    asked.path.trim_start_matches('/').parse().unwrap()
}

/// Each connection's own rows of `count`.
fn slices(count: u64, connections: u64) -> Vec<Vec<u64>> {
    let size = count / connections;
    let part = |at| (at * size..(at + 1) * size).collect();
    (0..connections).map(part).collect()
}

#[test]
fn each_connection_draws_from_rows_of_its_own_and_none_is_lost() {
    for version in [1, 2] {
        let peers = [(); 2].map(|()| Peer::start(|_| Does::says(200, &[], "")));
        let text = format!(
            r#"
targets: {{a: "http://{}", b: "http://{}"}}
http: {{version: {version}, connections: 6}}
data: {{n: {{range: [0, 600], order: unique, slice: connection}}}}
scenarios: {{s: {{steps: [{{get: "${{a}}/${{n}}"}}, {{get: "${{b}}/${{n}}"}}]}}}}
load: [{{users: 24, for: 1h}}]
"#,
            peers[0].address, peers[1].address
        );
        let report = report(&plan(&text), 2);
        assert_eq!(report.iterations().ok, 600, "HTTP/{version}");
        for peer in &peers {
            assert_eq!(rows(peer), slices(600, 6), "HTTP/{version}");
        }
    }
}

/// A file whose two users take so many rows, each once.
fn unique(version: u8, rows: u64) -> String {
    format!(
        "http: {{version: {version}, connections: 2}}
data: {{n: {{range: [0, {rows}], order: unique, slice: connection}}}}
scenarios: {{s: {{steps: [{{name: post, post: '${{api}}/${{n}}'}}]}}}}
load: [{{users: 2, for: 1h}}]
"
    )
}

#[test]
fn a_connection_that_is_opened_again_keeps_its_rows() {
    for version in [1, 2] {
        let peer = Peer::start(|asked| match row(asked) % 10 {
            7 => Does::Closes,
            _ => Does::says(200, &[], ""),
        });
        let iterations = done(&peer, 1, &unique(version, 100)).iterations();
        assert_eq!((iterations.ok, iterations.begun), (90, 100));
        let found = rows(&peer);
        assert!(found.len() > 10, "HTTP/{version}: {found:?}");
        let is_mixed = |rows: &&Vec<u64>| (rows[0] < 50) != (rows[rows.len() - 1] < 50);
        assert_eq!(found.iter().find(is_mixed), None, "HTTP/{version}");
        let mut all = found.concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}

#[test]
fn a_schedule_takes_one_connection_after_another() {
    let peer = Peer::start(|_| Does::says(200, &[], ""));
    let file = "http: {version: 2, connections: 4}
data: {n: {range: [0, 40], slice: connection}}
scenarios: {s: {steps: [{get: '${api}/${n}'}]}}
load: [{iterations: 80, rate: 4000/s, for: 1h}]
";
    assert_eq!(done(&peer, 1, file).iterations().ok, 80);
    // Circular: each row comes twice.
    let twice = |rows: Vec<u64>| rows.into_iter().flat_map(|row| [row; 2]).collect();
    let expected: Vec<Vec<u64>> = slices(40, 4).into_iter().map(twice).collect();
    assert_eq!(rows(&peer), expected);
}

#[test]
fn each_scenario_of_a_schedule_takes_all_connections_in_turn() {
    let peer = Peer::start(|_| Does::says(200, &[], ""));
    let file = "http: {version: 2, connections: 2}
data: {n: {range: [0, 40], slice: connection}}
scenarios: {s: {steps: [{get: '${api}/s/${n}'}]}, t: {steps: [{get: '${api}/t/${n}'}]}}
load: [{iterations: 80, rate: 4000/s, for: 1h}]
";
    assert_eq!(done(&peer, 1, file).iterations().ok, 80);
    let mut counts = BTreeMap::<_, u64>::new();
    for asked in peer.asked() {
        let scenario = asked.path.chars().nth(1);
        *counts.entry((scenario, asked.connection)).or_default() += 1;
    }
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [20; 4]);
}

#[test]
fn what_keeps_to_a_connection_that_cannot_be_opened_fails_and_the_others_go_on() {
    for version in [1, 2] {
        let peer = Peer::start(|asked| match row(asked) {
            16 => Does::Dies,
            _ => Does::says(200, &[], ""),
        });
        let report = done(&peer, 1, &unique(version, 20));
        assert_eq!(report.iterations().ok, 16, "HTTP/{version}");
        let mut found = reasons(&report, "post");
        found.sort_unstable();
        assert_eq!(found, [(Reason::Connect, 3), (Reason::Closed, 1)]);
        assert_eq!(rows(&peer)[0], (0..10).collect::<Vec<_>>());
    }
}
