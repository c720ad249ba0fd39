//! REFUSED_STREAM: a call that the server never began is repeated, but not forever.

use volley::http2::ErrorCode;
use volley::http2::frame::{Kind, write_rst_stream};

use crate::common::scripted;
use crate::common::shape::UNARY;

#[test]
fn a_refused_call_is_made_again_and_counted_once() {
    let address = scripted::serve(|_| {
        let mut calls = 0;
        move |header, peer| {
            if header.kind == Kind::Data {
                calls += 1;
                if calls % 2 == 1 {
                    write_rst_stream(&mut peer.out, header.stream, ErrorCode::RefusedStream);
                } else {
                    peer.answer(header.stream, &[]);
                }
            }
            true
        }
    });
    let report = UNARY.run("-n 10 -c 1").report(address);
    assert_eq!(report.all_ok(), 10);
    assert_eq!((report.sent(), report.number("/retried")), (10, 10));
}

#[test]
fn a_server_that_refuses_every_call_fails_the_run_and_does_not_hang_it() {
    let address = scripted::serve(|_| {
        |header, peer| {
            if header.kind == Kind::Data {
                write_rst_stream(&mut peer.out, header.stream, ErrorCode::RefusedStream);
            }
            true
        }
    });
    let report = UNARY.run("-n 10 -c 2 -t 0s").report(address);
    assert_eq!(report.all_failed("Unavailable"), 10);
    assert!(
        report.errors()[0].0.contains("refused"),
        "{:?}",
        report.errors()
    );
}
