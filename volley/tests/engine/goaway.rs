//! GOAWAY: a server that closes connections this way loses no calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use volley::http2::ErrorCode;
use volley::http2::frame::{Kind, flag, write_go_away};
use volley::serve::Faults;

use crate::common::shape::{ALL, UNARY};
use crate::common::{LONGEST, faulty, one, reference, scripted, settled};

fn goaway_after(calls: u64) -> Faults {
    faulty(|faults| faults.goaway_after = one(calls))
}

#[test]
fn every_call_succeeds_though_connections_end_after_a_few() {
    for shape in ALL {
        let server = reference(goaway_after(5));
        let report = shape
            .checked("-n 200 -c 6 --connections 3 --threads 2")
            .report(&server);
        assert_eq!(report.all_ok(), 200, "{shape:?}");
        assert_eq!(report.messages(), 200 * shape.replies);
        let counts = settled(&server);
        assert_eq!(counts.calls_ok, 200, "{shape:?}");
        // The last ones may have been opened in vain, and closed before they were ready.
        let opened = 3 + report.number("/reconnects");
        assert!(
            (opened..=opened + 3).contains(&counts.connections),
            "{counts:?}"
        );
        assert!(report.number("/reconnects") > 10, "{shape:?}");
        report.warned_of("reopened");
    }
}

#[test]
fn waited_for_calls_equal_the_servers_own_count_though_connections_end() {
    let server = reference(goaway_after(5));
    let report = UNARY
        .checked("-z 1s --duration-stop wait -c 8 --connections 2 --threads 2")
        .report(&server);
    let ok = report.all_ok();
    assert_eq!(settled(&server).calls_ok, ok);
    assert!(report.number("/reconnects") > 0, "{ok}");
}

#[test]
fn a_call_that_goaway_left_out_is_sent_again_and_counted_once() {
    // Each of the first three connections leaves its first call unanswered.
    let address = scripted::serve(|number| {
        scripted::on_data(move |peer, stream| {
            if number < 3 {
                write_go_away(&mut peer.out, 0, ErrorCode::NoError, b"");
                return false;
            }
            peer.answer(stream, &[]);
            true
        })
    });
    let report = UNARY.run("-n 5 -c 1").report(address);
    assert_eq!(report.all_ok(), 5);
    assert_eq!((report.sent(), report.number("/retried")), (5, 3));
    assert_eq!(report.number("/reconnects"), 3);
}

#[test]
fn a_call_left_out_after_the_windows_end_is_sent_again_too() {
    // The first connection leaves its call unanswered until its window is surely over, long after a
    // second connection could have been made.
    let address = scripted::serve(|number| {
        scripted::on_data(move |peer, stream| {
            if number == 0 {
                std::thread::sleep(Duration::from_millis(1100));
                write_go_away(&mut peer.out, 0, ErrorCode::NoError, b"");
                return false;
            }
            peer.answer(stream, &[]);
            true
        })
    });
    let report = UNARY.run("-z 1s --duration-stop wait -c 1").report(address);
    assert_eq!((report.all_ok(), report.number("/retried")), (1, 1));
}

#[test]
fn a_retiring_connection_whose_last_call_takes_too_long_is_closed() {
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
    let running = UNARY.run("-z 10m -t 300ms -c 1").start(address);
    assert_eq!(closed.recv_timeout(LONGEST), Ok(0));
    drop(running);
}

#[test]
fn a_server_that_retires_every_connection_at_once_is_not_stormed() {
    let connections = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&connections);
    let address = scripted::serve(move |number| {
        seen.store(number + 1, Ordering::Relaxed);
        move |header, peer| {
            if number > 0 && header.kind == Kind::Settings && header.has(flag::ACK) {
                write_go_away(&mut peer.out, 0, ErrorCode::NoError, b"");
            } else if header.kind == Kind::Data && number == 0 {
                peer.answer(header.stream, &[]);
                write_go_away(&mut peer.out, header.stream, ErrorCode::NoError, b"");
            }
            true
        }
    });
    let report = UNARY.run("-z 1s --rps 5 -c 1").report(address);
    assert_eq!((report.ok(), report.failed_total()), (1, 0));
    // Waits of 20 ms, 40 ms, … and not thousands of tries.
    let connections = connections.load(Ordering::Relaxed);
    assert!((2..12).contains(&connections), "{connections}");
}
