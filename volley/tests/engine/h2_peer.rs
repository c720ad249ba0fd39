//! volley against a server on the `h2` crate: an independent HTTP/2 implementation.

use std::net::SocketAddr;

use volley::protobuf::wire::encode_number;

use crate::common::Volley;
use crate::common::peer::{Does, peer};

/// Replies to a call of `StreamSum`; any other method has one.
const REPLIES: i32 = 3000;

/// A `SumReply`.
fn reply(sum: i32) -> Vec<u8> {
    let mut out = Vec::new();
    encode_number(1, sum, &mut out);
    out
}

#[test]
fn unary_calls_and_streams_of_the_h2_crate_are_read_to_the_last_message() {
    // As if a + b were 3, whatever was sent.
    let host = peer(|path, _, _| {
        let replies = if path.ends_with("/StreamSum") {
            REPLIES
        } else {
            1
        };
        Does::Replies((3..3 + replies).map(reply).collect())
    });
    let address: SocketAddr = host.parse().unwrap();
    let unary = Volley::call("GetSum")
        .data(r#"{"a": 1, "b": 2}"#)
        .expect("result = a + b")
        .flags("-n 300 -c 12 --connections 3")
        .report(address);
    assert_eq!(unary.all_ok(), 300);
    let streams = Volley::call("StreamSum")
        .data(r#"{"a": 1, "b": 2, "count": 3000}"#)
        .expect("result = a + b + i")
        .flags("--expect-replies 3000 -n 20 -c 6 --connections 2")
        .report(address);
    assert_eq!(streams.all_ok(), 20);
    assert_eq!(streams.messages(), 20 * REPLIES as u64);
}
