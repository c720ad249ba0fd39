//! Made-up runs for the tests of every format.

use super::super::plan::Goal;
use super::super::tally::{End, Failure, Reason, Tally, Timing};
use super::events::EndedBy;
use super::model::{Facts, Report};
use super::names::{Names, StepNames};
use volley_load::pace::SECOND_NS as S;
use volley_load::spec::threshold::{Selected, Unit};
use volley_report::measure::Cost;
use volley_report::report::Verdict;

const MS: u64 = 1_000_000;

/// Whatever acts on a page, a terminal, or a format's quotes.
pub const HOSTILE: &str = "a\"} 1\nforged 2 \\<b>,\u{1b}[2J</title><script>&\u{202e}";

/// Compares with a file of `samples/`. With `UPDATE_SAMPLES` set, writes the file first.
pub fn assert_golden(name: &str, written: &str) {
    let path = format!("{}/src/report/samples/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_SAMPLES").is_some() {
        std::fs::write(&path, written).unwrap();
    }
    assert_eq!(written, std::fs::read_to_string(&path).unwrap(), "{name}");
}

/// Setup, a scenario of two steps with a rate, and a gRPC one with users.
pub fn names() -> Names {
    let step = |scenario: &str, name: &str| StepNames {
        name: name.to_owned(),
        scenario: scenario.to_owned(),
        ..StepNames::default()
    };
    Names {
        scenarios: vec!["crud".to_owned(), "orders".to_owned()],
        steps: vec![
            step("", "token"),
            StepNames {
                checks: vec!["json /item/sku".to_owned(), "header location".to_owned()],
                saves: vec!["url".to_owned()],
                ..step("crud", "create")
            },
            StepNames {
                is_grpc: true,
                each: vec!["seq = i".to_owned()],
                limits: vec![Reason::Replies],
                ..step("orders", "watch")
            },
        ],
    }
}

fn facts(name: &str) -> Facts {
    Facts {
        version: "0.1.0".to_owned(),
        name: name.to_owned(),
        tags: vec![("commit".to_owned(), "1f4214e".to_owned())],
        targets: vec!["api: 127.0.0.1:8080, HTTP/1.1, 4 connections".to_owned()],
        load: vec![
            "crud: 10/s for 4s".to_owned(),
            "orders: 1 users for 4s".to_owned(),
        ],
        started_unix_ns: 1_795_000_000 * S,
        elapsed_ns: 4 * S,
        load_ns: 4 * S,
        ended_by: EndedBy::Time,
        threads: 2,
        connections: 4,
        cost: Cost {
            cpu_s: 0.25,
            cpu_total_s: 0.3,
            busiest_thread_s: 0.2,
            peak_bytes: 21_300_000,
        },
        warnings: vec!["the clock jumped".to_owned()],
        ..Facts::default()
    }
}

fn verdict(threshold: &str, value: f64, unit: Unit, limit: f64, failed: bool) -> Verdict {
    let (figure, _) = threshold.split_once(" < ").unwrap();
    Verdict {
        threshold: threshold.to_owned(),
        figure: figure.to_owned(),
        value: Some(value),
        unit,
        limit,
        failed,
        is_at_least: false,
        window_ns: None,
        doubt: None,
    }
}

/// A condition of a file on a part of a run.
pub fn goal(text: &str, fails_if: &str, of: &str) -> Goal {
    Goal {
        fails_if: fails_if.parse::<Selected>().unwrap().threshold,
        text: text.to_owned(),
        of: Some(of.to_owned()),
        abort_after_ns: None,
    }
}

fn tally(says: &str) -> Tally {
    let mut tally = Tally::new(2, 3, 0);
    tally.sent(0, 0, 120);
    let timing = Timing {
        first_ns: Some(5 * MS),
        end_ns: 6 * MS,
        ..Timing::at(0)
    };
    tally.ended(0, &timing, Some(200), 300, Ok(()));
    for n in 0..40 {
        let due_ns = n * 100 * MS;
        let sent_ns = due_ns + MS;
        let end_ns = sent_ns + (5 + n) * MS;
        tally.iteration_began(0, Some(due_ns), sent_ns);
        tally.sent(1, sent_ns, 450);
        let timing = Timing {
            due_ns: Some(due_ns),
            first_ns: Some(sent_ns + 4 * MS),
            end_ns,
            ..Timing::at(sent_ns)
        };
        let failure = match n {
            7 | 8 => Some((Reason::Check(0), says)),
            20 => Some((Reason::Status, "status 503, not 201")),
            21 => Some((Reason::Timeout, "no response within 2s")),
            22 => Some((Reason::Save(0), "no header `location`")),
            _ => None,
        };
        if !matches!(n, 20 | 21) {
            tally.check(1, sent_ns, 0, !matches!(n, 7 | 8));
            tally.check(1, sent_ns, 1, true);
        }
        let status = match n {
            20 => Some(503),
            21 => None,
            _ => Some(201),
        };
        let failure = failure.map(|(reason, what)| Failure { reason, what });
        let verdict = failure.as_ref().map_or(Ok(()), Err);
        tally.ended(1, &timing, status, 317, verdict);
        let end = match failure {
            Some(_) => End::Failed,
            None => End::Ok,
        };
        tally.iteration_ended(0, (MS, sent_ns, end_ns), end);
    }
    tally.dropped(0, 3, 2 * S, 2 * S);
    for n in 0..3 {
        let sent_ns = n * S;
        tally.iteration_began(1, None, sent_ns);
        tally.sent(2, sent_ns, 40);
        let timing = |end_ns| Timing {
            first_ns: Some(sent_ns + 2 * MS),
            end_ns,
            ..Timing::at(sent_ns)
        };
        if n == 2 {
            tally.left_open(2, &timing(sent_ns + 600 * MS), true);
            tally.iteration_left_open(1, (0, sent_ns, sent_ns + 600 * MS));
            continue;
        }
        let end_ns = sent_ns + 900 * MS;
        tally.replies(2, sent_ns, 100, end_ns);
        let timing = timing(end_ns);
        tally.ended(2, &timing, Some(0), 9_000, Ok(()));
        tally.iteration_ended(1, (0, sent_ns, end_ns), End::Ok);
    }
    tally.unfed(1, 1);
    tally
}

/// 40 creations with five failures of four kinds, 3 dropped iterations, two streams and an open one.
pub fn shop() -> Report {
    let mut report = Report::new(
        tally("`/item/sku` is `0`, not `7`"),
        &names(),
        facts("shop.yaml"),
    );
    report.thresholds = vec![
        verdict("p99(crud.create) < 50ms", 61e6, Unit::Ns, 50e6, true),
        verdict("dropped < 10%", 6.666_667, Unit::Percent, 10.0, false),
    ];
    report
}

/// A run in which nothing was sent.
pub fn nothing() -> Report {
    Report::new(Tally::new(2, 3, 0), &names(), facts("shop.yaml"))
}

/// The shop with the names of somebody who means harm.
pub fn hostile() -> Report {
    let mut names = names();
    let hostile = || HOSTILE.to_owned();
    names.scenarios[0] = hostile();
    names.steps[1].scenario = hostile();
    names.steps[1].name = hostile();
    names.steps[1].checks[0] = hostile();
    names.steps[1].saves[0] = hostile();
    let mut facts = facts(HOSTILE);
    facts.warnings = vec![hostile()];
    facts.tags = vec![(hostile(), hostile())];
    facts.targets = vec![hostile()];
    facts.load = vec![hostile(), hostile()];
    let mut report = Report::new(tally(HOSTILE), &names, facts);
    report.thresholds = shop().thresholds;
    for verdict in &mut report.thresholds {
        verdict.threshold = hostile();
    }
    report
}
