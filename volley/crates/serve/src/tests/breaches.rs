use super::super::Config;
use super::{Client, Seen, config};
use proptest::prelude::*;
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{
    FrameHeader, Kind, PREFACE, flag, write_data, write_headers, write_ping, write_rst_stream,
    write_settings, write_window_update,
};

/// Sends bytes to a connection with stream 1 open; returns the code of its GOAWAY.
fn breach(write: impl FnOnce(&mut Vec<u8>)) -> Option<ErrorCode> {
    let mut client = Client::new(&Config::default());
    client.open(1, "EchoSum");
    client.see();
    client.send(write);
    let code = client.see().iter().find_map(|frame| match frame {
        Seen::GoAway(1, code, words) if !words.is_empty() => Some(*code),
        _ => None,
    });
    assert_eq!(client.server.is_finished(), code.is_some());
    code
}

fn frame(out: &mut Vec<u8>, kind: Kind, stream: u32, payload: &[u8]) {
    FrameHeader {
        length: payload.len() as u32,
        kind,
        flags: 0,
        stream,
    }
    .write(out);
    out.extend_from_slice(payload);
}

#[test]
fn what_ends_the_connection_is_named_by_its_code() {
    use ErrorCode::{CompressionError, FlowControlError, FrameSizeError, ProtocolError};
    assert_eq!(
        breach(|out| write_data(out, 3, b"", false)),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| write_data(out, 0, b"", false)),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| write_rst_stream(out, 5, ErrorCode::Cancel)),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| write_headers(out, 2, b"\x82", true, 99)),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| write_headers(out, 3, b"\xff\xff", true, 99)),
        Some(CompressionError)
    );
    assert_eq!(
        breach(|out| frame(out, Kind::PushPromise, 1, &[0; 4])),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| frame(out, Kind::Continuation, 1, &[])),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| frame(out, Kind::Ping, 0, &[0; 7])),
        Some(FrameSizeError)
    );
    assert_eq!(
        breach(|out| frame(out, Kind::RstStream, 1, &[0; 5])),
        Some(FrameSizeError)
    );
    assert_eq!(
        breach(|out| frame(out, Kind::WindowUpdate, 0, &[0; 4])),
        Some(ProtocolError)
    );
    assert_eq!(
        breach(|out| frame(out, Kind::Data, 1, &[0; 16_385])),
        Some(FrameSizeError)
    );
    assert_eq!(
        breach(|out| write_window_update(out, 0, (1 << 31) - 1)),
        Some(FlowControlError)
    );
    assert_eq!(
        breach(|out| write_settings(out, &[(4, 1 << 31)])),
        Some(FlowControlError)
    );
}

#[test]
fn what_is_harmless_is_ignored() {
    assert_eq!(breach(|out| frame(out, Kind::Unknown(77), 9, b"??")), None);
    assert_eq!(breach(|out| frame(out, Kind::Priority, 3, &[0; 5])), None);
    assert_eq!(breach(|out| frame(out, Kind::GoAway, 0, &[0; 8])), None);
}

#[test]
fn a_stream_error_resets_that_stream_alone() {
    let reset = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut client = Client::new(&Config::default());
        client.open(1, "EchoSum");
        client.open(3, "EchoSum");
        client.see();
        client.send(|out| write(out));
        let seen = client.see();
        client.messages(3, &[&[8, 1]], false);
        assert_eq!(client.see(), [Seen::response(3), Seen::reply(3, 1)]);
        seen
    };
    let of = |code| [Seen::Reset(1, code)];
    assert_eq!(
        reset(&|out| frame(out, Kind::WindowUpdate, 1, &[0; 4])),
        of(ErrorCode::ProtocolError)
    );
    assert_eq!(
        reset(&|out| write_window_update(out, 1, (1 << 31) - 1)),
        of(ErrorCode::FlowControlError)
    );
}

#[test]
fn a_client_that_overruns_its_window_is_reset() {
    let config = config(|config| config.window = 10);
    let mut client = Client::new(&config);
    client.open(1, "CollectSum");
    client.send(|out| write_data(out, 1, &[0; 11], false));
    assert_eq!(client.see(), [Seen::Reset(1, ErrorCode::FlowControlError)]);
}

#[test]
fn header_blocks_may_be_continued_but_not_interrupted() {
    let mut client = Client::new(&Config::default());
    let block = b"\x83\x04\x22/benchmark.BenchmarkService/GetSum\x0f\x10\x10application/grpc";
    client.send(|out| {
        write_headers(out, 1, block, false, 7);
        write_data(out, 1, &[0; 5], true);
    });
    assert_eq!(client.see()[2], Seen::ok(1));
    client.send(|out| {
        FrameHeader {
            length: 1,
            kind: Kind::Headers,
            flags: flag::END_STREAM,
            stream: 3,
        }
        .write(out);
        out.push(0x83);
        write_ping(out, false, [0; 8]);
    });
    assert!(matches!(
        client.see()[..],
        [Seen::GoAway(_, ErrorCode::ProtocolError, _)]
    ));
}

#[test]
fn a_header_block_without_end_is_too_much() {
    let mut client = Client::new(&Config::default());
    client.send(|out| {
        FrameHeader {
            length: 0,
            kind: Kind::Headers,
            flags: 0,
            stream: 1,
        }
        .write(out)
    });
    for _ in 0..9 {
        client.send(|out| frame(out, Kind::Continuation, 1, &[0; 16_384]));
    }
    assert!(matches!(
        client.see()[..],
        [Seen::GoAway(_, ErrorCode::EnhanceYourCalm, _)]
    ));
}

#[test]
fn what_is_not_http2_is_told_so() {
    let mut client = Client::silent(&Config::default());
    client.send(|out| out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"));
    assert!(matches!(
        client.see()[2],
        Seen::GoAway(0, ErrorCode::ProtocolError, _)
    ));
    let mut client = Client::silent(&Config::default());
    client.send(|out| {
        out.extend_from_slice(PREFACE);
        write_ping(out, false, [0; 8]);
    });
    assert!(matches!(
        client.see()[2],
        Seen::GoAway(0, ErrorCode::ProtocolError, _)
    ));
}

#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let mut client = Client::new(&Config::default());
    let mut pings = 0;
    while client.server.wants_input() {
        client.send(|out| write_ping(out, false, [0; 8]));
        pings += 1;
        assert!(pings < 100_000);
    }
    client.see();
    assert!(client.server.wants_input());
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_grow(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..20)) {
        let mut client = Client::new(&Config::default());
        client.open(1, "EchoSum");
        for chunk in &chunks {
            client.send(|out| out.extend_from_slice(chunk));
        }
        client.see();
        prop_assert_eq!(client.counts.calls_failed, 0);
    }

    #[test]
    fn frames_of_any_kind_leave_the_counts_in_balance(
        frames in prop::collection::vec((0u8..11, any::<u8>(), 0u32..8, prop::collection::vec(any::<u8>(), 0..20)), 0..30),
    ) {
        let mut client = Client::new(&Config::default());
        for (kind, flags, stream, payload) in &frames {
            client.send(|out| {
                let kind = Kind::from_u8(*kind);
                FrameHeader { length: payload.len() as u32, kind, flags: *flags, stream: *stream }.write(out);
                out.extend_from_slice(payload);
            });
            client.server.fill();
        }
        let n = client.server.output().len();
        client.server.consume_output(n, &mut client.counts);
        let Client { server, mut counts, .. } = client;
        server.lost(&mut counts);
        prop_assert_eq!(counts.calls_open(), 0);
    }
}
