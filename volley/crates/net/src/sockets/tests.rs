use std::net::TcpListener;

use super::*;
use volley_http::http2::{Config, Connection};

const MS: u64 = 1_000_000;

type Plain = Sockets<Connection<()>, ()>;

fn sockets() -> Plain {
    Sockets::new(Clock::start()).unwrap()
}

/// A connection that is ready, as far as it knows.
fn open(sockets: &mut Plain, listener: &TcpListener) -> usize {
    let route = Arc::new(Route::from(listener.local_addr().unwrap()));
    let http = Connection::new(&Config::default());
    let key = sockets.open(&route, None, http, (), 0).unwrap();
    sockets.wires[key].phase = Phase::Ready;
    key
}

#[test]
fn a_connection_that_is_still_to_be_read_is_read_once() {
    let mut sockets = sockets();
    for (key, to_end) in [(3, false), (1, false), (3, true), (1, false)] {
        sockets.leave_unread(key, to_end);
    }
    assert!(sockets.has_more());
    sockets.take_unread();
    let unread = sockets.unread.iter().rev();
    let unread: Vec<_> = unread.map(|one| (one.key, one.to_end)).collect();
    assert_eq!(unread, [(1, false), (3, true)]);
    assert!(!sockets.has_more());
}

#[test]
fn what_is_known_of_a_connection_goes_with_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = sockets();
    let key = open(&mut sockets, &listener);
    sockets.leave_unread(key, true);
    sockets.broken.push((key, Lost::Mute));
    sockets.ask(key, 1, 2);
    sockets.ready.push(Ready {
        key,
        is_writable: true,
        is_readable: true,
        to_end: true,
    });
    sockets.remove(key).unwrap();
    assert_eq!(open(&mut sockets, &listener), key);
    assert!(sockets.next_event().is_none() && !sockets.has_more());
    assert!(!sockets.wires[key].is_ending);
}

#[test]
fn a_silent_connection_is_asked_twice_and_lost_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = sockets();
    let key = open(&mut sockets, &listener);
    let now_ns = sockets.clock.now_ns();
    let wire = &mut sockets.wires[key];
    wire.heard_ns = now_ns + 2;
    sockets.overdue(key, now_ns + 1, now_ns + 3);
    assert!(!sockets.wires[key].is_doubted, "it has brought something");

    for pings in 1..4 {
        sockets.overdue(key, now_ns + 2, now_ns + 3);
        assert_eq!(sockets.wires[key].is_doubted, pings <= 2);
        sockets.wires[key].heard_ns += 10;
        assert!(sockets.next_event().is_none());
        assert!(!sockets.wires[key].is_doubted);
        sockets.wires[key].heard_ns = now_ns + 2;
    }
    sockets.ask(key, now_ns + 3, now_ns + 4);
    let lost = sockets.next_event();
    assert!(
        matches!(
            lost,
            Some(Event::Ended {
                lost: Some(Lost::Mute),
                ..
            })
        ),
        "{lost:?}"
    );
    assert!(sockets.next_event().is_none());
}

#[test]
fn bunched_wake_ups_do_not_pass_over_an_edge() {
    let mut sockets = sockets();
    sockets.coalesce_ns = 3_600_000 * MS;
    sockets.looked_ns = sockets.clock.now_ns();
    assert!(sockets.rest_ns() > 3_599_000 * MS);
    sockets.edge_ns = sockets.looked_ns;
    assert_eq!(sockets.rest_ns(), 0);
}
