//! A server that dies during the run, forever or for a while.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use socket2::SockRef;
use volley::http2::ErrorCode;
use volley::http2::frame::{Kind, write_go_away, write_window_update};
use volley::serve::{Config, Reference};

use crate::common::shape::UNARY;
use crate::common::{LONGEST, Scratch, Volley, awaited, has, scripted, until};

fn server_at(address: SocketAddr) -> Reference {
    // A connection of somebody else may have the port of a server that has gone.
    let mut server = None;
    let start = || {
        server = Reference::start(Config {
            address,
            ..Config::default()
        })
        .ok();
        server.is_some()
    };
    awaited(start, |has_started| *has_started);
    server.unwrap()
}

fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn any_port() -> SocketAddr {
    Config::default().address
}

#[test]
fn a_server_that_dies_for_good_ends_the_run_with_what_was_counted() {
    let server = server_at(any_port());
    // Far longer than the harness waits.
    let running = UNARY
        .checked("-z 10m --connect-timeout 1s -c 8 --connections 4 --threads 2")
        .start(&server);
    until(&server, |counts| counts.calls_ok > 200);
    let counts = server.stop();
    let report = running.wait().report();
    assert_eq!(report.exit, 0);
    report.warned_of("the server went away");
    // Answers sent while the server stopped may have been lost on the way.
    assert!((counts.calls_ok - 8..=counts.calls_ok).contains(&report.ok()));
    assert_eq!(report.ok() + report.failed_total(), report.sent());
    assert!(report.failed_total() <= 8, "{:?}", report.failed());
    assert_eq!(report.number("/reconnects"), 0, "none came about");
}

#[test]
fn a_longest_duration_is_not_blamed_for_a_server_that_died() {
    let server = server_at(any_port());
    let running = UNARY
        .checked("-n 100000000 -x 10m --connect-timeout 1s -c 8")
        .start(&server);
    until(&server, |counts| counts.calls_ok > 200);
    drop(server);
    let report = running.wait().report();
    report.warned_of("the server went away");
    assert!(!report.warns_of("`-x`"), "{:?}", report.warnings());
}

#[test]
fn a_window_that_outlives_its_server_says_that_there_was_no_load() {
    let server = server_at(any_port());
    let running = UNARY
        .checked("-z 2s -c 8 --connections 4 --threads 2")
        .start(&server);
    until(&server, |counts| counts.calls_ok > 20);
    drop(server);
    let report = running.wait().report();
    report.warned_of("4 of 4 connections were lost and still down at the end");
}

#[test]
fn a_server_that_dies_under_a_schedule_leaves_its_sends_missed() {
    let server = server_at(any_port());
    let running = UNARY
        .checked("-n 100000 --rps 1000 --connect-timeout 1s -c 8")
        .start(&server);
    until(&server, |counts| counts.calls_ok > 20);
    drop(server);
    let report = running.wait().report();
    assert!(report.ok() > 20 - 8);
    report.warned_of("the server went away");
    let elapsed_ns = report.json["total"].as_u64().unwrap();
    let due = elapsed_ns.div_ceil(1_000_000);
    assert_eq!(report.sent() + report.number("/missed"), due);
}

#[test]
fn a_server_that_comes_back_is_called_again_over_new_connections() {
    let server = server_at(any_port());
    let address = server.address();
    let running = UNARY
        .checked("-n 2000 --rps 1000 -c 8 --connections 4 --threads 2")
        .start(address);
    until(&server, |counts| counts.calls_ok > 20);
    drop(server);
    let server = server_at(address);
    let report = running.wait().report();
    assert_eq!(report.exit, 0);
    assert_eq!((report.sent(), report.number("/missed")), (2000, 0));
    assert_eq!(report.ok() + report.failed_total(), 2000);
    assert!(report.failed_total() <= 8, "{:?}", report.failed());
    assert_eq!(report.number("/reconnects"), 4);
    let after = server.counts();
    assert_eq!(after.connections, 4);
    assert!(after.calls_ok > 0, "{after:?}");
}

#[test]
fn a_connection_that_does_not_come_back_is_tried_again_while_others_work() {
    // Of two connections, the second is lost with its first call. The one after it is accepted but
    // stays silent; the fourth works.
    let (sender, fourth) = mpsc::channel();
    let address = scripted::accept(move |number| {
        let sender = sender.clone();
        move |socket| {
            if number == 2 {
                let mut socket = socket;
                std::io::copy(&mut socket, &mut std::io::sink())?;
                return Ok(());
            }
            scripted::answer(socket, |peer, stream| {
                if number == 3 {
                    // Fails once the test has seen it.
                    let _ = sender.send(());
                }
                peer.answer(stream, &[]);
                number != 1
            })
        }
    });
    let running = UNARY
        .run("-z 10m --rps 50 -c 2 --connections 2 --connect-timeout 1s")
        .start(address);
    fourth.recv_timeout(LONGEST).unwrap();
    signal(running.pid(), Signal::INT);
    let report = running.wait().report();
    assert_eq!(report.number("/reconnects"), 1);
    assert!(report.failed_total() <= 1, "{:?}", report.failed());
}

#[test]
fn a_connection_whose_calls_this_side_gave_up_is_not_opened_again_at_once() {
    // It answers nothing, and hangs up when a call is cancelled.
    let (sender, connections) = mpsc::channel();
    let address = scripted::serve(move |_| {
        let _ = sender.send(());
        |header, _| header.kind != Kind::RstStream
    });
    let report = UNARY.run("-z 2s -c 1 -t 10ms").report(address);
    assert_eq!(report.ok(), 0);
    // The waits grow from 20 ms: without them, one connection followed another every 10 ms.
    let count = connections.try_iter().count();
    assert!((2..40).contains(&count), "{count} connections");
}

#[test]
fn what_a_server_says_before_it_hangs_up_is_in_the_error() {
    let address = scripted::serve(|_| {
        scripted::on_data(|peer, _| {
            let code = ErrorCode::EnhanceYourCalm;
            write_go_away(&mut peer.out, 1, code, b"too_many_pings");
            false
        })
    });
    let report = UNARY.run("-n 1 -c 1").report(address);
    assert_eq!(report.all_failed("Unavailable"), 1);
    let (text, _) = &report.errors()[0];
    has(text, " after GOAWAY ENHANCE_YOUR_CALM (`too_many_pings`)");
}

#[test]
fn a_call_that_cannot_be_sent_again_fails_when_its_time_is_up() {
    // The second connection leaves its call unanswered, and no other takes its place.
    let address = scripted::accept(|number| {
        move |socket| {
            if number > 1 {
                return Ok(());
            }
            scripted::answer(socket, |peer, stream| {
                if number == 1 {
                    write_go_away(&mut peer.out, 0, ErrorCode::NoError, b"");
                    return false;
                }
                peer.answer(stream, &[]);
                true
            })
        }
    });
    let report = UNARY
        .run("-n 20 -c 2 --connections 2 -t 2s")
        .report(address);
    assert_eq!((report.ok(), report.cut()), (19, 0));
    assert_eq!(report.failed(), [("DeadlineExceeded".to_owned(), 1)]);
}

#[test]
fn calls_of_a_thread_that_has_lost_its_connections_are_sent_by_the_others() {
    // Two threads with a connection each. The second connection is lost with its first call, and none takes its place.
    for load in ["-z 2s", "-n 400"] {
        let address = scripted::accept(|number| {
            move |socket| {
                if number > 1 {
                    return Ok(());
                }
                scripted::converse(socket, |header, peer| {
                    if header.kind == Kind::Data {
                        peer.answer(header.stream, &[]);
                    }
                    header.kind != Kind::Data || number == 0
                })
            }
        });
        let report = UNARY
            .run("--rps 200 -c 20 --connections 2 --threads 2 --connect-timeout 1s")
            .flags(load)
            .report(address);
        // On a busy host, some calls are open when the connection is lost, or are missed.
        assert_eq!(report.sent() + report.number("/missed"), 400, "{load}");
        // Half of them are those of the other thread.
        assert!(report.ok() > 200, "{load}: {:?}", report.failed());
        assert!(report.failed_total() <= 10, "{load}: {:?}", report.failed());
        let sent: u64 = report.numbers("/series/sent").iter().sum();
        assert_eq!(sent, report.sent(), "{load}");
    }
}

#[test]
fn replies_that_came_before_a_connection_broke_are_counted() {
    // The client sends more than the peer reads; it stands still while the reply and the reset arrive.
    let (sender, blocked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    let (close, closed) = mpsc::channel();
    let address = scripted::accept(move |_| {
        let (sender, may_answer) = (sender.clone(), Arc::clone(&may_answer));
        let close = close.clone();
        move |socket| {
            SockRef::from(&socket).set_linger(Some(Duration::ZERO))?;
            let ended = scripted::converse(socket, |header, peer| {
                if header.kind == Kind::Headers {
                    let mut window = Vec::new();
                    write_window_update(&mut window, 0, 1 << 30);
                    write_window_update(&mut window, header.stream, 1 << 30);
                    peer.out.extend(window);
                }
                if header.kind != Kind::Data {
                    return true;
                }
                let _ = sender.send(());
                let _ = may_answer.lock().map(|may_answer| may_answer.recv());
                peer.answer(header.stream, &[]);
                false
            });
            let _ = close.send(());
            ended
        }
    });
    let scratch = Scratch::new();
    let proto = scratch.write(
        "p.proto",
        "syntax = \"proto3\"; package p; message M { string text = 1; } \
         service S { rpc Do(stream M) returns (M); }",
    );
    let text = format!("{{\"text\": \"{}\"}}", "x".repeat(1 << 20));
    let data = scratch.write("data.json", &format!("[{}]", vec![text; 16].join(",")));
    let running = Volley::of(&proto, "p.S/Do")
        .flags("-n 1 -c 1 -D")
        .arg(&data)
        .start(address);
    blocked.recv_timeout(LONGEST).unwrap();
    signal(running.pid(), Signal::STOP);
    answer.send(()).unwrap();
    // The reset has followed the reply: the client sees both together.
    closed.recv_timeout(LONGEST).unwrap();
    signal(running.pid(), Signal::CONT);
    let report = running.wait().report();
    assert_eq!(report.all_ok(), 1);
}
