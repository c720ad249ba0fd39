use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::scenario::file;
use crate::scenario::plan::Plan;
use crate::scenario::tally::{IterationCounts, StepCounts};
use crate::serve::{Config, Reference};

use super::{Finished, run};

const ITEM: &str = r#"{owner: "o", sku: "s"}"#;

/// A file whose scenario creates, changes and deletes an item; `more` are its other top-level keys.
fn crud(server: &Reference, more: &str) -> Plan {
    plan(&format!(
        r#"
targets: {{api: "http://{address}"}}
scenarios:
  crud:
    steps:
      - {{name: create, post: "${{api}}/v1/items", json: {ITEM}, expect: {{status: 201}}, save: {{url: {{header: location}}}}}}
      - {{name: change, patch: "${{url}}", json: {ITEM}, expect: {{status: 204}}}}
      - {{name: remove, delete: "${{url}}", expect: {{status: 204}}}}
{more}"#,
        address = server.address()
    ))
}

fn plan(text: &str) -> Plan {
    match file::compile(text, Path::new("test.yaml"), &|_| None) {
        Ok(plan) => plan,
        Err(mistakes) => panic!("{mistakes}"),
    }
}

fn finished(plan: &Plan, threads: u32) -> Finished {
    let signal = Arc::new(AtomicBool::new(false));
    run(plan, threads, &signal).unwrap()
}

/// What a run has counted, over all threads.
fn total(plan: &Plan, threads: u32) -> (IterationCounts, Vec<StepCounts>) {
    let mut iterations = IterationCounts::default();
    let mut steps = vec![StepCounts::default(); plan.steps.len()];
    for mut tally in finished(plan, threads).tallies {
        let passed = tally.passed(u64::MAX / 2);
        passed
            .scenarios
            .iter()
            .for_each(|counts| iterations.add(counts));
        for (sum, (counts, _)) in steps.iter_mut().zip(&passed.steps) {
            sum.add(counts);
        }
    }
    (iterations, steps)
}

#[test]
fn users_do_one_step_after_another_and_the_server_counts_the_same() {
    for version in ["1", "2"] {
        let server = Reference::start(Config::default()).unwrap();
        let more = format!(
            "http: {{version: {version}, connections: 8}}\nload: [{{users: 50}}, {{iterations: 2000}}]"
        );
        let plan = crud(&server, &more);
        let (iterations, steps) = total(&plan, 2);
        assert_eq!(
            (iterations.begun, iterations.ok),
            (2_000, 2_000),
            "HTTP/{version}"
        );
        for step in steps {
            assert_eq!((step.sent, step.ok), (2_000, 2_000));
        }
        let counts = server.counts();
        assert_eq!((counts.created, counts.patched), (2_000, 2_000));
        assert_eq!((counts.deleted, counts.live()), (2_000, 0));
    }
}

#[test]
fn a_host_that_is_gone_leaves_its_connections_to_the_others_until_it_is_back() {
    let [first, second] = [(); 2].map(|()| Reference::start(Config::default()).unwrap());
    let (gone, there) = (first.address(), second.address());
    drop(first);
    let more = format!("http: {{version: 2, connections: 4}}\nload: [{{users: 8, for: 30s}}]");
    let text = format!(
        r#"
targets: {{api: {{hosts: ["http://{gone}", "http://{there}"], failback: true}}}}
scenarios:
  one:
    steps:
      - {{name: create, post: "${{api}}/v1/items", json: {ITEM}, expect: {{status: 201}}}}
{more}"#
    );
    let plan = plan(&text);
    let signal = Arc::new(AtomicBool::new(false));
    let back = std::thread::scope(|scope| {
        let run = scope.spawn(|| run(&plan, 1, &signal).map(|_| ()));
        while second.counts().created == 0 {
            std::thread::yield_now();
        }
        let config = Config {
            address: gone,
            ..Config::default()
        };
        let back = Reference::start(config).unwrap();
        while back.counts().created == 0 {
            std::thread::yield_now();
        }
        signal.store(true, Ordering::Relaxed);
        run.join().unwrap().unwrap();
        back
    });
    assert!(back.counts().created > 0);
}

#[test]
fn a_schedule_begins_as_many_iterations_as_it_says() {
    let server = Reference::start(Config::default()).unwrap();
    let more =
        "http: {version: 2}\nload: [{rate: 2000/s, for: 500ms}]\nlimits: {iterations_open: 1000}";
    let (iterations, _) = total(&crud(&server, more), 2);
    assert_eq!(iterations.begun + iterations.dropped, 1_000);
    assert_eq!(iterations.ok, iterations.begun);
    assert_eq!(server.counts().deleted, iterations.begun);
}
