//! Ctrl-C: the run ends with a report of what was counted.

use rustix::process::{Pid, Signal, kill_process};
use volley::serve::Faults;

use crate::common::shape::{SERVER_STREAM, UNARY};
use crate::common::{faulty, reference, settled, until};

pub fn interrupt(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Whether this process ignores SIGHUP, as under nohup: what it starts does too.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    ignored & 1 != 0
}

#[test]
fn an_interrupted_run_reports_what_it_counted_and_succeeds() {
    let hangup = Some(Signal::HUP).filter(|_| !hangups_are_ignored());
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hangup) {
        for shape in [UNARY, SERVER_STREAM] {
            let server = reference(Faults::default());
            let running = shape
                .checked("-z 10m -c 8 --connections 4 --threads 2")
                .start(&server);
            until(&server, |counts| counts.calls_ok > 100);
            interrupt(running.pid(), signal);
            let report = running.wait().report();
            assert_eq!((report.exit, report.failed()), (0, vec![]));
            assert_eq!(report.json["endReason"], "cancel");
            assert!(report.ok() > 0);
            assert_eq!(report.ok() + report.cut(), report.sent());
            assert!(settled(&server).calls_ok >= report.ok());
        }
    }
}

#[test]
fn a_run_interrupted_before_any_call_ended_fails() {
    let server = reference(faulty(|faults| {
        faults.delay = std::time::Duration::from_secs(3600)
    }));
    let running = UNARY.run("-n 10 -c 3").start(&server);
    until(&server, |counts| counts.calls_started == 3);
    interrupt(running.pid(), Signal::INT);
    let report = running.wait().report();
    assert_eq!((report.exit, report.ok(), report.cut()), (1, 0, 3));
}

#[test]
fn a_run_interrupted_in_its_warm_up_counts_nothing() {
    let server = reference(Faults::default());
    let running = UNARY.run("--warmup 10m -n 10 -c 3").start(&server);
    until(&server, |counts| counts.calls_ok > 100);
    interrupt(running.pid(), Signal::INT);
    assert_eq!(
        running.wait().error(),
        "interrupted before the window opened: nothing was measured"
    );
}

#[test]
fn an_interrupt_ends_the_wait_for_open_calls_too() {
    let server = reference(faulty(|faults| {
        faults.delay = std::time::Duration::from_secs(600)
    }));
    let running = UNARY
        .run("-z 1s --duration-stop wait --drain-timeout 10m -t 10m -c 3")
        .start(&server);
    until(&server, |counts| counts.calls_started == 3);
    // The window began before the calls did: a second later it is over, on a busy host too.
    std::thread::sleep(std::time::Duration::from_secs(1));
    interrupt(running.pid(), Signal::INT);
    assert_eq!(running.wait().report().cut(), 3);
}
