//! What a thread does when it hears of something, and not when a timer rings.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use mio::Events;

use super::due::FEW_DUES;
use super::samples::{driver, shared, spec};
use crate::engine::plan::Plan;
use crate::engine::script::Plain;
use crate::engine::stage::Opening;
use crate::http2::ErrorCode;
use crate::http2::frame::{Kind, flag, write_go_away};
use crate::measure::Tally;
use crate::serve::{Config, Reference};
use crate::spec::{Data, Spec};

#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../../../tests/common/scripted.rs"]
mod scripted;

type Driver<'a> = super::Driver<'a, Tally, Plain>;

/// Runs one thread that looks at its sockets only, until a condition holds: it never sweeps, and does nothing that is due.
fn hear(spec: &Spec, mut is_done: impl FnMut(&Driver) -> bool) {
    let plan = Plan::new(spec, &shared().signal).unwrap();
    let shared = shared();
    let mut driver = driver(spec, &plan, &shared);
    driver.connect().unwrap();
    let start_ns = driver.clock.now_ns();
    driver.start(start_ns, Arc::new(Opening::at(start_ns)));
    let mut events = Events::with_capacity(64);
    let began = Instant::now();
    while !is_done(&driver) {
        assert!(began.elapsed() < Duration::from_secs(60));
        let now_ns = driver.clock.now_ns();
        driver.reconnect(now_ns);
        driver.dispatch(now_ns);
        driver.turn(&mut events, u64::MAX).unwrap();
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
    spec.load.total = 4 * FEW_DUES as u64;
    let mut most = 0;
    hear(&spec, |driver| {
        most = most.max(driver.dues.len());
        server.counts().calls_ok == spec.load.total
    });
    assert!(most <= FEW_DUES, "{most}");
}
