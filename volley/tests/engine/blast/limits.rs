//! How calls leave, and what they wait for: the server's limits, and their own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::Duration;

use volley::http2::frame::{self, FrameHeader, Kind, flag};

use super::{CALLS, Sweep, blast, sweep_against};
use crate::common::{LONGEST, faulty, one, reference, scripted, served, settled, until};

#[test]
fn the_calls_of_a_blast_leave_a_connection_in_one_write() {
    let (sender, received) = mpsc::channel();
    let address = scripted::accept(move |_| {
        let sender = sender.clone();
        move |mut socket: TcpStream| {
            let mut settings = Vec::new();
            frame::write_settings(&mut settings, &[]);
            socket.write_all(&settings)?;
            let mut chunk = vec![0; 1 << 16];
            loop {
                let length = socket.read(&mut chunk)?;
                let bytes = &chunk[..length];
                let ends = frames(bytes.strip_prefix(frame::PREFACE).unwrap_or(bytes));
                if length == 0 || ends > 0 {
                    // Fails only if the test has given up.
                    let _ = sender.send(ends);
                    return Ok(());
                }
            }
        }
    });
    let flags = "--requests 100 --connections 1 --repetitions 1";
    let sweep = Sweep::of(&blast().flags(flags).run(address));
    assert_eq!(received.recv_timeout(LONGEST), Ok(100));
    sweep.fails("Unavailable", 100);
}

/// Whole frames that end a request.
fn frames(mut bytes: &[u8]) -> usize {
    let mut ends = 0;
    while let Some((header, rest)) = bytes.split_first_chunk::<{ frame::HEADER_LEN }>() {
        let header = FrameHeader::parse(header);
        let Some(rest) = rest.get(header.length as usize..) else {
            break;
        };
        ends += usize::from(header.kind == Kind::Data && header.has(flag::END_STREAM));
        bytes = rest;
    }
    ends
}

#[test]
fn a_servers_limit_of_streams_is_kept_and_told() {
    let server = served(|config| config.max_concurrent_streams = Some(3));
    let (sweep, counts) = sweep_against(&server, "--threads 2");
    assert_eq!((sweep.ok(), counts.calls_started), (CALLS, CALLS));
    sweep.warned_of("limit of 3 open streams per connection");
    assert_eq!(sweep.json["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn requests_beyond_the_servers_windows_wait_for_them() {
    let server = served(|config| config.window = 20);
    // A request takes 9 bytes, so those of a blast together exceed the initial 65,535 of a connection.
    let flags = "--requests 8000 --connections 1 --repetitions 3";
    let sweep = Sweep::of(&blast().flags(flags).run(&server));
    sweep.check();
    assert_eq!(sweep.ok(), 24_000);
}

#[test]
fn calls_that_wait_for_room_fail_with_their_connection() {
    for faults in [
        faulty(|faults| faults.goaway_after = one(10)),
        faulty(|faults| faults.close_every = one(10)),
    ] {
        let server = served(|config| {
            config.max_concurrent_streams = Some(3);
            config.faults = faults;
        });
        let flags = "--requests 200 --connections 1 --repetitions 4";
        let sweep = Sweep::of(&blast().flags(flags).run(&server));
        sweep.check();
        let counts = settled(&server);
        assert_eq!(sweep.ok(), counts.calls_ok);
        // The server has seen a few calls of each connection; the others were never sent.
        assert!(counts.calls_started <= 4 * 15, "{counts:?}");
        sweep.fails("Unavailable", 800 - sweep.ok());
        assert_eq!(sweep.json["reconnects"], 3);
    }
}

#[test]
fn calls_that_take_too_long_fail_and_the_next_blast_is_none_the_worse() {
    let server = reference(faulty(|faults| faults.delay = Duration::from_secs(3600)));
    let flags = "--requests 3,20 --connections 1,4 --repetitions 2 -t 50ms";
    let sweep = Sweep::of(&blast().flags(flags).run(&server));
    sweep.check();
    assert_eq!((sweep.exit, sweep.ok()), (1, 0));
    sweep.fails("DeadlineExceeded", 92);
    let counts = until(&server, |counts| counts.calls_reset == 92);
    assert_eq!(counts.connections, 5);
    assert_eq!(sweep.json["reconnects"], 0);
}

#[test]
fn a_latency_counts_from_when_the_call_was_due_also_if_it_had_to_wait_for_room() {
    let server = served(|config| {
        config.max_concurrent_streams = Some(1);
        config.faults = faulty(|faults| faults.delay = Duration::from_millis(20));
    });
    let flags = "--requests 5 --connections 1 --repetitions 1";
    let sweep = Sweep::of(&blast().flags(flags).run(&server));
    let latency = &sweep.point(1, 5)["latency_ns"];
    assert!(latency["min"].as_u64().unwrap() >= 20_000_000, "{latency}");
    assert!(latency["max"].as_u64().unwrap() >= 100_000_000, "{latency}");
}
