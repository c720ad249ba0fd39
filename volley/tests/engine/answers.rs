//! Answers that break gRPC: each gives a failed call with a reason, and the connection stays open.

use volley::http2::ErrorCode;
use volley::http2::frame::{write_data, write_rst_stream};

use crate::common::scripted::{self, Peer};
use crate::common::shape::UNARY;
use crate::common::{Report, has};

/// `result` = 42, as protobuf.
const RIGHT: &[u8] = &[8, 42];

/// Twelve calls over one connection, each answered like this.
fn answered(answer: fn(&mut Peer, u32), flags: &str) -> Report {
    let address = scripted::serve(move |_| {
        scripted::on_data(move |peer, stream| {
            answer(peer, stream);
            true
        })
    });
    let report = UNARY
        .run("-n 12 -c 3 -t 10m")
        .expect("result = a + b")
        .flags(flags)
        .report(address);
    assert_eq!(report.number("/reconnects"), 0);
    report
}

#[track_caller]
fn all_failed(answer: fn(&mut Peer, u32), code: &str, words: &str) {
    let report = answered(answer, "");
    assert_eq!(report.all_failed(code), 12);
    let (text, count) = &report.errors()[0];
    assert!(text.contains(words) && *count == 12, "{text}");
}

#[test]
fn an_answer_as_it_should_be_is_taken() {
    let report = answered(|peer, stream| peer.answer(stream, RIGHT), "");
    assert_eq!(report.all_ok(), 12);
}

#[test]
fn blanks_around_values_and_the_case_of_types_change_nothing() {
    let report = answered(
        |peer, stream| {
            let kind = "Application/gRPC+Proto ; Charset=UTF-8 ";
            peer.headers(
                stream,
                &[
                    (":status", "200"),
                    ("content-type", kind),
                    ("grpc-encoding", " Identity"),
                ],
                false,
            );
            peer.message(stream, 0, RIGHT);
            peer.headers(stream, &[("grpc-status", "0 "), ("x", " y ")], true);
        },
        "",
    );
    assert_eq!(report.all_ok(), 12);
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        let status = [("grpc-status", "5 "), ("grpc-message", "not found ")];
        peer.headers(stream, &status, true);
    };
    all_failed(answer, "NotFound", "desc = not found");
}

#[test]
fn trailers_say_more_of_a_status_than_headers() {
    fn begin(peer: &mut Peer, stream: u32, end: bool) {
        let fields = [
            (":status", "200"),
            ("content-type", "application/grpc"),
            ("grpc-status", "5"),
            ("grpc-message", "early"),
        ];
        peer.headers(stream, &fields, end);
    }
    let report = answered(
        |peer, stream| {
            begin(peer, stream, false);
            peer.message(stream, 0, RIGHT);
            peer.headers(stream, &[("grpc-status", "0")], true);
        },
        "",
    );
    assert_eq!(report.all_ok(), 12);
    let answer = |peer: &mut Peer, stream| {
        begin(peer, stream, false);
        write_data(&mut peer.out, stream, b"", true);
    };
    all_failed(answer, "NotFound", "desc = early");
    all_failed(
        |peer, stream| begin(peer, stream, true),
        "NotFound",
        "desc = early",
    );
}

#[test]
fn frames_after_the_end_of_a_stream_lose_no_other_call() {
    let report = answered(
        |peer, stream| {
            peer.answer(stream, RIGHT);
            write_rst_stream(&mut peer.out, stream, ErrorCode::NoError);
            write_data(&mut peer.out, stream, b"more", false);
            peer.headers(stream, &[("grpc-status", "5")], true);
        },
        "",
    );
    assert_eq!(report.all_ok(), 12);
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        write_rst_stream(&mut peer.out, stream, ErrorCode::Cancel);
        write_data(&mut peer.out, stream, b"more", true);
    };
    all_failed(answer, "Canceled", "reset");
}

#[test]
fn an_http_error_is_the_status_that_grpc_has_for_it() {
    let answer = |peer: &mut Peer, stream| {
        peer.headers(
            stream,
            &[(":status", "503"), ("content-type", "text/plain")],
            false,
        );
        write_data(&mut peer.out, stream, b"busy", true);
    };
    all_failed(answer, "Unavailable", "HTTP status `503`");
}

#[test]
fn an_answer_that_ends_without_trailers_has_failed() {
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        peer.message(stream, 0, RIGHT);
        write_data(&mut peer.out, stream, b"", true);
    };
    all_failed(answer, "Internal", "without sending trailers");
}

#[test]
fn trailers_without_a_status_have_failed_the_call() {
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        peer.message(stream, 0, RIGHT);
        peer.headers(stream, &[("server", "x")], true);
    };
    all_failed(answer, "Unknown", "`grpc-status`");
}

#[test]
fn a_status_after_a_right_reply_fails_the_call_all_the_same() {
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        peer.message(stream, 0, RIGHT);
        peer.headers(
            stream,
            &[("grpc-status", "8"), ("grpc-message", "no%20more")],
            true,
        );
    };
    all_failed(answer, "ResourceExhausted", "desc = no more");
}

#[test]
fn a_reply_that_is_no_protobuf_has_failed_its_call() {
    let answer = |peer: &mut Peer, stream| peer.answer(stream, &[8]);
    all_failed(answer, "Internal", "reply 0");
}

#[test]
fn no_reply_and_two_replies_fail_a_call_that_has_one() {
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        peer.headers(stream, &[("grpc-status", "0")], true);
    };
    all_failed(answer, "DataLoss", "0 replies, expected 1");
    let answer = |peer: &mut Peer, stream| {
        peer.begin(stream);
        peer.message(stream, 0, RIGHT);
        peer.message(stream, 0, RIGHT);
        peer.headers(stream, &[("grpc-status", "0")], true);
    };
    all_failed(answer, "DataLoss", "2 replies, expected 1");
}

#[test]
fn a_reply_over_the_limit_fails_its_call_and_no_other() {
    let report = answered(
        |peer, stream| {
            if stream == 1 {
                peer.begin(stream);
                peer.message(stream, 0, &[0; 100]);
            } else {
                peer.answer(stream, RIGHT);
            }
        },
        "--max-recv-message-size 99",
    );
    assert_eq!(report.failed(), [("ResourceExhausted".to_owned(), 1)]);
    assert_eq!(report.ok(), 11);
    assert!(report.errors()[0].0.contains("`--max-recv-message-size`"));
}

const GZIP: Option<&str> = Some("gzip");

fn packed(reply: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(reply).unwrap();
    gzip.finish().unwrap()
}

/// An answer whose reply is marked as compressed, in such a response.
fn answer_marked(peer: &mut Peer, stream: u32, encoding: Option<&str>, reply: &[u8]) {
    let mut fields = vec![(":status", "200"), ("content-type", "application/grpc")];
    fields.extend(encoding.map(|encoding| ("grpc-encoding", encoding)));
    peer.headers(stream, &fields, false);
    peer.message(stream, 1, reply);
    peer.headers(stream, &[("grpc-status", "0")], true);
}

#[test]
fn a_compressed_reply_is_decompressed_checked_and_counted() {
    let right = |peer: &mut Peer, stream| answer_marked(peer, stream, GZIP, &packed(RIGHT));
    let report = answered(right, "");
    assert_eq!((report.all_ok(), report.messages()), (12, 12));
    let wire = packed(RIGHT).len() as u64;
    assert_eq!(report.number("/compressed/messages"), 12);
    assert_eq!(report.number("/compressed/wire_bytes"), 12 * wire);
    assert_eq!(report.number("/compressed/bytes"), 24);
    let wrong = |peer: &mut Peer, stream| answer_marked(peer, stream, GZIP, &packed(&[8, 43]));
    all_failed(wrong, "DataLoss", "`result` is 43, expected 42");
}

#[test]
fn a_compressed_reply_that_is_broken_or_a_bomb_fails_its_call() {
    let broken = |peer: &mut Peer, stream| answer_marked(peer, stream, GZIP, RIGHT);
    all_failed(broken, "Internal", "cannot be decompressed");
    let bomb =
        |peer: &mut Peer, stream| answer_marked(peer, stream, GZIP, &packed(&[0; 1_000_000]));
    let report = answered(bomb, "--max-recv-message-size 999999");
    assert_eq!(report.all_failed("ResourceExhausted"), 12);
    has(&report.errors()[0].0, "`--max-recv-message-size`");
}

#[test]
fn a_reply_that_is_compressed_in_another_way_fails_its_call() {
    let other = |peer: &mut Peer, stream| answer_marked(peer, stream, Some("br"), RIGHT);
    all_failed(other, "Unimplemented", "`grpc-encoding` is not gzip");
    let none = |peer: &mut Peer, stream| answer_marked(peer, stream, None, &packed(RIGHT));
    all_failed(none, "Internal", "no `grpc-encoding`");
}

#[test]
fn plain_and_compressed_replies_may_take_turns_on_a_connection() {
    let report = answered(
        |peer, stream| match stream % 4 {
            1 => peer.answer(stream, RIGHT),
            _ => answer_marked(peer, stream, GZIP, &packed(RIGHT)),
        },
        "",
    );
    assert_eq!((report.all_ok(), report.messages()), (12, 12));
    assert_eq!(report.number("/compressed/messages"), 6);
}

#[test]
fn replies_cut_anywhere_are_the_same_replies() {
    let report = answered(
        |peer, stream| {
            peer.begin(stream);
            for byte in [0, 0, 0, 0, 2, 8, 42] {
                write_data(&mut peer.out, stream, &[byte], false);
                write_data(&mut peer.out, stream, &[], false);
                // Each byte in its own packet, as far as the host allows.
                peer.send();
            }
            peer.headers(stream, &[("grpc-status", "0")], true);
        },
        "",
    );
    assert_eq!((report.all_ok(), report.messages()), (12, 12));
}

#[test]
fn a_good_status_before_the_replies_is_not_taken_for_the_end() {
    fn begin(peer: &mut Peer, stream: u32) {
        let fields = [
            (":status", "200"),
            ("content-type", "application/grpc"),
            ("grpc-status", "0"),
        ];
        peer.headers(stream, &fields, false);
    }
    let whole = |peer: &mut Peer, stream| {
        begin(peer, stream);
        peer.message(stream, 0, RIGHT);
        peer.headers(stream, &[("grpc-status", "0")], true);
    };
    let report = answered(whole, "");
    assert_eq!((report.all_ok(), report.messages()), (12, 12));
    let bare = |peer: &mut Peer, stream| {
        begin(peer, stream);
        write_data(&mut peer.out, stream, b"", true);
    };
    all_failed(bare, "Internal", "without sending trailers");
}
