//! A server that stalls for a second: the wait of every call that was due is visible.
//!
//! In its own program: it measures time, and other tests would disturb it.

mod common;

use common::shape::UNARY;
use common::{freeze_of, reference, settled};
use volley::serve::Faults;

#[test]
fn calls_due_while_the_server_stood_still_are_timed_from_when_they_were_due() {
    let server = reference(Faults {
        freeze: freeze_of(2000, 1000),
        ..Faults::default()
    });
    let report = UNARY
        .checked()
        .flags("--rps 1000 -z 5s --duration-stop wait -c 50 --connections 4")
        .report(server.address());
    assert_eq!(report.sent() + report.number("/missed"), 5000);
    assert_eq!(report.all_ok(), report.sent());
    assert_eq!(settled(&server).calls_ok, 5000);
    assert_eq!(report.number("/missed"), 0);

    // Of 5,000 calls, 1,000 were due in the frozen second and waited 0.5 s on average. A busy host
    // adds to that.
    assert_eq!(report.own("/latency_ns/kind"), "response");
    let mean_ms = report.number("/latency_ns/mean") as f64 / 1e6;
    assert!((90.0..=150.0).contains(&mean_ms), "{mean_ms} ms");
    assert!(report.number("/latency_ns/p99") > 900_000_000);

    // Service time shows only fifty slow calls: that is what other generators report.
    assert_eq!(report.own("/service_latency_ns/kind"), "service");
    let service_ms = report.number("/service_latency_ns/mean") as f64 / 1e6;
    assert!(service_ms < mean_ms / 4.0, "{service_ms} ms");
    assert!(report.number("/service_latency_ns/max") > 900_000_000);
}
