use std::io::Read;

use flate2::Compression;
use flate2::read::GzEncoder;

use super::super::Config;
use super::client::{prefixed, replies};
use super::{Client, Seen};
use volley_http::http2::frame::{write_data, write_ping};

#[test]
fn get_sum_is_answered_with_headers_reply_and_trailers() {
    let mut client = Client::new(&Config::default());
    client.call(1, "GetSum", 20, 22, 0);
    client.sees(&[Seen::response(1), Seen::reply(1, 42), Seen::ok(1)]);
}

#[test]
fn stream_sum_counts_upwards_one_frame_a_reply() {
    let mut client = Client::new(&Config::default());
    client.call(1, "StreamSum", 1, 2, 4);
    let expected = [
        Seen::response(1),
        Seen::reply(1, 3),
        Seen::reply(1, 4),
        Seen::reply(1, 5),
        Seen::reply(1, 6),
        Seen::ok(1),
    ];
    assert_eq!(client.see(), expected);
}

#[test]
fn a_stream_of_many_replies_wraps_around_and_loses_none() {
    let mut client = Client::new(&Config::default());
    client.open(1, "StreamSum");
    // a = 2³¹ − 1 − 5000, b = 0, count = 20,000
    client.messages(
        1,
        &[&[8, 0xf7, 0xd8, 0xff, 0xff, 0x07, 24, 0xa0, 0x9c, 1]],
        true,
    );
    let seen = client.see();
    let expected: Vec<i32> = (0..20_000)
        .map(|i| (i32::MAX - 5000).wrapping_add(i))
        .collect();
    assert_eq!(replies(&seen, 1), expected);
    assert_eq!(seen.len(), 20_002);
    client.counted(|it| [it.messages_sent, it.calls_ok], [20_000, 1]);
}

#[test]
fn collect_sum_adds_up_messages_cut_anywhere() {
    let mut client = Client::new(&Config::default());
    client.open(1, "CollectSum");
    let bytes = prefixed(&[&[8, 1, 16, 2], &[8, 30], &[], &[16, 9]]);
    for byte in &bytes {
        client.send(|out| write_data(out, 1, &[*byte], false));
    }
    assert_eq!(client.see(), []);
    client.messages(1, &[], true);
    client.sees(&[Seen::response(1), Seen::reply(1, 42), Seen::ok(1)]);
    assert_eq!(client.counts.messages_received, 4);
}

#[test]
fn echo_sum_answers_each_message_as_it_comes() {
    let mut client = Client::new(&Config::default());
    client.open(1, "EchoSum");
    client.messages(1, &[&[8, 1], &[8, 2]], false);
    client.sees(&[Seen::response(1), Seen::reply(1, 1), Seen::reply(1, 2)]);
    client.messages(1, &[&[8, 3]], false);
    assert_eq!(client.see(), [Seen::reply(1, 3)]);
    client.messages(1, &[], true);
    assert_eq!(client.see(), [Seen::ok(1)]);
}

#[test]
fn a_result_of_zero_is_an_empty_message() {
    let mut client = Client::new(&Config::default());
    client.call(1, "GetSum", 0, 0, 0);
    assert_eq!(client.see()[1], Seen::Data(1, vec![0; 5], false));
}

#[test]
fn calls_on_one_connection_take_turns() {
    let mut client = Client::new(&Config::default());
    for stream in [1, 3] {
        client.open(stream, "StreamSum");
        // count = 5000
        client.messages(stream, &[&[24, 0x88, 0x27]], true);
    }
    let seen = client.see();
    let end_of_1 = seen
        .iter()
        .position(|frame| *frame == Seen::ok(1))
        .expect("trailers");
    let start_of_3 = seen
        .iter()
        .position(|frame| *frame == Seen::response(3))
        .expect("headers");
    assert!(start_of_3 < end_of_1);
    assert_eq!(replies(&seen, 1), (0..5000).collect::<Vec<_>>());
    assert_eq!(replies(&seen, 3), (0..5000).collect::<Vec<_>>());
}

#[test]
fn a_ping_is_answered_with_its_own_bytes() {
    let mut client = Client::new(&Config::default());
    client.send(|out| write_ping(out, false, *b"whatever"));
    assert_eq!(client.see(), [Seen::Ping(true, *b"whatever")]);
}

#[test]
fn frames_may_come_one_byte_at_a_time() {
    let mut whole = Client::new(&Config::default());
    let mut bytes = Vec::new();
    write_ping(&mut bytes, false, *b"12345678");
    write_data(&mut bytes, 0, b"", false);
    for byte in &bytes[..17] {
        whole.send(|out| out.push(*byte));
    }
    assert_eq!(whole.see(), [Seen::Ping(true, *b"12345678")]);
}

#[test]
fn what_cannot_be_called_is_told_by_status() {
    let mut client = Client::new(&Config::default());
    client.open(1, "NoSum%");
    client.messages(1, &[], true);
    client.open(3, "GetSum");
    client.messages(3, &[&[8]], true);
    client.open(5, "GetSum");
    client.messages(5, &[], true);
    let trailers: Vec<String> = client
        .see()
        .into_iter()
        .map(|frame| match frame {
            Seen::Headers(_, fields, true) => fields[2..].join(", "),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        trailers,
        [
            "grpc-status: 12, grpc-message: unknown method `/benchmark.BenchmarkService/NoSum%25`",
            "grpc-status: 13, grpc-message: a request message is not valid protobuf",
            "grpc-status: 12, grpc-message: this method takes exactly one request message",
        ]
    );
    assert_eq!(client.counts.calls_failed, 3);
}

#[test]
fn a_message_that_ends_too_early_or_is_too_long_fails_the_call() {
    let mut client = Client::new(&Config::default());
    client.open(1, "CollectSum");
    client.send(|out| write_data(out, 1, &[0, 0, 0, 0, 9, 8], true));
    client.open(3, "CollectSum");
    client.send(|out| write_data(out, 3, &[0, 1, 0, 0, 0], false));
    let seen = client.see();
    let status = |frame: &Seen| match frame {
        Seen::Headers(_, fields, true) => fields[2].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(status(&seen[0]), "grpc-status: 13");
    assert_eq!(status(&seen[1]), "grpc-status: 8");
    // The request continues, but the rest is not needed.
    assert_eq!(
        seen[2],
        Seen::Reset(3, volley_http::http2::ErrorCode::NoError)
    );
}

#[test]
fn an_echo_that_fails_sends_the_replies_it_has_before_its_status() {
    let mut client = Client::new(&Config::default());
    client.open(1, "EchoSum");
    client.messages(1, &[&[8, 7], &[8]], true);
    let seen = client.see();
    assert_eq!(seen[..2], [Seen::response(1), Seen::reply(1, 7)]);
    let words = "grpc-message: a request message is not valid protobuf";
    assert_eq!(
        seen[2..],
        [Seen::Headers(
            1,
            vec!["grpc-status: 13".into(), words.into()],
            true
        )]
    );
}

#[test]
fn a_request_that_is_no_grpc_call_gets_an_http_status() {
    let mut client = Client::new(&Config::default());
    let path = (":path", "/benchmark.BenchmarkService/GetSum");
    let kind = ("content-type", "application/grpc");
    client.open_with(1, &[(":method", "GET"), path, kind]);
    client.open_with(
        3,
        &[(":method", "POST"), path, ("content-type", "text/html")],
    );
    client.open_with(5, &[(":method", "POST"), kind]);
    let statuses: Vec<Seen> = client
        .see()
        .into_iter()
        .filter(|seen| matches!(seen, Seen::Headers(..)))
        .collect();
    let status =
        |stream, status: &str| Seen::Headers(stream, vec![format!(":status: {status}")], true);
    assert_eq!(
        statuses,
        [status(1, "405"), status(3, "415"), status(5, "400")]
    );
}

#[test]
fn compressed_messages_are_taken_if_their_encoding_is_known() {
    let mut client = Client::new(&Config::default());
    let mut gzip = Vec::new();
    GzEncoder::new(&[8, 40, 16, 2][..], Compression::fast())
        .read_to_end(&mut gzip)
        .expect("bytes in memory");
    let mut framed = vec![1, 0, 0, 0, gzip.len() as u8];
    framed.extend_from_slice(&gzip);
    for (stream, encoding) in [(1, "gzip"), (3, "identity"), (5, "br")] {
        let fields = [
            (":method", "POST"),
            (":path", "/benchmark.BenchmarkService/GetSum"),
            ("content-type", "application/grpc"),
            ("grpc-encoding", encoding),
        ];
        client.open_with(stream, &fields);
        client.send(|out| write_data(out, stream, &framed, true));
    }
    let seen = client.see();
    assert_eq!(
        seen[..3],
        [Seen::response(1), Seen::reply(1, 42), Seen::ok(1)]
    );
    let status = |frame: &Seen| match frame {
        Seen::Headers(_, fields, true) => fields[2].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(status(&seen[3]), "grpc-status: 13");
    assert_eq!(status(&seen[4]), "grpc-status: 12");
}
