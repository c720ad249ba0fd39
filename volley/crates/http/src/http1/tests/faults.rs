//! What is refused: whatever is broken, and whatever another recipient could read differently.

use volley_testkit::table::words;

use super::*;

fn head_with(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
}

fn chunked(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}")
}

#[test]
fn another_protocol_is_recognized_by_its_first_bytes() {
    for bytes in [
        "\0\0\0\u{4}",
        "SSH-2.0",
        "HTTP/2",
        "HTTP/1 ",
        "\r\nHTTP/1.1",
        "http/1.1",
        "<html>",
    ] {
        assert_eq!(refused(bytes), Some(Violation::NotHttp1), "{bytes:?}");
    }
    assert_eq!(refused("HTTP/"), None);
}

#[test]
fn a_head_that_breaks_a_rule_is_refused() {
    for head in [
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/1.1 200 O\rK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n a: folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\r\n folded\0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\r\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\0c\r\n\r\n",
    ] {
        let violation = refused(head);
        assert!(
            matches!(violation, Some(Violation::Head(_) | Violation::Reason)),
            "{head:?}: {violation:?}"
        );
    }
}

#[test]
fn two_ways_to_frame_a_body_are_refused() {
    let control = Violation::Head(httparse::Error::HeaderValue);
    for (expected, all) in [
        (
            Violation::TwoLengths,
            "content-length: 5\r\nContent-Length: 6",
        ),
        (
            Violation::Length,
            "content-length: 5, 6|content-length: 5,|content-length: +5|content-length: 0x5|content-length: -1|\
             content-length:|content-length: 18446744073709551616",
        ),
        (
            Violation::Coding,
            "transfer-encoding: gzip, chunked|transfer-encoding: chunked, identity|transfer-encoding: xchunked|\
             transfer-encoding: chunked\r\ntransfer-encoding: chunked",
        ),
        (control, "transfer-encoding: \u{b}chunked"),
    ] {
        for fields in words(all) {
            let head = head_with(&format!("{fields}\r\n"));
            assert_eq!(refused(&head).as_ref(), Some(&expected), "{fields:?}");
        }
    }
    let twice = "content-length: 0\r\ncontent-length: 0\r\n";
    assert_eq!(refused(&head_with(twice)), None);
}

#[test]
fn what_is_wrong_with_a_head_is_said_in_words() {
    for (head, words) in [
        (
            "HTTP/1.1 200 O\u{1}K\r\n\r\n",
            "whose reason phrase, behind the status, has a control character",
        ),
        (
            "HTTP/1.1 2x0 OK\r\n\r\n",
            "cannot be read: its status is not a number from 100 to 999",
        ),
        (
            "HTTP/1.1 099 OK\r\n\r\n",
            "cannot be read: its status is not a number from 100 to 999",
        ),
        (
            "HTTP/1.7 200 OK\r\n\r\n",
            "cannot be read: it is neither of HTTP/1.0 nor of HTTP/1.1",
        ),
        (
            "HTTP/1.1 200 OK\r\na@b: c\r\n\r\n",
            "cannot be read: the name of a field is empty, or has a character that no name has, such as a blank in front of its colon",
        ),
        (
            "HTTP/1.1 200 OK\r\na: \u{1}\r\n\r\n",
            "cannot be read: the value of a field has a control character",
        ),
    ] {
        let said = refused(head).unwrap().to_string();
        assert_eq!(
            said,
            format!(
                "peer sent a response head {}{words}",
                if words.starts_with("whose") {
                    ""
                } else {
                    "that "
                }
            )
        );
    }
}

#[test]
fn broken_chunks_are_refused() {
    let limit = 1024;
    let long = "1".repeat(limit);
    let extension = format!("1;{long}");
    for (body, expected) in [
        ("hello", None),
        ("5x\r\n", Some(Violation::ChunkSize)),
        ("\r\n", Some(Violation::ChunkSize)),
        ("11111111111111111\r\n", Some(Violation::ChunkSize)),
        ("5\r\nhello!!", Some(Violation::ChunkEnd)),
        ("5\r\nhello\r\r", Some(Violation::ChunkEnd)),
        ("5\r\nhello!\n", Some(Violation::ChunkEnd)),
        ("5\r\nhello5", None),
        ("5\r\nhello55", Some(Violation::ChunkEnd)),
        (&long, Some(Violation::ChunkLineTooLong { limit })),
        (&extension, Some(Violation::ChunkLineTooLong { limit })),
        (
            "0\r\na\r\n\r\n",
            Some(Violation::Trailers(httparse::Error::HeaderName)),
        ),
        (
            "0\r\n b: c\r\n\r\n",
            Some(Violation::Trailers(httparse::Error::HeaderName)),
        ),
    ] {
        assert_eq!(refused(&chunked(body)), expected, "{body:?}");
    }
}

#[test]
fn heads_and_trailers_have_limits() {
    let limit = 1000;
    let field = |length: usize| format!("a: {}\r\n", "b".repeat(length - 5));
    let rest = limit - head_with("").len();
    let fits = head_with(&field(rest));
    assert_eq!((fits.len(), refused(&fits)), (limit, None));
    let too_large = Some(Violation::HeadTooLarge { limit });
    assert_eq!(refused(&head_with(&field(rest + 1))), too_large);
    assert_eq!(
        refused(&format!("HTTP/1.1 200 {}", "O".repeat(limit))),
        too_large
    );
    let trailers = |length| chunked(&format!("0\r\n{}\r\n", field(length)));
    assert_eq!(refused(&trailers(limit - 2)), None);
    let too_large = Some(Violation::TrailersTooLarge { limit });
    assert_eq!(refused(&trailers(limit - 1)), too_large);
}

#[test]
fn bytes_that_no_request_asked_for_are_refused() {
    let response = head_with("content-length: 0\r\n");
    let twice = response.repeat(2);
    assert_eq!(refused(&twice), Some(Violation::Unasked));
    assert_eq!(
        refused(&format!("{response}\r\n")),
        Some(Violation::Unasked)
    );
    let mut fresh = connection();
    let mut recorder = Recorder::default();
    let unasked = Err(Violation::Unasked);
    assert_eq!(fresh.receive(response.as_bytes(), &mut recorder), unasked);
    assert_eq!(fresh.receive(b"", &mut recorder), unasked);
    assert_eq!(fresh.end_of_stream(&mut recorder), unasked);
    assert_eq!((fresh.capacity(), recorder.events.len()), (0, 0));
}

#[test]
fn nobody_asked_for_another_protocol() {
    let head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n";
    assert_eq!(refused(head), Some(Violation::SwitchedProtocols));
}

#[test]
fn a_response_that_is_cut_is_no_response() {
    for (bytes, expected) in [
        ("", Violation::ClosedBefore),
        ("H", Violation::ClosedInHead),
        ("HTTP/1.1 100 Continue\r\n\r\n", Violation::ClosedInHead),
        (&head_with("content-length: 2\r\n"), Violation::ClosedInBody),
        (
            &format!("{}a", head_with("content-length: 2\r\n")),
            Violation::ClosedInBody,
        ),
        (&chunked(""), Violation::ClosedInBody),
        (&chunked("5\r\nhello\r\n"), Violation::ClosedInBody),
        (&chunked("0\r\n"), Violation::ClosedInBody),
    ] {
        let (mut connection, _) = answered(bytes, false);
        let mut recorder = Recorder::default();
        let closed = connection.end_of_stream(&mut recorder);
        assert_eq!(
            (closed, recorder.events.len()),
            (Err(expected), 0),
            "{bytes:?}"
        );
        assert_eq!(connection.has_begun(), expected != Violation::ClosedBefore);
        assert_eq!(
            (connection.capacity(), connection.take_call()),
            (0, Some(()))
        );
    }
    let mut idle = connection();
    assert_eq!(idle.end_of_stream(&mut Recorder::default()), Ok(()));
    assert_eq!(idle.capacity(), 0);
}
