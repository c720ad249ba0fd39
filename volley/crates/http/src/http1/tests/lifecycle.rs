//! Responses as they should be, and what becomes of the connection.

use super::*;

#[test]
fn a_body_of_a_given_length_ends_the_response_and_the_connection_is_used_again() {
    let mut connection = connection();
    let mut recorder = Recorder::default();
    for turn in 0..3 {
        assert_eq!((connection.capacity(), connection.opened()), (1, turn));
        connection.open((), b"GET / HTTP/1.1\r\n\r\n", false);
        assert_eq!(connection.capacity(), 0);
        assert!(!connection.has_begun());
        assert_eq!(connection.output(), b"GET / HTTP/1.1\r\n\r\n");
        connection.consume_output(7);
        assert_eq!(connection.output(), b"TTP/1.1\r\n\r\n");
        connection.consume_output(11);
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello";
        assert_eq!(connection.receive(response, &mut recorder), Ok(()));
        let head = fields(
            &[(":status", "200"), ("content-length", "5"), ("x-a", "b")],
            false,
        );
        assert_eq!(recorder.events, [head, data("hello", true), ENDED]);
        recorder.events.clear();
    }
    assert!(connection.is_reusable());
}

#[test]
fn chunks_are_joined_and_their_extensions_and_case_do_not_matter() {
    let (connection, events) = answered(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n4;a=b\r\nrust\r\n0B\r\n, and bytes\r\n0\r\n\r\n",
        false,
    );
    let head = fields(
        &[(":status", "200"), ("transfer-encoding", "Chunked")],
        false,
    );
    assert_eq!(events, [head, data("rust, and bytes", true), ENDED]);
    assert_eq!(connection.capacity(), 1);
}

/// Whatever is sent, the response is the same, and so is what becomes of the connection.
#[track_caller]
fn reads_as_hello(bytes: &str, is_reusable: bool) {
    for size in [usize::MAX, 1] {
        let mut connection = connection();
        connection.open((), b"", false);
        let mut recorder = Recorder::default();
        for piece in bytes.as_bytes().chunks(size.min(bytes.len())) {
            assert_eq!(
                connection.receive(piece, &mut recorder),
                Ok(()),
                "{bytes:?}"
            );
        }
        if connection.is_busy() {
            assert_eq!(connection.end_of_stream(&mut recorder), Ok(()), "{bytes:?}");
        }
        let is_body = |event: &&Event| matches!(event, Event::Data(..));
        let body = recorder.events.iter().find(is_body);
        let is_hello = matches!(body, Some(Event::Data(body, _)) if body == b"hello");
        assert!(is_hello, "{bytes:?}: {:?}", recorder.events);
        assert_eq!(recorder.events.last(), Some(&ENDED), "{bytes:?}");
        assert_eq!(connection.is_reusable(), is_reusable, "{bytes:?}");
    }
}

#[test]
fn a_line_feed_alone_ends_a_line() {
    for bytes in [
        "HTTP/1.1 200 OK\ncontent-length: 5\n\nhello",
        "HTTP/1.1 200\ncontent-length: 5\r\n\nhello",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\n\r\nhello",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n0\n\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a\r\nhello\n0\na: b\r\n\n",
    ] {
        reads_as_hello(bytes, true);
    }
}

#[test]
fn blanks_and_repetitions_that_mean_nothing_are_taken() {
    for head in [
        "HTTP/1.1  200  OK\r\ncontent-length: 5",
        "HTTP/1.1 200 OK\r\ncontent-length : 5",
        "HTTP/1.1 200 OK\r\ncontent-length:\t5 ",
        "HTTP/1.1 200 OK\r\ncontent-length: 5, 5",
        "HTTP/1.1 200 OK\r\ncontent-length: 5,5 ,5\r\ncontent-length: 5",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\na: b\r\n\tc",
    ] {
        reads_as_hello(&format!("{head}\r\n\r\nhello"), true);
    }
    let chunks = "\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for (head, is_reusable) in [
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: identity, Chunked",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 7\r\ntransfer-encoding: chunked",
            false,
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 7",
            false,
        ),
        (
            "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked",
            false,
        ),
    ] {
        reads_as_hello(&format!("{head}{chunks}"), is_reusable);
    }
    reads_as_hello(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\n\r\nhello",
        false,
    );
}

#[test]
fn folded_lines_are_joined_by_a_blank() {
    let folded = "a: b \t\r\n \t c\r\n\td\r\nx:\r\n y\r\ne: f\r\n \r\n";
    let joined = [("a", "b c d"), ("x", "y"), ("e", "f")];
    let (_, events) = answered(&format!("HTTP/1.1 204 \r\n{folded}\r\n"), false);
    let head = [&[(":status", "204")][..], &joined].concat();
    assert_eq!(events, [fields(&head, true), ENDED]);
    let (_, events) = answered(
        &format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n{folded}\r\n"
        ),
        false,
    );
    assert_eq!(
        events[1..],
        [data("a", false), fields(&joined, true), ENDED]
    );
}

#[test]
fn the_number_of_fields_has_no_limit_but_their_size() {
    let many = (0..2000).map(|n| format!("n{n}: {n}\r\n"));
    let many: String = many.collect();
    let mut connection = Connection::new(&Config::default());
    let mut recorder = Recorder::default();
    for bytes in [
        format!("HTTP/1.1 204 \r\n{many}a: b\r\n c\r\n\r\n"),
        format!("HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n0\r\n{many}a: b c\r\n\r\n"),
    ] {
        connection.open((), b"", false);
        assert_eq!(connection.receive(bytes.as_bytes(), &mut recorder), Ok(()));
        let Some([Event::Fields(all, true), ENDED]) = recorder.events.last_chunk() else {
            panic!("{:?}", recorder.events)
        };
        let last = ("a".to_owned(), "b c".to_owned());
        assert!(all.len() > 2000 && all.contains(&last), "{}", all.len());
    }
}

#[test]
fn a_response_that_comes_before_its_request_is_written_counts_and_ends_the_connection() {
    let mut connection = connection();
    connection.open((), b"PUT / HTTP/1.1\r\ncontent-length: 9\r\n\r\n", false);
    connection.send(b"some");
    connection.consume_output(10);
    let mut recorder = Recorder::default();
    let response = "HTTP/1.1 413 \r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 \r\n";
    let taken = connection.receive(response.as_bytes(), &mut recorder);
    assert_eq!(taken, Ok(()));
    let head = fields(&[(":status", "413"), ("content-length", "0")], true);
    assert_eq!(recorder.events, [head, ENDED]);
    assert_eq!(
        (connection.capacity(), connection.is_reusable()),
        (0, false)
    );
    assert_eq!(connection.end_of_stream(&mut recorder), Ok(()));
}

#[test]
fn trailers_come_as_fields_that_end_the_response() {
    let (connection, events) = answered(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\nX-Sum: 8\r\n\r\n",
        false,
    );
    let trailers = fields(&[("x-sum", "7"), ("x-sum", "8")], true);
    assert_eq!(events[1..], [data("a", false), trailers, ENDED]);
    assert_eq!(connection.capacity(), 1);
}

#[test]
fn a_response_that_cannot_have_a_body_ends_with_its_head() {
    for (status, is_head_request) in [("204", false), ("304", false), ("200", true), ("404", true)]
    {
        for framing in [
            "",
            "content-length: 7\r\n",
            "transfer-encoding: chunked\r\n",
        ] {
            let response = format!("HTTP/1.1 {status} -\r\n{framing}\r\n");
            let (connection, events) = answered(&response, is_head_request);
            assert!(
                matches!(&events[..], [Event::Fields(_, true), ENDED]),
                "{response:?}"
            );
            assert_eq!(connection.capacity(), 1, "{response:?}");
        }
    }
    let (_, events) = answered("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", false);
    assert!(matches!(&events[..], [Event::Fields(_, true), ENDED]));
}

#[test]
fn interim_responses_are_skipped() {
    let (_, events) = answered(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 204 \r\n\r\n",
        false,
    );
    assert_eq!(events, [fields(&[(":status", "204")], true), ENDED]);
}

#[test]
fn the_same_head_after_an_interim_response_is_read_anew() {
    let mut connection = connection();
    let mut recorder = Recorder::default();
    let last = "HTTP/1.1 204 \r\na: b\r\n\r\n";
    for response in [
        last.to_owned(),
        format!("HTTP/1.1 103 -\r\nc: d\r\n\r\n{last}"),
    ] {
        connection.open((), b"", false);
        recorder.events.clear();
        assert_eq!(
            connection.receive(response.as_bytes(), &mut recorder),
            Ok(())
        );
        let head = fields(&[(":status", "204"), ("a", "b")], true);
        assert_eq!(recorder.events, [head, ENDED]);
    }
}

#[test]
fn a_head_that_repeats_means_what_the_request_makes_of_it() {
    let mut connection = connection();
    let mut recorder = Recorder::default();
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";
    for (is_head_request, body) in [(false, "ab"), (true, ""), (false, "cd")] {
        connection.open((), b"", is_head_request);
        recorder.events.clear();
        let response = format!("{head}{body}");
        assert_eq!(
            connection.receive(response.as_bytes(), &mut recorder),
            Ok(())
        );
        let length = recorder.events.iter().map(|event| match event {
            Event::Data(data, _) => data.len(),
            _ => 0,
        });
        assert_eq!(length.sum::<usize>(), body.len());
        assert_eq!(recorder.events.last(), Some(&ENDED));
    }
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let (mut connection, events) = answered("HTTP/1.1 200 OK\r\n\r\nabc", false);
    assert_eq!(events[1..], [data("abc", false)]);
    assert!(!connection.is_reusable());
    let mut recorder = Recorder::default();
    assert_eq!(connection.end_of_stream(&mut recorder), Ok(()));
    assert_eq!(recorder.events, [data("", true), ENDED]);
    assert_eq!((connection.capacity(), connection.take_call()), (0, None));
}

#[test]
fn the_connection_is_used_again_only_if_the_peer_keeps_it() {
    for (version, connection, is_kept) in [
        ("1.1", "", true),
        ("1.1", "connection: keep-alive\r\n", true),
        ("1.1", "connection: x, Close\r\n", false),
        (
            "1.1",
            "connection: keep-alive\r\nconnection: close\r\n",
            false,
        ),
        ("1.0", "", false),
        ("1.0", "connection: Keep-Alive\r\n", true),
        ("1.0", "connection: keep-alive, close\r\n", false),
    ] {
        let response = format!("HTTP/{version} 200 OK\r\n{connection}content-length: 0\r\n\r\n");
        let (connection, events) = answered(&response, false);
        assert_eq!(events.last(), Some(&ENDED));
        let capacity = usize::from(is_kept);
        assert_eq!(
            (connection.is_reusable(), connection.capacity()),
            (is_kept, capacity),
            "{response:?}"
        );
    }
}

#[test]
fn a_request_that_is_given_up_makes_the_connection_useless() {
    let mut connection = connection();
    connection.open((), b"", false);
    assert_eq!(connection.take_call(), Some(()));
    assert_eq!((connection.capacity(), connection.take_call()), (0, None));
    let mut recorder = Recorder {
        cancels: true,
        ..Recorder::default()
    };
    assert_eq!(connection.receive(b"anything", &mut recorder), Ok(()));
    assert_eq!(recorder.events, []);

    let mut connection = super::connection();
    connection.open((), b"", false);
    let response = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc";
    assert_eq!(connection.receive(response, &mut recorder), Ok(()));
    let cancelled = Event::Closed(Closed::Cancelled);
    assert_eq!(recorder.events[1..], [data("abc", false), cancelled]);
    assert_eq!(connection.receive(b"def", &mut recorder), Ok(()));
    assert_eq!((recorder.events.len(), connection.capacity()), (3, 0));
}

#[test]
fn a_body_is_sent_after_the_head_and_only_while_a_request_is_open() {
    let mut connection = connection();
    connection.send(b"nothing is open");
    connection.open((), b"head", false);
    connection.send(b"body");
    assert_eq!(connection.output(), b"headbody");
}

#[test]
fn a_head_that_begins_like_the_last_one_is_read_like_any_other() {
    let heads = [
        "HTTP/1.1 201 Created\r\nX-A: 1\r\ncontent-length: 0\r\nLocation: /1\r\n\r\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\ncontent-length: 0\r\nLocation: /2\r\n\r\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\n more\r\ncontent-length: 0\r\nLocation: /2\r\n\r\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\ncontent-length: 0\r\nLocation: /2\r\n\r\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\ncontent-length : 0\r\nX-B:2\n\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nX-A: 2\r\n\r\n",
        "HTTP/1.1 201 Created\r\nX-A: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    ];
    let mut connection = connection();
    for head in heads {
        connection.open((), b"", false);
        let mut recorder = Recorder::default();
        assert_eq!(connection.receive(head.as_bytes(), &mut recorder), Ok(()));
        let (alone, expected) = answered(head, false);
        assert_eq!(recorder.events, expected, "{head:?}");
        assert_eq!(connection.is_reusable(), alone.is_reusable(), "{head:?}");
    }
}
