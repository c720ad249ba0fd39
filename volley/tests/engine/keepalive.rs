//! Silent connections: with `--keepalive`, or after a timeout, they get a PING.

use volley::http2::frame::{Kind, flag, write_ping};

use crate::common::scripted;
use crate::common::shape::UNARY;

#[test]
fn a_silent_connection_is_sent_a_ping() {
    // A call is answered only after a PING, so without one it times out.
    let address = scripted::serve(|_| {
        let mut waiting = Vec::new();
        move |header, peer| {
            match header.kind {
                Kind::Data => waiting.push(header.stream),
                Kind::Ping if !header.has(flag::ACK) => {
                    write_ping(&mut peer.out, true, [0; 8]);
                    for stream in waiting.drain(..) {
                        peer.answer(stream, &[]);
                    }
                }
                _ => {}
            }
            true
        }
    });
    let report = UNARY.run("-n 6 -c 2 --keepalive 50ms").report(address);
    assert_eq!(report.all_ok(), 6);
}

#[test]
fn no_ping_is_sent_to_a_server_that_answers() {
    let address = scripted::serve(|_| {
        |header, peer| {
            match header.kind {
                Kind::Data => peer.answer(header.stream, &[]),
                // If there ever is one, every call on it fails.
                Kind::Ping => return false,
                _ => {}
            }
            true
        }
    });
    let report = UNARY.run("-n 6 -c 1 --rps 10").report(address);
    assert_eq!((report.all_ok(), report.number("/reconnects")), (6, 0));
}

#[test]
fn a_connection_that_is_silent_after_a_timeout_is_replaced() {
    let report = UNARY
        .run("-n 20 -c 1 -t 200ms")
        .report(scripted::mute_first());
    let failed = report.failed_total();
    assert!(report.ok() > 0, "{:?}", report.failed());
    assert!(failed > 0 && report.ok() + failed == 20);
    assert_eq!(report.number("/reconnects"), 1);
}
