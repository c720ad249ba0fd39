//! Bodies and replies that are larger than the memory for them.

use std::sync::Arc;

use super::peer::{Does, Peer, Reply};
use super::wires::{reasons, step, sum_call};
use super::{Options, options, plan_of, run};
use crate::report::Report;
use crate::tally::Reason;
use crate::testkit::gzip;

/// A run with this memory, against a peer that is the target `api` and always answers so.
fn limited(max_memory: u32, reply: Reply, steps: &str, more: &str) -> Report {
    let peer = Peer::start(move |_| Does::Replies(reply.clone()));
    let options = Options {
        max_memory: Some(max_memory),
        ..options(1)
    };
    let steps = format!("{more}\nscenarios:\n  s:\n    steps:\n{steps}\n");
    let plan = plan_of(&peer, &steps);
    let finished = run(&plan, &options, &Arc::default(), &mut |_, _| ());
    finished.unwrap().report
}

/// The same, with a step that looks at a body.
fn body(max_memory: u32, coding: &str, body: Vec<u8>, more: &str) -> Report {
    let reply = Reply {
        status: 200,
        fields: vec![("content-encoding", coding.to_owned())],
        body,
        ..Reply::default()
    };
    let steps = "      - {name: get, get: \"${api}/\", expect: {body: {contains: a}}}";
    let more = format!("{more}\nload: [{{users: 2}}, {{iterations: 4}}]");
    limited(max_memory, reply, steps, &more)
}

#[track_caller]
fn is_over_budget(report: &Report, name: &str, count: u64) {
    assert_eq!(reasons(report, name), [(Reason::OverBudget, count)]);
    let words = &step(report, name).failures[0].samples[0];
    let expected = "partial and inflated messages would take more than 100000 bytes together; raise the limit with `--max-memory`";
    assert_eq!(words, expected);
}

#[test]
fn a_body_that_does_not_fit_fails_its_step_in_both_versions() {
    let large = vec![b'a'; 300_000];
    for version in [1, 2] {
        let http = format!("http: {{version: {version}, connections: 2}}");
        is_over_budget(&body(100_000, "identity", large.clone(), &http), "get", 4);
        is_over_budget(&body(100_000, "gzip", gzip(&large), &http), "get", 4);
        let whole = body(1 << 20, "gzip", gzip(&large), &http);
        assert_eq!(whole.iterations().ok, 4, "{:?}", reasons(&whole, "get"));
    }
}

#[test]
fn a_larger_limit_of_bodies_raises_the_memory_and_says_so() {
    let large = vec![b'a'; 300_000];
    let raised = body(100_000, "identity", large, "limits: {body: 20MiB}");
    assert_eq!(raised.iterations().ok, 4, "{:?}", reasons(&raised, "get"));
    let note = "`--max-memory` is raised to 41943056 bytes";
    let warnings = &raised.facts.warnings;
    assert!(
        warnings.iter().any(|line| line.starts_with(note)),
        "{warnings:?}"
    );
}

#[test]
fn a_reply_of_a_call_that_does_not_fit_fails_its_step() {
    let (protos, call) = sum_call();
    for (flag, message) in [(0, vec![0; 300_000]), (1, gzip(&[0; 300_000]))] {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let reply = Reply {
            status: 200,
            fields: vec![
                ("content-type", "application/grpc".to_owned()),
                ("grpc-encoding", "gzip".to_owned()),
            ],
            body: [&[flag], &length[..], &message].concat(),
            trailers: vec![("grpc-status", "0")],
        };
        is_over_budget(&limited(100_000, reply, call, protos), "sum", 1);
    }
}
