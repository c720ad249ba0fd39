//! Faults of a server in single calls and single connections.

use std::sync::mpsc;

use volley::http2::ErrorCode;
use volley::http2::frame::{Kind, write_go_away, write_rst_stream};

use super::{CALLS, Sweep, blast, sweep};
use crate::common::{LONGEST, faulty, one, scripted};

#[test]
fn an_error_in_trailers_is_a_failed_call_with_the_servers_status() {
    let faults = faulty(|faults| faults.trailers_only_every = one(8));
    let (sweep, counts) = sweep(faults, "--threads 2");
    sweep.fails("Internal", CALLS / 8);
    assert_eq!(sweep.ok(), counts.calls_ok);
    assert_eq!(counts.calls_failed, CALLS / 8);
    assert_eq!(sweep.json["reconnects"], 0);
}

#[test]
fn a_reset_stream_is_a_failed_call() {
    let faults = faulty(|faults| faults.reset_every = one(8));
    let (sweep, counts) = sweep(faults, "");
    sweep.fails("Internal", CALLS / 8);
    assert_eq!(sweep.ok(), counts.calls_ok);
}

#[test]
fn a_wrong_reply_is_a_failed_call_and_is_shown() {
    let faults = faulty(|faults| faults.wrong_at = Some(0));
    let (sweep, counts) = sweep(faults, "");
    assert_eq!((sweep.exit, sweep.ok()), (1, 0));
    sweep.fails("DataLoss", CALLS);
    assert_eq!(counts.calls_ok, CALLS);
    let checks = &sweep.json["checks"];
    assert_eq!(
        (&checks["compared"], &checks["failed"]),
        (&true.into(), &CALLS.into())
    );
    let sample = checks["samples"][0].as_str().unwrap();
    assert!(sample.contains("43, expected 42"), "{sample}");
    sweep.warned_of("wrong replies");
    sweep.warned_of("none of");
    assert_eq!(sweep.point(1, 1)["rate"]["median"], 0.0);
}

#[test]
fn a_lost_connection_fails_its_calls_and_is_open_again_for_the_next_blast() {
    for faults in [
        faulty(|faults| faults.close_every = one(50)),
        faulty(|faults| faults.garbage_every = one(50)),
    ] {
        let (sweep, counts) = sweep(faults, "--threads 2");
        let failed = sweep.failed();
        let unavailable = failed.get("Unavailable").copied().unwrap_or_default();
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(sweep.ok() + unavailable, CALLS);
        // One connection for each call that was hit, except in the last blast.
        let struck = counts.calls_started / 50;
        let reconnects = sweep.json["reconnects"].as_u64().unwrap();
        assert!(struck > 5 && unavailable >= struck, "{struck}");
        assert!(
            (struck - 1..=struck).contains(&reconnects),
            "{reconnects} of {struck}"
        );
        assert_eq!(counts.connections, 69 + reconnects);
        sweep.warned_of("reopened");
    }
}

#[test]
fn calls_beyond_a_goaway_fail_and_the_next_blast_has_a_new_connection() {
    let faults = faulty(|faults| faults.goaway_after = one(10));
    let (sweep, counts) = sweep(faults, "");
    let failed = sweep.failed();
    let unavailable = failed.get("Unavailable").copied().unwrap_or_default();
    assert_eq!(failed.len(), usize::from(unavailable > 0), "{failed:?}");
    assert_eq!(sweep.ok() + unavailable, CALLS);
    assert_eq!((sweep.ok(), counts.calls_failed), (counts.calls_ok, 0));
    let reconnects = sweep.json["reconnects"].as_u64().unwrap();
    assert!(reconnects > 0);
    assert_eq!(counts.connections, 69 + reconnects);
}

#[test]
fn a_goaway_that_refuses_every_call_fails_them_all_without_a_second_try() {
    let address = scripted::accept(|_| {
        |socket| {
            scripted::answer(socket, |peer, _| {
                write_go_away(&mut peer.out, 0, ErrorCode::NoError, b"");
                false
            })
        }
    });
    let flags = "--requests 5 --connections 1 --repetitions 3";
    let sweep = Sweep::of(&blast().flags(flags).run(address));
    sweep.check();
    assert_eq!((sweep.exit, sweep.ok()), (1, 0));
    sweep.fails("Unavailable", 15);
    assert_eq!(sweep.json["reconnects"], 2);
}

#[test]
fn a_call_that_the_server_refuses_is_not_tried_again() {
    let address = scripted::serve(|_| {
        let mut refused = 0;
        move |header, peer| {
            if header.kind == Kind::Data && refused < 5 {
                refused += 1;
                write_rst_stream(&mut peer.out, header.stream, ErrorCode::RefusedStream);
            } else if header.kind == Kind::Data {
                peer.answer(header.stream, &[8, 42]);
            }
            true
        }
    });
    let flags = "--requests 5 --connections 1 --repetitions 2";
    let sweep = Sweep::of(&blast().flags(flags).run(address));
    sweep.check();
    assert_eq!(sweep.ok(), 5);
    sweep.fails("Unavailable", 5);
}

#[test]
fn a_retired_connection_whose_last_call_took_too_long_is_closed() {
    let (sender, closed) = mpsc::channel();
    let address = scripted::accept(move |number| {
        let sender = sender.clone();
        move |socket| {
            let ended = scripted::converse(socket, |header, peer| {
                if header.kind == Kind::Data && number == 0 {
                    write_go_away(&mut peer.out, 1, ErrorCode::NoError, b"");
                }
                true
            });
            // Fails only if the test has given up.
            let _ = sender.send(number);
            ended
        }
    });
    let flags = "--requests 1 --connections 1 --repetitions 100000 -x 10m -t 100ms";
    let running = blast().flags(flags).start(address);
    assert_eq!(closed.recv_timeout(LONGEST), Ok(0));
    drop(running);
}
