//! How fast volley is where its tests do not look at the clock. Prints each figure beside its limit; see
//! scripts/bench_timing.sh.

#[path = "../tests/common/mod.rs"]
mod common;

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};
use volley::serve::{Config, Faults, Reference};

use common::http::ask;
use common::shape::UNARY;
use common::{Running, Scratch, Volley, freeze_of, monotonic_ns, reference};

/// Prints how fast volley is on a quiet host.
#[derive(Parser)]
struct Args {
    /// One JSON object.
    #[arg(long)]
    json: bool,
    /// How often each figure is taken; its median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// `cargo bench` gives it.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A figure, and its limit: `most`, or else the least.
struct Figure {
    what: &'static str,
    unit: &'static str,
    is_most: bool,
    limit: f64,
    take: fn() -> f64,
}

const FIGURES: [Figure; 8] = [
    Figure {
        what: "how late the last of four shares begins",
        unit: "ms",
        is_most: true,
        limit: 5.0,
        take: late_start,
    },
    Figure {
        what: "from a line on stdin to the opening of the window",
        unit: "ms",
        is_most: true,
        limit: 50.0,
        take: opening,
    },
    Figure {
        what: "from an order to the first call by it",
        unit: "ms",
        is_most: true,
        limit: 100.0,
        take: order_to_calls,
    },
    Figure {
        what: "from an order to the first iteration by it",
        unit: "ms",
        is_most: true,
        limit: 100.0,
        take: order_to_scenarios,
    },
    Figure {
        what: "p99 of the delay of sends, 1,000 calls a second",
        unit: "ms",
        is_most: true,
        limit: 1.0,
        take: send_delay,
    },
    Figure {
        what: "by how much the server's delay of 5.1 ms is longer, median",
        unit: "ms",
        is_most: true,
        limit: 0.5,
        take: late_answer,
    },
    Figure {
        what: "mean response, 1,000 calls a second, server frozen in 1 of 5 s (exact: 100)",
        unit: "ms",
        is_most: true,
        limit: 150.0,
        take: frozen,
    },
    Figure {
        what: "messages in 500 ms of a stream whose window holds one",
        unit: "",
        is_most: false,
        limit: 1500.0,
        take: window_by_window,
    },
];

fn main() {
    let args = Args::parse();
    let rows: Vec<(&Figure, f64)> = FIGURES
        .iter()
        .map(|figure| {
            eprintln!("{}", figure.what);
            let mut taken: Vec<f64> = (0..args.runs).map(|_| (figure.take)()).collect();
            taken.sort_by(f64::total_cmp);
            (figure, taken[taken.len() / 2])
        })
        .collect();
    if args.json {
        let row = |(figure, reached): &(&Figure, f64)| {
            let bound = if figure.is_most { "most" } else { "least" };
            json!({"what": figure.what, "unit": figure.unit, "reached": reached,
                bound: figure.limit, "met": is_met(figure, *reached)})
        };
        let figures: Vec<Value> = rows.iter().map(row).collect();
        println!("{:#}", json!({"runs": args.runs, "figures": figures}));
        return;
    }
    for (figure, reached) in rows {
        let bound = if figure.is_most {
            "at most"
        } else {
            "at least"
        };
        let verdict = if is_met(figure, reached) {
            "met"
        } else {
            "MISSED"
        };
        let Figure {
            what, unit, limit, ..
        } = figure;
        println!("{what:<76} {reached:>8.2} {unit:<2}  ({bound} {limit} {unit}) {verdict}");
    }
}

fn is_met(figure: &Figure, reached: f64) -> bool {
    match figure.is_most {
        true => reached <= figure.limit,
        false => reached >= figure.limit,
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn late_start() -> f64 {
    let server = reference(Faults::default());
    let start = |number| {
        let flags = "-z 200ms --rps 1000 -c 12 --connections 4 --start-at stdin --share";
        let run = UNARY.run(flags).arg(format!("{number}/4"));
        run.start(&server)
    };
    let mut shares: Vec<Running> = (1..=4).map(start).collect();
    for share in &shares {
        share.first_words();
    }
    let at_ns = monotonic_ns() + 100_000_000;
    for share in &mut shares {
        share.tell(&format!("{at_ns}\n"));
    }
    let late = shares.into_iter().map(|share| {
        let report = share.wait().report();
        report.number("/tally/run/late_ns")
    });
    ms(late.max().unwrap_or_default())
}

fn opening() -> f64 {
    let server = reference(Faults::default());
    let flags = "--open-on-stdin -z 200ms -c 8 --connections 4 --share 1/2";
    let mut running = UNARY.run(flags).start(&server);
    running.first_words();
    // The load goes on for a while.
    thread::sleep(Duration::from_millis(300));
    let told_ns = monotonic_ns();
    running.tell("open\n");
    let report = running.wait().report();
    ms(report.number("/tally/run/opened_monotonic_ns") - told_ns)
}

fn order_to_calls() -> f64 {
    let server = reference(Faults::default());
    let flags = "-z 10m -c 50 --connections 4 --rps 1000 --control 127.0.0.1:0";
    let running = UNARY.run(flags).start(&server);
    from_order(&running.control(), || server.counts().calls_started)
}

fn order_to_scenarios() -> f64 {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let text = format!(
        "targets: {{api: 'http://{}'}}
http: {{version: 2}}
scenarios: {{one: {{steps: [{{post: '${{api}}/v1/items', json: {{}}}}]}}}}
load: [{{rate: 1000/s, for: 10m}}]
",
        server.address()
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_volley"));
    command.args(["run", "-O", "json", "--control", "127.0.0.1:0"]);
    let running = Running::start(command.arg(scratch.write("one.yaml", &text)));
    from_order(&running.control(), || server.counts().created)
}

/// Pauses a load. How long it takes from the order to go on until the server counts more.
fn from_order(address: &str, counted: impl Fn() -> u64) -> f64 {
    let post = |path| assert_eq!(ask(address, "POST", path, &[], "").status, 200);
    while counted() == 0 {
        thread::yield_now();
    }
    post("/v1/pause");
    let mut before = 0;
    while before != counted() {
        before = counted();
        thread::sleep(Duration::from_millis(200));
    }
    let began = Instant::now();
    post("/v1/resume");
    while counted() == before {
        thread::yield_now();
    }
    began.elapsed().as_secs_f64() * 1e3
}

fn send_delay() -> f64 {
    let server = reference(Faults::default());
    let flags = "-z 2s --rps 1000 -c 50 --connections 4";
    let report = UNARY.run(flags).report(&server);
    ms(report.number("/send_delay_ns/p99"))
}

fn late_answer() -> f64 {
    let server = reference(Faults {
        delay: Duration::from_micros(5100),
        ..Faults::default()
    });
    let report = UNARY.run("-z 1s -c 1").report(&server);
    ms(report.number("/latency_ns/p50")) - 5.1
}

fn frozen() -> f64 {
    let server = reference(Faults {
        freeze: freeze_of(2000, 1000),
        ..Faults::default()
    });
    let flags = "--rps 1000 -z 5s --duration-stop wait -c 50 --connections 4";
    let report = UNARY.run(flags).report(&server);
    ms(report.number("/latency_ns/mean"))
}

fn window_by_window() -> f64 {
    let server = Reference::start(Config {
        window: 10,
        ..Config::default()
    });
    let server = server.unwrap();
    let report = Volley::call("CollectSum")
        .data(r#"{"a": 100000, "b": 1}"#)
        .flags("--stream-call-duration 500ms -n 1 -c 1")
        .report(&server);
    report.all_ok();
    server.counts().messages_received as f64
}
