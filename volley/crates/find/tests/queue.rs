//! The search in virtual time, against an M/M/c queue whose answer is known exactly.

use std::convert::Infallible;
use std::time::Duration;

use fastrand::Rng;
use volley_find::search::{Answer, Counts, LOWEST, OVER, Order, Why, search};

/// An M/M/c queue: Poisson arrivals, exponential service, c servers, first in, first out. Times in seconds.
#[derive(Clone, Copy)]
struct Queue {
    servers: u32,
    mean_s: f64,
    limit_s: f64,
}

const QUEUE: Queue = Queue {
    servers: 4,
    mean_s: 0.001,
    limit_s: 0.010,
};

impl Queue {
    /// The share of calls over the limit: Erlang's C for those that wait, whose wait is exponential (Kleinrock, Queueing
    /// Systems, volume 1, 1975, section 3.5).
    fn share(self, rate: f64) -> f64 {
        let (service, limit, servers) = (1.0 / self.mean_s, self.limit_s, f64::from(self.servers));
        let offered = rate / service;
        if offered >= servers {
            return 1.0;
        }
        let blocked = (1..=self.servers).fold(1.0, |blocked, n| {
            offered * blocked / (f64::from(n) + offered * blocked)
        });
        let waits = blocked / (1.0 - offered / servers * (1.0 - blocked));
        let spare = servers * service - rate;
        let alone = (-service * limit).exp();
        let after_a_wait = match (spare - service).abs() < 1e-6 * service {
            true => (1.0 + service * limit) * alone,
            false => (spare * alone - service * (-spare * limit).exp()) / (spare - service),
        };
        (1.0 - waits) * alone + waits * after_a_wait
    }

    /// The rate whose share is the target.
    fn truth(self) -> f64 {
        let (mut low, mut high) = (0.0, f64::from(self.servers) / self.mean_s);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            match self.share(middle) > OVER {
                true => high = middle,
                false => low = middle,
            }
        }
        low
    }

    /// A window that begins with an empty queue.
    fn window(self, order: &Order, random: &mut Rng) -> Counts {
        let mut exponential = |mean: f64| -mean * (1.0 - random.f64()).ln();
        let settle_s = order.settle.as_secs_f64();
        let end_s = settle_s + order.length.as_secs_f64();
        let mut free_s = vec![0.0_f64; self.servers as usize];
        let mut counts = Counts::default();
        let mut now_s = 0.0;
        loop {
            now_s += exponential(1.0 / f64::from(order.rate));
            if now_s >= end_s {
                return counts;
            }
            let first = free_s.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            *first = first.max(now_s) + exponential(self.mean_s);
            if now_s >= settle_s {
                counts.calls += 1;
                counts.over += u64::from(*first - now_s > self.limit_s);
            }
        }
    }

    fn search(self, seed: u64) -> Answer {
        let mut random = Rng::with_seed(seed);
        find(&mut |order| self.window(order, &mut random))
    }
}

const BUDGET: Duration = Duration::from_secs(60);

fn find(window: &mut dyn FnMut(&Order) -> Counts) -> Answer {
    let mut measure = |order: &Order| Ok::<_, Infallible>(Some(window(order)));
    let Ok((answer, _)) = search(0.001, BUDGET, &mut measure, &mut |_| {});
    answer
}

/// How many of so many searches' intervals hold the truth, and the median of half their widths, by the truth.
fn coverage(queue: Queue, seeds: u64) -> (u64, f64) {
    let truth = queue.truth();
    let (mut held, mut halves) = (0, Vec::new());
    for seed in 0..seeds {
        let Answer::Found { low, high, .. } = queue.search(seed) else {
            panic!("seed {seed} has found no rate");
        };
        held += u64::from(low <= truth && truth <= high);
        halves.push((high - low) / 2.0 / truth);
    }
    halves.sort_by(f64::total_cmp);
    (held, halves[halves.len() / 2])
}

#[test]
fn the_truth_is_erlangs() {
    let truth = QUEUE.truth();
    assert!((truth - 3500.9).abs() < 0.1, "{truth}");
    // Of one server, response times are exponential.
    let one = Queue {
        servers: 1,
        ..QUEUE
    };
    assert!((one.truth() - (1000.0 - 100_f64.ln() / 0.010)).abs() < 1e-6);
}

#[test]
fn most_intervals_hold_the_truth() {
    let (held, half) = coverage(QUEUE, 40);
    assert!(held >= 35, "{held} of 40");
    assert!(half <= 0.05, "{half}");
}

/// `cargo test --release -p volley-find --test queue -- --ignored --nocapture`
#[test]
#[ignore = "it takes minutes, and prints figures"]
fn of_a_thousand_intervals_95_percent_hold_the_truth() {
    let (held, half) = coverage(QUEUE, 1000);
    let truth = QUEUE.truth();
    println!(
        "{held} of 1,000 intervals hold {truth:.1}/s; half of the width: {:.2} %",
        100.0 * half
    );
    assert!((930..=970).contains(&held), "{held} of 1,000");
    assert!(half <= 0.05, "{half}");
}

#[test]
fn a_server_that_fails_at_once_is_below_the_lowest_rate() {
    let failing = |order: &Order| Counts {
        calls: u64::from(order.rate),
        failed: 1,
        ..Counts::default()
    };
    assert_eq!(find(&mut |order| failing(order)), Answer::Below(LOWEST));
}

#[test]
fn a_server_that_sheds_load_is_found_by_its_failed_calls() {
    // From 5,000/s on, what is too much fails at once.
    let sheds = |order: &Order| {
        let calls = (f64::from(order.rate) * order.length.as_secs_f64()) as u64;
        let share = 1.0 - (5000.0 / f64::from(order.rate)).min(1.0);
        Counts {
            calls,
            failed: (share * calls as f64) as u64,
            ..Counts::default()
        }
    };
    let Answer::Found { rate, low, high } = find(&mut |order| sheds(order)) else {
        panic!("nothing was found");
    };
    assert!((rate / 5000.0 - 1.0).abs() < 0.05, "{rate}");
    assert!(low <= rate && rate <= high && high < 6000.0, "{low} {high}");
}

#[test]
fn where_volley_is_late_first_there_is_no_upper_bound() {
    let late = |order: &Order| {
        let calls = u64::from(order.rate);
        let is_late = order.rate > 3000;
        Counts {
            calls,
            over: if is_late { calls / 2 } else { 0 },
            is_late,
            ..Counts::default()
        }
    };
    let Answer::AtLeast { rate, why } = find(&mut |order| late(order)) else {
        panic!("there is an upper bound");
    };
    assert_eq!(why, Why::Volley);
    assert!((2000.0..3300.0).contains(&rate), "{rate}");
}

#[test]
fn a_search_that_is_ended_says_what_it_knows() {
    let mut windows = 0;
    let mut measure = |order: &Order| {
        windows += 1;
        let calls = u64::from(order.rate);
        let counts = Counts {
            calls,
            ..Counts::default()
        };
        Ok::<_, Infallible>((windows <= 3).then_some(counts))
    };
    let Ok((answer, _)) = search(0.001, BUDGET, &mut measure, &mut |_| {});
    let why = Why::Unbroken;
    assert_eq!(answer, Answer::AtLeast { rate: 400.0, why });
}

#[test]
fn what_ends_a_search_early_leaves_what_is_known_and_a_slow_first_window_is_no_answer() {
    let slow = |order: &Order| Counts {
        calls: order.rate.into(),
        over: order.rate.into(),
        ..Counts::default()
    };
    let mut windows = 0;
    let mut measure = |order: &Order| {
        windows += 1;
        Ok::<_, Infallible>((windows <= 1).then(|| slow(order)))
    };
    let Ok((answer, _)) = search(0.001, BUDGET, &mut measure, &mut |_| {});
    assert_eq!(answer, Answer::Unknown);

    let fast = |order: &Order| Counts {
        calls: order.rate.into(),
        ..Counts::default()
    };
    let mut windows = 0;
    let mut measure = |order: &Order| {
        windows += 1;
        match windows {
            3 => Err("gone"),
            _ => Ok(Some(fast(order))),
        }
    };
    let (answer, error) = search(0.001, BUDGET, &mut measure, &mut |_| {}).unwrap();
    let why = Why::Unbroken;
    assert_eq!(answer, Answer::AtLeast { rate: 200.0, why });
    assert_eq!(error, Some("gone"));
    let mut measure = |_: &Order| Err::<Option<Counts>, _>("gone");
    assert_eq!(
        search(0.001, BUDGET, &mut measure, &mut |_| {}),
        Err("gone")
    );
}

#[test]
fn where_calls_waited_for_streams_more_connections_are_asked_for() {
    let full = |order: &Order| Counts {
        calls: order.rate.into(),
        over: if order.rate > 300 {
            order.rate.into()
        } else {
            0
        },
        is_late: order.rate > 300,
        is_full: order.rate > 300,
        ..Counts::default()
    };
    let Answer::AtLeast { why, .. } = find(&mut |order| full(order)) else {
        panic!("no bound");
    };
    assert_eq!(why, Why::Streams);
}
