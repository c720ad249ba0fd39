//! Runs that are known to differ, or not, and how often that is shown. All are seeded.

use fastrand::Rng;

use super::figures::{Estimate, Verdict, ratio};
use super::run::{Run, Slice};
use super::{Comparison, Condition};

const SECONDS: usize = 20;
const CALLS: u64 = 150;

/// How the seconds of a run scatter around their mean.
#[derive(Clone, Copy)]
struct Noise {
    /// From second to second, as a share.
    sd: f64,
    /// How much a second resembles the one before it.
    correlation: f64,
    /// The chance that a second is one of ten in which everything takes twice as long.
    stalls: f64,
}

const WHITE: Noise = Noise {
    sd: 0.05,
    correlation: 0.0,
    stalls: 0.0,
};
const CORRELATED: Noise = Noise {
    correlation: 0.5,
    ..WHITE
};
const STALLING: Noise = Noise {
    stalls: 0.05,
    ..WHITE
};

/// A standard normal number, near enough.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

/// A run in which everything takes `slow` times as long.
fn run(rng: &mut Rng, noise: Noise, slow: f64) -> Run {
    let mut level = normal(rng);
    let second = |_| {
        let next = normal(rng) * (1.0 - noise.correlation * noise.correlation).sqrt();
        level = level * noise.correlation + next;
        let stall = if rng.f64() < noise.stalls { 2.0 } else { 1.0 };
        let takes = slow * stall * (level * noise.sd).exp();
        let calls = (CALLS as f64 / takes).round() as u64;
        let latency = |_| {
            let ns = 1e6 * takes * (normal(rng) * 0.4).exp();
            (ns as u64 / 4000 * 4000 + 4000, 1)
        };
        let mut latencies: Vec<(u64, u64)> = (0..calls).map(latency).collect();
        latencies.sort_unstable();
        Slice {
            ok: calls,
            failed: 0,
            messages: calls,
            latencies,
        }
    };
    Run::of((0..SECONDS).map(second).collect())
}

const FIGURES: [&str; 4] = ["rate", "mean", "p50", "p90"];
const PAIRS: usize = 100;

/// For each figure, in how many of a hundred pairs the interval has the true ratio, and in how many it lacks 1.
fn shown(noise: Noise, slow: f64) -> [(&'static str, usize, usize); 4] {
    let mut rng = Rng::with_seed(24);
    let mut pair = || (run(&mut rng, noise, 1.0), run(&mut rng, noise, slow));
    let pairs: Vec<(Run, Run)> = (0..PAIRS).map(|_| pair()).collect();
    FIGURES.map(|name| {
        let truth = if name == "rate" { 1.0 / slow } else { slow };
        let estimate = |(old, new): &(Run, Run)| {
            let row = ratio(old, new, name.parse().unwrap()).unwrap();
            row.change.estimate.unwrap()
        };
        let estimates: Vec<Estimate> = pairs.iter().map(estimate).collect();
        let holds = |value: f64| {
            let holding = |of: &&Estimate| (of.low..=of.high).contains(&value);
            estimates.iter().filter(holding).count()
        };
        (name, holds(truth), PAIRS - holds(1.0))
    })
}

#[test]
fn equal_runs_seldom_differ() {
    for (noise, least) in [(WHITE, 94), (CORRELATED, 87), (STALLING, 92)] {
        let all = shown(noise, 1.0);
        let is_covered = all.iter().all(|(_, covered, _)| *covered >= least);
        assert!(is_covered, "{all:?}");
    }
}

#[test]
fn a_change_is_inside_its_interval_and_a_large_one_is_shown() {
    let all = shown(WHITE, 1.15);
    let mut each = all.iter();
    let is_shown = each.all(|(_, covered, shown)| *covered >= 94 && *shown >= 95);
    assert!(is_shown, "{all:?}");
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let mut rng = Rng::with_seed(1);
    let again = || run(&mut Rng::with_seed(7), STALLING, 1.0);
    let condition = |text: &str| text.parse::<Condition>().unwrap();
    let conditions = [
        "p99 ratio > 1",
        "rate ratio < 1",
        "mean ratio >= 1",
        "p50 > 1s",
    ]
    .map(condition);
    let comparison = Comparison::of(again(), again(), &conditions).unwrap();
    for row in comparison.rows.all() {
        let verdict = row.change.verdict();
        let shows_none = [Verdict::NoneShown, Verdict::TooLittle].contains(&verdict);
        let same = if row.name == "failed" { 0.0 } else { 1.0 };
        let is_same = |estimate: Estimate| (estimate.value - same).abs() < 1e-9;
        let is_same = row.change.estimate.is_none_or(is_same);
        assert!(shows_none && is_same, "{row:?}");
    }
    assert!(comparison.thresholds.iter().all(|judged| !judged.failed));
    let slower = run(&mut rng, WHITE, 1.5);
    let condition = [condition("p50 ratio > 1.2"), condition("p50 ratio > 1.6")];
    let comparison = Comparison::of(run(&mut rng, WHITE, 1.0), slower, &condition).unwrap();
    let headline = comparison.headline();
    let is_slower = headline.starts_with("slower: rate, mean, p50, p90");
    assert!(is_slower, "{headline}");
    let failed = comparison.thresholds.iter().map(|judged| judged.failed);
    assert_eq!(failed.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_run_of_four_seconds_shows_nothing() {
    let short = |slow| {
        let mut run = run(&mut Rng::with_seed(3), WHITE, slow);
        run.slices.truncate(4);
        run
    };
    let condition = "p50 ratio > 1.1".parse().unwrap();
    let comparison = Comparison::of(short(1.0), short(3.0), &[condition]).unwrap();
    let headline = comparison.headline();
    assert!(headline.starts_with("too little data"), "{headline}");
    let judged = &comparison.thresholds[0];
    assert!(judged.failed && judged.words.contains("too little data"));
}

#[test]
fn failures_that_come_and_go_are_shown_by_their_difference() {
    let failing = |every: u64| {
        let mut run = run(&mut Rng::with_seed(5), WHITE, 1.0);
        for (at, slice) in run.slices.iter_mut().enumerate() {
            let due = slice.ok.checked_div(every);
            slice.failed = due.map_or(0, |calls| calls + at as u64 % 3);
        }
        run
    };
    let verdict = |old, new| {
        let comparison = Comparison::of(old, new, &[]).unwrap();
        comparison.rows.failed.change.verdict()
    };
    assert_eq!(verdict(failing(0), failing(20)), Verdict::FailsMore);
    assert_eq!(verdict(failing(20), failing(0)), Verdict::FailsLess);
    assert_eq!(verdict(failing(0), failing(0)), Verdict::NoneShown);
    assert_eq!(verdict(failing(20), failing(20)), Verdict::NoneShown);
}
