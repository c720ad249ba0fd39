//! Sweeps that end early, and sweeps that never begin.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use volley::http2::frame::Kind;
use volley::serve::Faults;

use super::{Sweep, blast, total};
use crate::common::shape::SERVER_STREAM;
use crate::common::{LONGEST, Volley, awaited, faulty, reference, scripted, until};

#[test]
fn a_sweep_that_is_cut_short_reports_the_blasts_that_were_over() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(100)));
    let flags = "--requests 1,2 --connections 1 --repetitions 1000 -x 2s";
    let sweep = Sweep::of(&blast().flags(flags).run(&server));
    assert_eq!(sweep.exit, 0);
    sweep.warned_of("cut short");
    sweep.warned_of("of 2000 blasts");
    let shots = |n| sweep.point(1, n)["shots"].as_array().unwrap().len() as u64;
    // Each takes 100 ms or more.
    assert!((1..=20).contains(&(shots(1) + shots(2))));
    assert!(shots(1).abs_diff(shots(2)) <= 1);
    for n in [1, 2] {
        assert_eq!(sweep.point(1, n)["ok"], n * shots(n));
    }
    assert_eq!(sweep.failed(), BTreeMap::new());
}

#[test]
fn a_point_that_was_never_fired_has_no_figures() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_secs(3600)));
    let flags = "--requests 4 --connections 2 -x 50ms -t 0";
    let sweep = Sweep::of(&blast().flags(flags).run(&server));
    assert_eq!(sweep.exit, 1);
    let point = sweep.point(2, 4);
    assert_eq!(point["shots"], serde_json::json!([]));
    assert_eq!((&point["ok"], total(point)), (&0.into(), 0));
    for figure in ["median", "low", "high"] {
        assert!(point["rate"][figure].is_null(), "{point}");
    }
    sweep.warned_of("0 of 10 blasts");
}

#[test]
fn ctrl_c_ends_a_sweep_with_a_report() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_millis(20)));
    let flags = "--requests 1 --connections 1 --repetitions 100000 -x 10m";
    let running = blast().flags(flags).start(&server);
    until(&server, |counts| counts.calls_ok >= 3);
    kill_process(Pid::from_raw(running.pid()).unwrap(), Signal::INT).unwrap();
    let sweep = Sweep::of(&running.wait());
    assert_eq!(sweep.exit, 0);
    sweep.warned_of("interrupted");
    assert!(!sweep.warns_of("cut short"));
    assert!(sweep.ok() >= 2);
}

#[test]
fn a_signal_while_a_connection_is_opened_again_fails_no_call() {
    let (say, begun) = std::sync::mpsc::channel();
    let address = scripted::accept(move |number| {
        let say = say.clone();
        move |mut socket| {
            if number == 0 {
                return scripted::converse(socket, |header, peer| {
                    let is_asked = header.kind == Kind::Data;
                    if is_asked {
                        peer.answer(header.stream, &[8, 42]);
                    }
                    !is_asked
                });
            }
            let _ = say.send(());
            std::io::copy(&mut socket, &mut std::io::sink()).map(|_| ())
        }
    });
    let flags = "--requests 1 --connections 1 --repetitions 1000 -x 10m --connect-timeout 10m";
    let running = blast().flags(flags).start(address);
    begun.recv_timeout(LONGEST).unwrap();
    kill_process(Pid::from_raw(running.pid()).unwrap(), Signal::INT).unwrap();
    let sweep = Sweep::of(&running.wait());
    assert_eq!((sweep.ok(), sweep.failed()), (1, BTreeMap::new()));
    sweep.warned_of("interrupted");
}

#[test]
fn a_server_that_goes_away_fails_what_follows() {
    let server = reference(Faults::default());
    let flags = "--requests 4 --connections 2 --repetitions 100000 -x 10m";
    let running = blast().flags(flags).start(&server);
    until(&server, |counts| counts.calls_ok >= 8);
    let address = server.address();
    drop(server);
    // Whoever is there now hangs up at once, and is called again and again. Before, a connection of somebody else may
    // have the port.
    let other = awaited(|| TcpListener::bind(address), Result::is_ok).unwrap();
    other.set_nonblocking(true).unwrap();
    for _ in 0..8 {
        awaited(|| other.accept().is_ok(), |came| *came);
    }
    kill_process(Pid::from_raw(running.pid()).unwrap(), Signal::INT).unwrap();
    let finished = running.wait();
    let sweep = Sweep::of(&finished);
    assert_eq!(sweep.exit, 0);
    let failed = sweep.failed();
    assert_eq!(failed.keys().collect::<Vec<_>>(), ["Unavailable"]);
    assert!(failed["Unavailable"] > 0);
    for shot in sweep.point(2, 4)["shots"].as_array().unwrap() {
        assert_eq!(shot["ok"].as_u64().unwrap() + total(shot), 4);
    }
}

#[test]
fn a_server_that_is_not_there_is_one_line() {
    let finished = blast().run(scripted::nobody());
    let error = finished.error();
    assert!(error.starts_with("cannot connect to 127.0.0.1:"), "{error}");
}

#[test]
fn a_streaming_method_and_a_template_are_refused_before_any_connection() {
    let server = reference(Faults::default());
    for (volley, words) in [
        (Volley::blast(SERVER_STREAM.method), "`--call`: "),
        (
            Volley::blast("GetSum").data(r#"{"a": {{.RequestNumber}}}"#),
            "template",
        ),
        (
            Volley::blast("GetSum")
                .arg("-m")
                .arg(r#"{"id": "{{newUUID}}"}"#),
            "template",
        ),
    ] {
        let finished = volley.run(&server);
        assert_eq!((finished.code(), finished.stdout.as_str()), (2, ""));
        assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
        finished.said(words);
    }
    assert_eq!(server.counts().connections, 0);
}
