//! REFUSED_STREAM: a call that the server never began is repeated, but not forever.

use volley::http2::ErrorCode;
use volley::http2::frame::write_rst_stream;

use crate::common::shape::UNARY;
use crate::common::{has, scripted};

#[test]
fn a_refused_call_is_made_again_and_counted_once() {
    let address = scripted::serve(|_| {
        let mut calls = 0;
        scripted::on_data(move |peer, stream| {
            calls += 1;
            if calls % 2 == 1 {
                write_rst_stream(&mut peer.out, stream, ErrorCode::RefusedStream);
            } else {
                peer.answer(stream, &[]);
            }
            true
        })
    });
    let report = UNARY.run("-n 10 -c 1").report(address);
    assert_eq!(report.all_ok(), 10);
    assert_eq!((report.sent(), report.number("/retried")), (10, 10));
    // No streams were to live.
    assert!(report.json["volley"]["paced_streams"].is_null());
}

#[test]
fn a_server_that_refuses_every_call_fails_the_run_and_does_not_hang_it() {
    let address = scripted::serve(|_| {
        scripted::on_data(|peer, stream| {
            write_rst_stream(&mut peer.out, stream, ErrorCode::RefusedStream);
            true
        })
    });
    let report = UNARY.run("-n 10 -c 2 -t 0s").report(address);
    assert_eq!(report.all_failed("Unavailable"), 10);
    has(&report.errors()[0].0, "refused");
}
