//! `--warmup`: the same load before the window, without any trace in the report.

use std::sync::mpsc;

use volley::http2::ErrorCode;
use volley::http2::frame::{write_rst_stream, write_window_update};
use volley::serve::Faults;

use crate::common::shape::{ALL, UNARY};
use crate::common::{LONGEST, Volley, reference, scripted, settled};

#[test]
fn n_calls_are_counted_beside_a_warm_up_of_many_more() {
    for shape in ALL {
        let server = reference(Faults::default());
        let report = shape
            .checked("--warmup 1s -n 50 -c 8 --connections 2 --threads 2")
            .report(&server);
        assert_eq!(report.all_ok(), 50, "{shape:?}");
        assert_eq!(
            (report.sent(), report.json["count"].as_u64()),
            (50, Some(50))
        );
        assert_eq!(report.number("/latency_ns/samples"), 50);
        assert!(report.own("/warmup/elapsed_s").as_f64() >= Some(1.0));
        assert!(settled(&server).calls_started > 50, "{shape:?}");
    }
}

#[test]
fn a_schedule_begins_anew_after_the_warm_up() {
    let server = reference(Faults::default());
    let report = UNARY
        .checked("--warmup 1s --rps 500 -z 400ms --duration-stop wait -c 20")
        .report(&server);
    assert_eq!(report.sent() + report.number("/missed"), 200);
    let intended = report.numbers("/series/intended");
    assert_eq!(intended.get(..4), Some(&[50; 4][..]), "{intended:?}");
    assert_eq!(intended.iter().sum::<u64>(), 200);
    let counts = settled(&server);
    // On a busy host, some of the 500 are not sent in time.
    let before = counts.calls_ok - report.sent();
    assert!((1..=500).contains(&before), "{before}");
}

#[test]
fn errors_of_the_warm_up_are_forgotten() {
    // The server fails its first calls, and says when it is past them.
    let (sender, warm) = mpsc::channel();
    let address = scripted::serve(move |_| {
        let (sender, mut calls) = (sender.clone(), 0);
        scripted::on_data(move |peer, stream| {
            calls += 1;
            if calls == 1 {
                // For as many calls as there will be.
                write_window_update(&mut peer.out, 0, 1 << 30);
            }
            match calls {
                ..10 => write_rst_stream(&mut peer.out, stream, ErrorCode::Cancel),
                _ => peer.answer(stream, &[]),
            }
            if calls == 30 {
                sender.send(()).unwrap();
            }
            true
        })
    });
    let mut running = UNARY
        .run("--open-on-stdin -z 1s --duration-stop wait -c 4 --connections 1")
        .start(address);
    warm.recv_timeout(LONGEST).unwrap();
    running.tell("\n");
    assert!(running.wait().report().all_ok() > 0);
}

#[test]
fn the_window_is_as_long_as_asked_beside_the_warm_up() {
    let server = reference(Faults::default());
    let report = UNARY
        .checked("--warmup 200ms -z 300ms -c 4")
        .report(&server);
    assert_eq!(report.json["total"], 300_000_000);
    assert_eq!(
        report.numbers("/series/ok").iter().sum::<u64>(),
        report.ok()
    );
    assert_eq!(report.numbers("/series/ok").len(), 3);
}

#[test]
fn the_last_messages_of_the_warm_ups_streams_are_not_counted() {
    // The streams are so long that some of the warm-up's are open when the window opens.
    let server = reference(Faults::default());
    let report = Volley::call("StreamSum")
        .data(r#"{"a": 1, "b": 2, "count": 100000}"#)
        .flags("--expect-replies 100000 --warmup 100ms -n 3 -c 8")
        .report(&server);
    assert_eq!(report.all_ok(), 3);
    assert_eq!(report.messages(), 300_000);
    assert_eq!(report.number("/first_message_ns/samples"), 3);
    assert_eq!(report.number("/gap_ns/samples"), 3 * 99_999);
}
