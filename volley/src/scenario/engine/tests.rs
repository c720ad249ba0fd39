use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::scenario::plan::{
    Action, Expect, HttpRequest, Limits, Load, OnFailure, Part, Phase, Phases, Plan, Request, Save,
    Scenario, Step, Target, TlsFiles, Url, Version, WhenFull,
};
use crate::scenario::tally::{IterationCounts, Tally};
use crate::scenario::{Slot, Text};
use crate::serve::{Config, Reference};
use crate::spec::{Address, Endpoint};

use super::run;

fn step(name: &str, method: &str, url: Url, body: Option<&str>, status: u16) -> Step {
    Step {
        name: name.to_owned(),
        scenario: "crud".to_owned(),
        line: 1,
        url,
        request: Request::Http(HttpRequest {
            method: method.into(),
            headers: vec![("content-type".into(), Text::fixed(*b"application/json"))],
            body: body.map(|body| Text::fixed(body.as_bytes())),
            redirects: 0,
        }),
        timeout_ns: Some(2_000_000_000),
        expect: Expect {
            status: vec![(status, status)],
            ..Expect::default()
        },
        saves: Vec::new(),
    }
}

/// Creates, changes and deletes an item.
fn crud(server: &Reference, version: Version, phases: Phases, iterations: Option<u64>) -> Plan {
    let url = || Url::Value {
        slot: Slot(0),
        relative_to: 0,
        then: Text::default(),
    };
    let items = Url::Target {
        target: 0,
        path: Text::fixed(*b"/v1/items"),
    };
    let body = r#"{"owner":"o","sku":"s"}"#;
    let mut create = step("create", "POST", items, Some(body), 201);
    create.saves.push(Save {
        slot: Slot(0),
        part: Part::Header("location".into()),
        regex: None,
        default: None,
    });
    let address = server.address();
    Plan {
        targets: vec![Target {
            name: "api".to_owned(),
            hosts: vec![Endpoint::Name(Address {
                host: address.ip().to_string(),
                port: address.port(),
            })],
            is_tls: false,
            version,
            connections: 4,
            streams: 16,
            connect_timeout_ns: 5_000_000_000,
            fails_back: false,
            authority: None,
            tls: TlsFiles::default(),
        }],
        feeds: Vec::new(),
        steps: vec![
            create,
            step("change", "PATCH", url(), Some(body), 204),
            step("remove", "DELETE", url(), None, 204),
        ],
        scenarios: vec![Scenario {
            name: "crud".to_owned(),
            actions: (0..3).map(Action::Step).collect(),
            draws: Vec::new(),
            repeat: 1,
            on_failure: OnFailure::EndIteration,
            keeps_cookies: false,
        }],
        setup: Vec::new(),
        teardown: Vec::new(),
        refreshes: Vec::new(),
        loads: vec![Load {
            scenarios: vec![(0, 1)],
            shares_requests: false,
            phases,
            iterations,
            start_after_ns: 0,
            pace_ns: 0,
        }],
        limits: Limits {
            iterations_open: 1000,
            when_full: WhenFull::Drop,
            drain_ns: 5_000_000_000,
            body: 1 << 20,
        },
        thresholds: Vec::new(),
        slots: vec!["url".to_owned()],
        common_slots: 0,
        folder: PathBuf::new(),
        control: None,
    }
}

fn phase(value: u64, length_ns: Option<u64>) -> Vec<Phase> {
    vec![Phase {
        from: value,
        to: value,
        length_ns,
    }]
}

fn total(plan: &Plan, threads: u32) -> (IterationCounts, Vec<(u64, u64)>) {
    let signal = Arc::new(AtomicBool::new(false));
    let tallies = run(plan, threads, &signal).unwrap().tallies;
    let mut iterations = IterationCounts::default();
    let mut steps = vec![(0, 0); plan.steps.len()];
    for mut tally in tallies {
        let passed = Tally::passed(&mut tally, u64::MAX / 2);
        iterations.add(&passed.scenarios[0]);
        for (sum, (counts, _)) in steps.iter_mut().zip(&passed.steps) {
            *sum = (sum.0 + counts.sent, sum.1 + counts.ok);
        }
    }
    (iterations, steps)
}

#[test]
fn users_do_one_step_after_another_and_the_server_counts_the_same() {
    let server = Reference::start(Config::default()).unwrap();
    let plan = crud(
        &server,
        Version::Http2,
        Phases::Users(phase(50, None)),
        Some(2_000),
    );
    let (iterations, steps) = total(&plan, 2);
    assert_eq!((iterations.begun, iterations.ok), (2_000, 2_000));
    assert_eq!(steps, [(2_000, 2_000); 3]);
    let counts = server.counts();
    assert_eq!(
        (counts.created, counts.patched, counts.deleted),
        (2_000, 2_000, 2_000)
    );
}

#[test]
fn a_schedule_begins_as_many_iterations_as_it_says() {
    let server = Reference::start(Config::default()).unwrap();
    let rate = Phases::Rate(phase(2_000_000_000, Some(500_000_000)));
    let plan = crud(&server, Version::Http2, rate, None);
    let (iterations, steps) = total(&plan, 2);
    assert_eq!(iterations.begun + iterations.dropped, 1_000);
    assert_eq!(iterations.ok, iterations.begun);
    assert_eq!(steps, [(iterations.begun, iterations.begun); 3]);
    assert_eq!(server.counts().deleted, iterations.begun);
}
