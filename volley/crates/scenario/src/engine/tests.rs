mod abort;
mod calls;
mod checks;
mod drain;
mod faults;
mod load;
mod lua;
mod memory;
mod peer;
mod route;
mod setup;
mod slices;
mod wires;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::file;
use crate::lua::open_scripts;
use crate::plan::Plan;
use crate::report::Report;
use volley_serve::{Config, Faults, Reference};

use super::{Finished, Options, RunError, run};
use peer::Peer;

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

/// A file whose target `api` is a server.
fn plan_of(server: &Peer, file: &str) -> Plan {
    plan(&format!(
        "targets: {{api: 'http://{}'}}\n{file}",
        server.address
    ))
}

fn options(threads: u32) -> Options {
    Options {
        threads: Some(threads),
        scripts: Some(open_scripts),
        ..Options::default()
    }
}

/// A server that does these things wrong.
fn faulty(faults: Faults) -> Reference {
    let config = Config {
        faults,
        ..Config::default()
    };
    Reference::start(config).unwrap()
}

fn report(plan: &Plan, threads: u32) -> Report {
    let finished = run(plan, &options(threads), &Arc::default(), &mut |_, _| ());
    finished.unwrap().report
}

/// Runs a file whose target `api` is a server.
fn finish(server: &Peer, threads: u32, file: &str) -> Result<Finished, RunError> {
    finish_by(server, threads, &Arc::default(), file)
}

/// The same, until a signal.
fn finish_by(
    server: &Peer,
    threads: u32,
    signal: &Arc<AtomicBool>,
    file: &str,
) -> Result<Finished, RunError> {
    let plan = plan_of(server, file);
    run(&plan, &options(threads), signal, &mut |_, _| ())
}

/// Why a run failed.
fn failure(finished: Result<Finished, RunError>) -> String {
    let failure = match finished {
        Ok(finished) => finished.failure.unwrap(),
        Err(error) => error,
    };
    failure.to_string()
}

#[test]
fn users_do_one_step_after_another_and_the_server_counts_the_same() {
    for version in ["1", "2"] {
        let server = Reference::start(Config::default()).unwrap();
        let more = format!(
            "http: {{version: {version}, connections: 8}}\nload: [{{users: 50}}, {{iterations: 2000}}]"
        );
        let plan = crud(&server, &more);
        let report = report(&plan, 2);
        let iterations = report.iterations();
        assert_eq!(
            (iterations.begun, iterations.ok),
            (2_000, 2_000),
            "HTTP/{version}"
        );
        for step in &report.steps {
            assert_eq!((step.counts.sent, step.counts.ok), (2_000, 2_000));
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
    let more = "http: {version: 2, connections: 4}\nload: [{users: 8, for: 30s}]";
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
        let run =
            scope.spawn(|| run(&plan, &Options::default(), &signal, &mut |_, _| ()).map(|_| ()));
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
    let iterations = report(&crud(&server, more), 2).iterations();
    assert_eq!(iterations.begun + iterations.dropped, 1_000);
    assert_eq!(iterations.ok, iterations.begun);
    assert_eq!(server.counts().deleted, iterations.begun);
}
