//! What is told of each second.

use super::super::bucket::bucket_of;
use super::*;

const S: u64 = SECOND_NS;

fn second(at: u64, is_warm_up: bool, latencies_ns: &[u64]) -> SecondCounts {
    let mut counts = SecondCounts {
        at,
        is_warm_up,
        ..SecondCounts::default()
    };
    for ns in latencies_ns {
        counts.latencies.push((bucket_of(*ns), 1));
        counts.max_ns = counts.max_ns.max(*ns);
        counts.bins[0].ok += 1;
        counts.bins[0].messages += 2;
    }
    counts
}

fn passed(seconds: Vec<SecondCounts>, is_open: bool, through: u64) -> Passed {
    Passed {
        seconds,
        is_open,
        through,
        ages: Vec::new(),
    }
}

fn with_ages(mut passed: Passed, ages: &[(u64, u64)]) -> Passed {
    passed.ages = ages.to_vec();
    passed
}

/// The percentiles of a second, and whether each is a lower bound.
fn figures(told: &Told) -> [Option<(u64, bool)>; 3] {
    let WithOpen { p50, p99, max } = told.with_open;
    [p50, p99, max].map(|found| found.map(|found| (found.ns, found.is_at_least)))
}

fn places(told: &[Told]) -> Vec<(bool, u64, u64)> {
    let place = |told: &Told| (told.is_warm_up, told.at, told.counts.ok);
    told.iter().map(place).collect()
}

fn samples(seconds: &[Second]) -> Vec<u64> {
    seconds.iter().map(|second| second.samples).collect()
}

#[test]
fn a_second_is_told_once_all_threads_have_passed_it() {
    let mut chronicle = Chronicle::new(2, 0, false);
    let first = chronicle.take(0, passed(vec![second(0, false, &[300; 3])], true, 2));
    assert_eq!(first, []);
    let told = chronicle.take(1, passed(vec![second(0, false, &[100; 3])], true, 1));
    assert_eq!(places(&told), [(false, 0, 6)]);
    let ended = |ns| Some((ns, false));
    assert_eq!(figures(&told[0]), [ended(100), ended(300), ended(300)]);
    let told = chronicle.take(1, passed(vec![second(1, false, &[7])], true, 3));
    assert_eq!(places(&told), [(false, 1, 1)]);
    let history = chronicle.finish(3 * S, 0, |_| 0);
    assert_eq!(history.warm_up, None);
    let bins = history.bins.clone();
    let seconds = history.into_seconds(3 * S);
    assert_eq!(samples(&seconds), [6, 1, 0]);
    let first = &seconds[0];
    assert_eq!((first.p50_ns, first.p99_ns, first.max_ns), (100, 300, 300));
    assert_eq!((bins.len(), bins[0].ok, bins[10].ok), (30, 6, 1));
}

#[test]
fn the_warm_ups_seconds_come_before_those_of_the_window() {
    let mut chronicle = Chronicle::new(2, 0, false);
    chronicle.take(0, passed(vec![second(0, true, &[1])], false, 1));
    let told = chronicle.take(1, passed(vec![second(0, true, &[1])], false, 1));
    assert_eq!(places(&told), [(true, 0, 2)]);
    // One thread is in the window already, the other one is not.
    let both = vec![second(1, true, &[1, 1]), second(0, false, &[1])];
    assert_eq!(chronicle.take(0, passed(both, true, 1)), []);
    let told = chronicle.take(1, passed(vec![second(1, true, &[1])], true, 1));
    assert_eq!(places(&told), [(true, 1, 3), (false, 0, 1)]);
    assert_eq!(chronicle.finish(S, 2 * S, |_| 0).warm_up, Some(vec![4, 6]));
}

#[test]
fn a_thread_that_is_over_holds_no_second_up() {
    let mut chronicle = Chronicle::new(2, 0, false);
    chronicle.take(0, passed(vec![second(0, false, &[1])], true, 1));
    chronicle.take(1, passed(Vec::new(), true, 1));
    let told = chronicle.take(1, passed(vec![second(1, false, &[1, 1])], true, 2));
    assert_eq!(told, []);
    let told = chronicle.leave(0, passed(Vec::new(), true, 2));
    assert_eq!(places(&told), [(false, 1, 2)]);
    let told = chronicle.take(1, passed(vec![second(2, false, &[1])], true, 3));
    assert_eq!(places(&told), [(false, 2, 1)]);
    assert_eq!(chronicle.leave(1, passed(Vec::new(), true, 3)), []);
}

#[test]
fn calls_that_are_open_move_the_figures_of_the_second_that_is_over() {
    let mut chronicle = Chronicle::new(2, 0, false);
    let (open, closed) = ([(50, 1), (900, 2)], [(900, 1)]);
    let first = passed(vec![second(0, false, &[100; 3])], true, 1);
    chronicle.take(0, with_ages(first, &open));
    let told = chronicle.take(1, with_ages(passed(Vec::new(), true, 1), &closed));
    let bound = Some((900, true));
    assert_eq!(figures(&told[0]), [Some((100, false)), bound, bound]);
    // By the next second, the calls have ended.
    let ended = passed(vec![second(1, false, &[1000; 4])], true, 2);
    chronicle.take(0, ended);
    let told = chronicle.take(1, passed(Vec::new(), true, 2));
    assert_eq!(figures(&told[0]), [Some((1000, false)); 3]);
}

#[test]
fn ages_belong_to_the_latest_of_several_seconds() {
    let mut chronicle = Chronicle::new(1, 0, false);
    let late = passed(vec![second(0, false, &[5])], true, 2);
    let told = chronicle.take(0, with_ages(late, &[(900, 1)]));
    assert_eq!(figures(&told[0]), [Some((5, false)); 3]);
    assert_eq!(figures(&told[1]), [Some((900, true)); 3]);
}

#[test]
fn the_calls_of_a_warm_up_are_not_open_in_the_window() {
    let mut chronicle = Chronicle::new(2, 0, false);
    let in_warm_up = || with_ages(passed(Vec::new(), false, 1), &[(900, 1)]);
    chronicle.take(0, in_warm_up());
    let told = chronicle.take(1, in_warm_up());
    assert_eq!(figures(&told[0]), [Some((900, true)); 3]);
    chronicle.leave(0, with_ages(passed(Vec::new(), false, 2), &[(900, 1)]));
    let told = chronicle.take(1, passed(Vec::new(), true, 1));
    assert_eq!(figures(&told[0]), [None; 3]);
}

#[test]
fn a_thread_that_is_over_has_no_open_calls_in_later_seconds() {
    let mut chronicle = Chronicle::new(2, 0, false);
    for thread in 0..2 {
        let first = passed(vec![second(0, false, &[5])], true, 1);
        chronicle.take(thread, with_ages(first, &[(700, 1)]));
    }
    // It is over in the next second, in which its call ends.
    chronicle.leave(0, passed(vec![second(1, false, &[800])], true, 2));
    let told = chronicle.take(1, with_ages(passed(Vec::new(), true, 2), &[]));
    assert_eq!(figures(&told[0]), [Some((800, false)); 3]);
    // The other one cuts a call at the end: it is open in the last second.
    let last = passed(vec![second(2, false, &[5])], true, 3);
    chronicle.leave(1, with_ages(last, &[(900, 1)]));
    let told = chronicle.end(2 * S + S / 2);
    assert_eq!(places(&told), [(false, 2, 1)]);
    let bound = Some((900, true));
    assert_eq!(figures(&told[0]), [Some((5, false)), bound, bound]);
}

#[test]
fn calls_that_were_cut_count_in_the_second_in_which_their_thread_was_over() {
    let mut chronicle = Chronicle::new(2, 0, false);
    let last = with_ages(passed(Vec::new(), true, 1), &[(900, 1)]);
    assert_eq!(chronicle.leave(0, last), []);
    let told = chronicle.take(1, passed(Vec::new(), true, 1));
    assert_eq!(figures(&told[0]), [Some((900, true)); 3]);
    let told = chronicle.take(1, passed(Vec::new(), true, 2));
    assert_eq!(figures(&told[0]), [None; 3]);
}

#[test]
fn the_end_tells_the_seconds_that_nobody_was_told_of() {
    let mut chronicle = Chronicle::new(2, 0, false);
    chronicle.take(0, passed(vec![second(0, false, &[1])], true, 1));
    let told = chronicle.take(1, passed(vec![second(0, true, &[1])], true, 1));
    assert_eq!(places(&told), [(true, 0, 1), (false, 0, 1)]);
    for thread in 0..2 {
        let last = passed(vec![second(1, false, &[1, 1])], true, 3);
        assert_eq!(chronicle.leave(thread, last), []);
    }
    let told = chronicle.end(2 * S + S / 2);
    assert_eq!(places(&told), [(false, 1, 4), (false, 2, 0)]);
    assert_eq!(chronicle.end(2 * S + S / 2), []);
    let seconds = chronicle.finish(3 * S, 0, |_| 0).into_seconds(3 * S);
    assert_eq!(samples(&seconds), [1, 4, 0]);
}

#[test]
fn seconds_that_were_never_passed_are_counted_at_the_end() {
    let mut chronicle = Chronicle::new(1, 0, false);
    chronicle.add(vec![second(0, false, &[5]), second(2, false, &[5, 5])]);
    let history = chronicle.finish(2 * S + 1, 0, |_| 0);
    let seconds = history.into_seconds(2 * S + 1);
    assert_eq!(samples(&seconds), [1, 0, 2]);
}

#[test]
fn a_second_far_beyond_a_day_takes_no_room() {
    let mut chronicle = Chronicle::new(1, 0, false);
    chronicle.add(vec![second(365 * 86_400, false, &[5])]);
    assert_eq!(chronicle.finish(S, 0, |_| 0).into_seconds(S).len(), 1);
}

#[test]
fn a_warm_up_of_more_than_two_hours_is_not_told() {
    let told = |warmup_ns| {
        let chronicle = Chronicle::new(1, 0, false);
        let warm_up = chronicle.finish(S, warmup_ns, |_| 0).warm_up;
        warm_up.map(|seconds| seconds.len())
    };
    assert_eq!([7200 * S, 7200 * S + 1].map(told), [Some(7200), None]);
}
