use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::super::config::Rules;
use super::super::protocol::Connection;
use super::super::{Config, Counts, Faults};

const NEW: &str = r#"{"sku":"s"}"#;

struct Client {
    server: Connection,
    counts: Counts,
    now_ns: u64,
}

impl Client {
    fn new(faults: Faults) -> Self {
        let config = Config {
            faults,
            ..Config::default()
        };
        Self {
            server: Connection::new(Arc::new(Rules::new(&config))),
            counts: Counts::default(),
            now_ns: 0,
        }
    }

    fn send(&mut self, bytes: &str) {
        self.server
            .receive(bytes.as_bytes(), self.now_ns, &mut self.counts);
    }

    /// What the server has to say now.
    fn see(&mut self) -> String {
        let mut seen = Vec::new();
        self.server.advance(self.now_ns, &mut self.counts);
        while self.server.has_output() {
            let n = self.server.output().len();
            seen.extend_from_slice(self.server.output());
            self.server.consume_output(n, self.now_ns, &mut self.counts);
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    fn ask(&mut self, bytes: &str) -> String {
        self.send(bytes);
        self.see()
    }
}

fn post(body: &str) -> String {
    let length = body.len();
    format!("POST /v1/items HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn location(answer: &str) -> &str {
    let (_, rest) = answer.split_once("location: ").expect("a location");
    rest.split("\r\n").next().expect("a line")
}

fn every(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

#[test]
fn a_connection_is_kept_from_creation_to_deletion() {
    let mut client = Client::new(Faults::default());
    let created = client.ask(&post(NEW));
    let url = location(&created).to_owned();
    let id = url.strip_prefix("/v1/items/").expect("an id");
    let expected = format!(
        "HTTP/1.1 201 Created\r\ncontent-length: 52\r\ncontent-type: application/json\r\n\
         location: {url}\r\n\r\n{{\"item\":{{\"id\":\"{id}\",\"sku\":\"s\",\"rev\":1}}}}"
    );
    assert_eq!(created, expected);
    let patch = format!(
        "PATCH {url} HTTP/1.1\r\nIf-Match: \"1\"\r\ntransfer-encoding: chunked\r\n\r\n\
         4\r\n1234\r\n5;x=y\r\n56789\r\n0\r\nTrailer: x\r\n\r\n"
    );
    assert_eq!(client.ask(&patch), "HTTP/1.1 204 No Content\r\n\r\n");
    assert!(client.ask(&patch).starts_with("HTTP/1.1 412 \r\n"));
    let delete = format!("DELETE http://a{url} HTTP/1.1\r\nconnection: Close\r\n\r\n");
    assert_eq!(
        client.ask(&delete),
        "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"
    );
    assert!(client.server.is_finished() && !client.server.is_cut());
    let counts = client.counts;
    assert_eq!((counts.calls_started, counts.calls_ok), (4, 3));
    // The check value of CRC-32.
    assert_eq!((counts.patch_hash, counts.live()), (0xcbf4_3926, 0));
}

#[test]
fn requests_sent_in_advance_are_answered_in_order() {
    let mut client = Client::new(Faults::default());
    let both = post(r#"{"sku":"a"}"#) + &post(r#"{"sku":"b"}"#);
    let seen = client.ask(&both);
    let (a, b) = (seen.find("\"a\""), seen.find("\"b\""));
    assert!(a.is_some() && a < b);
    assert_eq!(client.counts.created, 2);
}

proptest! {
    #[test]
    fn a_request_may_come_in_any_pieces(cuts in proptest::collection::vec(1_usize..40, 0..20)) {
        let mut client = Client::new(Faults::default());
        let chunked = "POST /v1/items HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                       b\r\n{\"sku\":\"s\"}\r\n0\r\n\r\n";
        let all = post(NEW) + chunked + &post(NEW);
        let mut rest = &all[..];
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            client.send(piece);
            rest = after;
        }
        client.send(rest);
        prop_assert_eq!(client.see().matches("HTTP/1.1 201").count(), 3);
        prop_assert_eq!(client.counts.calls_open(), 0);
    }

    #[test]
    fn whatever_comes_is_answered_or_awaited(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut client = Client::new(Faults::default());
        let at = usize::from(bytes.first().copied().unwrap_or(0)) % 60;
        client.send(&post("").as_str()[..at.min(post("").len())]);
        client.server.receive(&bytes, 0, &mut client.counts);
        client.see();
        prop_assert!(client.counts.calls_open() <= 1);
    }
}

#[test]
fn what_is_not_http_or_smuggles_ends_the_connection() {
    let twice = "content-length: 1\r\ncontent-length: 2\r\n";
    let both = "content-length: 1\r\ntransfer-encoding: chunked\r\n";
    let head = |fields| format!("POST /v1/items HTTP/1.1\r\n{fields}\r\n");
    for (bytes, status) in [
        ("garbage\r\n\r\n".to_owned(), "400"),
        (head(twice), "400"),
        (head(both), "400"),
        (head("content-length: +1\r\n"), "400"),
        (head("transfer-encoding: gzip\r\n"), "501"),
        (head("transfer-encoding: chunked\r\n") + "x\r\n", "400"),
        (head("transfer-encoding: chunked\r\n") + "1\r\nabc", "400"),
        (
            head("transfer-encoding: chunked\r\n") + &"0".repeat(300),
            "400",
        ),
        (
            format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(20_000)),
            "431",
        ),
        (head(&"a: b\r\n".repeat(65)), "431"),
    ] {
        let mut client = Client::new(Faults::default());
        let answer = client.ask(&bytes);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{bytes}: {answer}"
        );
        assert!(answer.contains("connection: close"));
        assert!(client.server.is_finished());
        client
            .counts
            .are(|it| [it.calls_failed, it.calls_open()], [1, 0]);
        client.send(&post(NEW));
        assert_eq!(client.see(), "", "nothing is served after it");
    }
}

#[test]
fn a_body_that_is_too_long_is_refused_before_its_end() {
    let mut client = Client::new(Faults::default());
    client.send("POST /v1/items HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n");
    client.send(&" ".repeat(64 << 10));
    assert_eq!(client.see(), "");
    let answer = client.ask(" ");
    assert!(
        answer.starts_with("HTTP/1.1 413 ") && client.server.is_finished(),
        "{answer}"
    );
}

#[test]
fn a_client_that_asks_first_is_told_to_go_on() {
    let mut client = Client::new(Faults::default());
    let head = "POST /v1/items HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    assert_eq!(client.ask(head), "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(client.ask("{}").starts_with("HTTP/1.1 201 "));
}

#[test]
fn a_late_answer_holds_up_those_behind_it() {
    let mut client = Client::new(Faults {
        delay: Duration::from_nanos(100),
        delay_every: every(2),
        ..Faults::default()
    });
    let three = post(NEW).repeat(3);
    let answers = |seen: String| seen.matches("HTTP/1.1 201").count();
    assert_eq!(answers(client.ask(&three)), 1);
    assert_eq!(client.server.next_due(), Some(100));
    client.now_ns = 100;
    assert_eq!(answers(client.see()), 2);
    assert_eq!(client.server.next_due(), None);
}

#[test]
fn faults_end_the_connection_as_they_do_over_http_2() {
    let faults = |change: fn(&mut Faults)| {
        let mut faults = Faults::default();
        change(&mut faults);
        let mut client = Client::new(faults);
        let seen = client.ask(&post(NEW).repeat(2));
        let Client {
            server, mut counts, ..
        } = client;
        let end = (server.is_finished(), server.is_cut());
        server.lost(&mut counts);
        assert_eq!(counts.calls_open(), 0);
        (seen, end, counts)
    };
    let (seen, end, counts) = faults(|faults| faults.reset_every = every(2));
    assert_eq!((seen.matches("201").count(), end), (1, (true, true)));
    assert_eq!((counts.calls_failed, counts.created), (1, 1));

    let (seen, end, _) = faults(|faults| faults.goaway_after = every(1));
    assert!(seen.contains("connection: close"));
    assert_eq!((seen.matches("201").count(), end), (1, (true, false)));

    let (seen, end, counts) = faults(|faults| faults.unanswered_every = every(1));
    assert_eq!((seen.as_str(), end), ("", (false, false)));
    assert_eq!((counts.calls_reset, counts.created), (1, 0));

    let (seen, end, counts) = faults(|faults| faults.truncate_every = every(1));
    let body = seen.split("\r\n\r\n").nth(1).expect("a body");
    assert_eq!((body.len(), end), (26, (true, true)));
    assert_eq!(counts.calls_failed, 1);

    let (seen, end, counts) = faults(|faults| faults.garbage_every = every(1));
    assert_eq!((seen.len(), end), ("\u{fffd}".len() * 64, (false, false)));
    assert_eq!(counts.calls_failed, 1);
}

#[test]
fn the_first_bytes_choose_the_version() {
    let mut client = Client::new(Faults::default());
    client.send("P");
    client.send("R");
    assert!(matches!(client.server, Connection::Unknown { .. }));
    client.send("I * HTTP/2.0\r\n");
    assert!(matches!(client.server, Connection::Http2(_)));
    for first in ["G", "PO", "PRX"] {
        let mut client = Client::new(Faults::default());
        client.send(first);
        assert!(matches!(client.server, Connection::Http1(_)), "{first}");
    }
}
