//! DATA frames are counted by frame, whatever part of which message is in them.

use volley::http2::frame::{FrameHeader, Kind, flag, write_data};
use volley::serve::Faults;

use crate::common::scripted::{self, Peer};
use crate::common::shape::UNARY;
use crate::common::{Volley, reference};

/// `result` = 42, as gRPC frames it.
const REPLY: [u8; 7] = [0, 0, 0, 0, 2, 8, 42];

/// Three replies in four frames with content, and two frames without any.
fn answer(peer: &mut Peer, stream: u32) {
    peer.begin(stream);
    let (head, rest) = REPLY.split_at(3);
    write_data(&mut peer.out, stream, head, false);
    write_data(&mut peer.out, stream, rest, false);
    write_data(&mut peer.out, stream, &[], false);
    let header = FrameHeader {
        length: 3,
        kind: Kind::Data,
        flags: flag::PADDED,
        stream,
    };
    header.write(&mut peer.out);
    peer.out.extend_from_slice(&[2, 0, 0]); // nothing but padding
    write_data(&mut peer.out, stream, &[REPLY, REPLY].concat()[..9], false);
    write_data(&mut peer.out, stream, &[REPLY, REPLY].concat()[9..], false);
    peer.headers(stream, &[("grpc-status", "0")], true);
}

#[test]
fn a_frame_counts_once_if_it_has_content() {
    let address = scripted::serve(|_| {
        scripted::on_data(|peer, stream| {
            answer(peer, stream);
            true
        })
    });
    let report = Volley::call("StreamSum")
        .data(r#"{"a": 40, "b": 2, "count": 3}"#)
        .flags("--expect-replies 3 -n 5 -c 2")
        .report(address);
    assert_eq!((report.all_ok(), report.messages()), (5, 15));
    assert_eq!(report.number("/data_frames"), 20);
}

#[test]
fn unary_replies_have_a_frame_each_and_those_of_the_warm_up_do_not_count() {
    let server = reference(Faults::default());
    let report = UNARY
        .checked("--warmup 200ms -n 500 -c 8 --connections 2 --threads 2")
        .report(&server);
    assert_eq!((report.all_ok(), report.messages()), (500, 500));
    assert_eq!(report.number("/data_frames"), 500);
}
