//! A server that stalls: the wait of every call that was due is visible.

use volley::serve::Faults;

use crate::common::shape::UNARY;
use crate::common::{faulty, freeze_of, reference, settled, until};

#[test]
fn calls_due_while_the_server_stood_still_are_timed_from_when_they_were_due() {
    let server = reference(faulty(|faults| faults.freeze = freeze_of(500, 1000)));
    let report = UNARY
        .checked("--rps 500 -z 2500ms --duration-stop wait -c 50 --connections 4")
        .report(&server);
    let sent = report.all_ok();
    assert_eq!(sent + report.number("/missed"), 1250);
    assert_eq!(settled(&server).calls_ok, sent);

    // Of 1,250 calls, 500 were due in the frozen second, and waited for half of it on average. A busy host adds to that.
    assert_eq!(report.own("/latency_ns/kind"), "response");
    assert!(report.number("/latency_ns/mean") > 180_000_000);
    assert!(report.number("/latency_ns/p99") > 900_000_000);

    // Service time shows only fifty slow calls: that is what other generators report.
    assert_eq!(report.own("/service_latency_ns/kind"), "service");
    let p90 = |times: &str| report.number(&format!("/{times}/p90"));
    assert!(p90("latency_ns") > 2 * p90("service_latency_ns"));
    assert!(report.number("/service_latency_ns/max") > 900_000_000);
}

#[test]
fn a_server_that_stands_still_to_the_end_passes_no_condition_on_latency() {
    // With `-t`, calls end all the time: volley itself ends them.
    for (load, is_open) in [
        ("--rps 500 -c 2000", true),
        ("-c 8", false),
        ("-c 8 -t 300ms", false),
    ] {
        let server = reference(faulty(|faults| faults.freeze = freeze_of(500, 60_000)));
        let run = UNARY.run("-z 4s --connections 4").flags(load);
        let report = run.arg("--fail-if").arg("p99 > 50ms").report(&server);
        assert_eq!(report.exit, 99, "{load}");
        let verdict = report.own("/thresholds/0");
        let bounds = report.own("/latency_ns/at_least").as_array().unwrap();
        // A closed loop ends many calls before, and hides the rest.
        match is_open {
            true => assert!(bounds.contains(&"p99".into()), "{load}: {bounds:?}"),
            false => {
                let doubt = verdict["doubt"].as_str().unwrap();
                assert!(doubt.starts_with("no answer came from second "), "{doubt}");
            }
        }
        // What never ended is in no figure of ghz's.
        let timed_out = report.own("/calls/failed")["DeadlineExceeded"].as_u64();
        let cut = report.number("/calls/cut") + report.number("/missed");
        assert_eq!(
            report.number("/latency_ns/open"),
            cut + timed_out.unwrap_or_default()
        );
        let oldest = report.number("/latency_ns/oldest");
        let least = match timed_out {
            Some(_) => 290_000_000,
            None => 1_000_000_000,
        };
        assert!(oldest > least, "{oldest}");
        let silent_ns = report.number("/silence/lasted_ns");
        // A busy host reads late what came before.
        assert!(silent_ns >= 1_000_000_000, "{silent_ns}");
        assert!(report.json["slowest"].as_u64().unwrap() < oldest);
    }
}

#[test]
fn a_server_that_is_gone_passes_no_condition_on_latency() {
    let server = reference(Faults::default());
    let address = server.address();
    let stopper = std::thread::spawn(move || {
        until(&server, |counts| counts.calls_ok > 100);
        drop(server);
    });
    let flags = "-z 3s -c 8 --connections 4";
    let run = UNARY.run(flags).arg("--fail-if");
    let report = run.arg("p99 > 900ms").report(address);
    stopper.join().unwrap();
    let verdict = report.own("/thresholds/0");
    assert_eq!(
        (report.exit, &verdict["failed"]),
        (99, &true.into()),
        "{verdict}"
    );
    assert!(report.number("/silence/lasted_ns") > 1_000_000_000);
}
