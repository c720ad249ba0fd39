//! What a thread does when it hears of something, and not when a timer rings.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use super::samples::{driver, shared, spec};
use super::streaming::FEW_TIMERS;
use crate::call::Ticket;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::script::Plain;
use crate::shared::Shared;
use crate::stage::Opening;
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{Kind, flag, write_go_away};
use volley_load::spec::{Data, DurationStop, Spec};
use volley_net::Clock;
use volley_report::measure::{Outcome, Tally};
use volley_serve::{Config, Reference};
use volley_testkit::scripted;

type Driver<'a> = super::Driver<'a, Tally, Plain>;

/// Runs one thread that looks at its sockets only, until a condition holds: it never looks for timeouts, and does nothing that is due.
fn hear(spec: &Spec, mut is_done: impl FnMut(&Driver) -> bool) {
    let plan = Plan::new(spec, &shared().signal).unwrap();
    let shared = shared();
    let mut driver = driver(spec, &plan, &shared);
    driver.connect().unwrap();
    let start_ns = driver.clock.now_ns();
    driver.start(start_ns, Arc::new(Opening::at(start_ns)));
    let began = Instant::now();
    while !is_done(&driver) {
        assert!(began.elapsed() < Duration::from_secs(60));
        let now_ns = driver.clock.now_ns();
        driver.reconnect(now_ns);
        driver.dispatch(now_ns);
        driver.turn(u64::MAX).unwrap();
    }
}

#[test]
fn a_worker_that_a_retired_connection_sets_free_calls_on_the_new_one_at_once() {
    // The first connection retires with two calls open, and answers one of them once the second connection is ready.
    let (sender, ready) = mpsc::channel();
    let ready = Arc::new(Mutex::new(ready));
    let (call, called) = mpsc::channel();
    let address = scripted::serve(move |number| {
        let (sender, ready, call) = (sender.clone(), Arc::clone(&ready), call.clone());
        let mut calls = 0;
        move |header, peer| {
            match (number, header.kind) {
                (0, Kind::Data) => {
                    calls += 1;
                    if calls == 2 {
                        write_go_away(&mut peer.out, 3, ErrorCode::NoError, b"");
                        peer.send();
                        ready.lock().unwrap().recv().unwrap();
                        peer.answer(1, &[]);
                    }
                }
                (_, Kind::Data) => call.send(()).unwrap(),
                (1, Kind::Settings) if header.has(flag::ACK) => sender.send(()).unwrap(),
                _ => {}
            }
            true
        }
    });
    let mut spec = spec(&address.to_string());
    spec.load.concurrency.workers = 2;
    hear(&spec, |_| called.try_recv().is_ok());
}

#[test]
fn a_stream_goes_on_when_its_window_opens() {
    // A message fills the window.
    let server = Reference::start(Config {
        window: 10,
        ..Config::default()
    });
    let server = server.unwrap();
    let mut spec = spec(&server.address().to_string());
    spec.request.call = "benchmark.BenchmarkService/CollectSum".to_owned();
    spec.request.data = Data::Json(r#"{"a": 100000, "b": 1}"#.to_owned());
    spec.request.stream.duration = Duration::from_secs(3600);
    hear(&spec, |_| server.counts().messages_received > 20);
}

#[test]
fn ended_streams_leave_nothing_behind_of_their_longest_time() {
    let server = Reference::start(Config::default()).unwrap();
    let mut spec = spec(&server.address().to_string());
    spec.request.call = "benchmark.BenchmarkService/StreamSum".to_owned();
    spec.request.data = Data::Json(r#"{"count": 1}"#.to_owned());
    spec.request.stream.duration = Duration::from_secs(3600);
    spec.load.total = 4 * FEW_TIMERS as u64;
    let mut most = 0;
    hear(&spec, |driver| {
        most = most.max(driver.timers.len());
        server.counts().calls_ok == spec.load.total
    });
    assert!(most <= FEW_TIMERS, "{most}");
}

/// The calls that were never sent.
#[derive(Default)]
struct Missed {
    sent: u64,
    calls: u64,
    steps: u64,
    ages_ns: u128,
}

impl Recorder for Missed {
    const HAS_WORKERS: bool = true;

    fn ended(&mut self, _ticket: &Ticket, _end_ns: u64, _outcome: Outcome) {}

    fn wrong_reply(&mut self, _now_ns: u64, _what: &str) {}

    fn messages(&mut self, _n: u64, _frames: u64, _now_ns: u64) {}

    fn reset(&mut self, _start_ns: u64) {
        self.sent = 0;
    }

    fn sent(&mut self, _intended_ns: u64, _now_ns: u64) {
        self.sent += 1;
    }

    fn missed(&mut self, intended_ns: u64, at_ns: u64, count: u64) {
        self.calls += count;
        self.steps += 1;
        self.ages_ns += u128::from(at_ns - intended_ns) * u128::from(count);
    }
}

fn missing<'a>(
    spec: &Spec,
    plan: &'a Plan,
    shared: &'a Shared,
) -> super::Driver<'a, Missed, Plain> {
    let script = Plain::new(spec, &plan.method).unwrap();
    super::Driver::new(plan, 0, Clock::start(), shared, Missed::default(), script).unwrap()
}

#[test]
fn the_missed_calls_of_a_long_schedule_are_counted_in_few_steps() {
    const CALLS: u64 = 60_000_000;
    const MS: u128 = 1_000_000;
    let mut spec = spec("127.0.0.1:1");
    spec.load.threads = Some(1);
    spec.load.rate.rps = 1_000_000;
    spec.load.duration = Duration::from_secs(60);
    for stop in [DurationStop::Close, DurationStop::Wait] {
        spec.load.duration_stop = stop;
        let shared = shared();
        let plan = Plan::new(&spec, &shared.signal).unwrap();
        let mut driver = missing(&spec, &plan, &shared);
        let start_ns = driver.clock.now_ns();
        driver.start(start_ns, Arc::new(Opening::at(start_ns)));
        driver.advance(start_ns + 60_000_000_000);
        let Missed {
            calls,
            steps,
            ages_ns,
            ..
        } = driver.result().recorder;
        assert_eq!(calls, CALLS, "{stop:?}");
        assert!(steps <= 100_000, "{steps}");
        let mean_ns = ages_ns / u128::from(calls);
        assert!(mean_ns.abs_diff(30_000 * MS) < MS, "{mean_ns}");
    }
}

#[test]
fn what_is_open_or_waits_has_an_age_and_the_calls_of_a_warm_up_have_none() {
    const TENTH_NS: u64 = 100_000_000;
    let server = Reference::start(Config::default()).unwrap();
    let mut spec = spec(&server.address().to_string());
    spec.load.threads = Some(1);
    spec.load.concurrency.workers = 1;
    spec.load.rate.rps = 10;
    for is_watched in [true, false] {
        let mut shared = shared();
        shared.is_watched = is_watched;
        let plan = Plan::new(&spec, &shared.signal).unwrap();
        let mut driver = driver(&spec, &plan, &shared);
        driver.connect().unwrap();
        let start_ns = driver.clock.now_ns();
        driver.start(start_ns, Arc::new(Opening::at(start_ns)));
        driver.dispatch(start_ns);
        let now_ns = start_ns + 10 * TENTH_NS;
        let count = |driver: &mut Driver| {
            let ages = driver.open_ages(now_ns);
            let calls: u64 = ages.iter().map(|(_, calls)| calls).sum();
            (calls, ages.last().map(|(ns, _)| ns / TENTH_NS))
        };
        let told = |ages| if is_watched { ages } else { (0, None) };
        // The first call is open; nine more are due, and the only worker is busy.
        let all = count(&mut driver);
        assert_eq!(all, told((10, Some(10))));
        driver.context.counted_from_ns = start_ns + 1;
        let counted = count(&mut driver);
        assert_eq!(counted, told((9, Some(9))));
        // A call that is to be sent again is open, too.
        driver.links[0].again.push(Ticket {
            worker: 0,
            number: 1,
            intended_ns: start_ns + 1,
            sent_ns: start_ns + 1,
            refusals: 0,
        });
        let again = count(&mut driver);
        assert_eq!(again, told((10, Some(9))));
    }
}

#[test]
fn what_was_due_before_a_line_opened_the_window_is_sent_in_it_and_counts_for_nothing() {
    const TENTH_NS: u64 = 100_000_000;
    let server = Reference::start(Config::default()).unwrap();
    let mut spec = spec(&server.address().to_string());
    spec.load.threads = Some(1);
    spec.load.concurrency.workers = 1;
    spec.load.rate.rps = 10;
    spec.load.duration = Duration::from_secs(1);
    spec.load.open_on_stdin = true;
    let shared = shared();
    let plan = Plan::new(&spec, &shared.signal).unwrap();
    let mut driver = missing(&spec, &plan, &shared);
    driver.connect().unwrap();
    let start_ns = driver.clock.now_ns();
    let opens_ns = start_ns + 5 * TENTH_NS;
    driver.start(start_ns, Arc::new(Opening::at(opens_ns)));
    // The only worker makes the first call, and does not hear of its end.
    driver.dispatch(start_ns);
    driver.advance(opens_ns);
    assert_eq!(driver.next_call_ns(), Some(start_ns + TENTH_NS));
    driver.links[0].idle.push(0);
    driver.list(0);
    driver.dispatch(opens_ns);
    assert_eq!(driver.next_call_ns(), Some(start_ns + 2 * TENTH_NS));
    driver.advance(opens_ns + 10 * TENTH_NS);
    let Missed { sent, calls, .. } = driver.result().recorder;
    assert_eq!((sent, calls), (0, 10));
}
