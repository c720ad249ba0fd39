//! All latencies in one table, one row each.

use volley_base::units::numbers::{Unit, at_least, grouped};

use super::figure::Table;
use crate::measure::{Latency, Percentile};
use crate::report::model::Report;

/// A column's name, and its value for a latency.
type Figure = (&'static str, fn(&Latency) -> Option<Percentile>);

const FIGURES: [Figure; 10] = [
    ("Mean", Latency::mean),
    ("Least", least),
    ("p50", |latency| latency.at(500_000)),
    ("p75", |latency| latency.at(750_000)),
    ("p90", |latency| latency.at(900_000)),
    ("p95", |latency| latency.at(950_000)),
    ("p99", |latency| latency.at(990_000)),
    ("p99.9", |latency| latency.at(999_000)),
    ("p99.99", |latency| latency.at(999_900)),
    ("Greatest", Latency::longest),
];

/// Of what ended.
fn least(latency: &Latency) -> Option<Percentile> {
    let exact = Percentile {
        rank_ppm: 0,
        ns: latency.min_ns,
        is_at_least: false,
    };
    (latency.samples > 0).then_some(exact)
}

pub fn section(report: &Report) -> String {
    let main = [Some(&report.latency), report.service_latency.as_ref()];
    let main = main.into_iter().flatten();
    let others = [
        ("First message", &report.first_message),
        ("Message gap", &report.gap),
    ];
    let others = others.into_iter();
    let mut columns: Vec<(&str, &Latency)> = main
        .map(|latency| (latency.kind.title(), latency))
        .chain(others.filter_map(|(name, latency)| Some((name, latency.as_ref()?))))
        .collect();
    columns.retain(|(_, latency)| !latency.is_empty());
    if columns.is_empty() {
        return String::new();
    }
    let units: Vec<Unit> = columns.iter().map(|(_, latency)| unit(latency)).collect();
    let columns = || columns.iter().zip(&units);
    let row = |name: &str, cells: Vec<String>| [vec![name.to_owned()], cells].concat();
    let figures = FIGURES.iter().map(|(name, figure)| {
        let cells = columns().map(|((_, latency), unit)| show(*unit, figure(latency)));
        row(name, cells.collect())
    });
    let samples = columns().map(|((_, latency), _)| grouped(latency.samples));
    let samples = row("Samples", samples.collect());
    let names = columns().map(|((name, _), unit)| format!("{name} ({})", unit.name));
    let about = columns().map(|((name, _), _)| explained(name));
    let table = Table {
        columns: row("Latency", names.collect()),
        rows: figures.chain([samples]).collect(),
        words: &[0],
        label: "Latencies".to_owned(),
        ..Table::default()
    };
    let (about, table) = (about.collect::<Vec<_>>().join(" "), table.html());
    format!("<section>\n<h2>Latencies</h2>\n<p class=\"about\">{about}</p>\n{table}</section>\n")
}

fn explained(name: &str) -> &'static str {
    match name {
        "Response" => "Response: from when a call was due until it ended.",
        "Service" => "Service: from when a call was sent until it ended.",
        "First message" => "First message: from when a call was sent until its first reply.",
        _ => "Message gap: between two replies of one stream.",
    }
}

/// One unit for the whole column: the median's, or the next larger one if that fits the maximum
/// better.
fn unit(latency: &Latency) -> Unit {
    let found_ns = |found: Option<Percentile>| found.map_or(0, |found| found.ns);
    let median_ns = found_ns(latency.at(500_000));
    let larger = Unit::for_ns(median_ns.saturating_mul(10));
    match found_ns(latency.longest()) as f64 >= 100.0 * larger.ns {
        true => larger,
        false => Unit::for_ns(median_ns),
    }
}

fn show(unit: Unit, found: Option<Percentile>) -> String {
    let Some(Percentile {
        ns, is_at_least, ..
    }) = found
    else {
        return "–".to_owned();
    };
    let value = ns as f64 / unit.ns;
    let figure = match value >= 999.5 {
        true => grouped(value.round() as u64),
        false => unit.show(ns),
    };
    at_least(&figure, is_at_least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::LatencyKind;

    #[test]
    fn a_column_has_the_unit_that_reads_best_from_median_to_maximum() {
        let unit =
            |samples: Vec<u64>| unit(&Latency::from_samples(LatencyKind::Service, samples)).name;
        assert_eq!(unit(vec![480_000, 480_000, 996_000_000]), "ms");
        assert_eq!(unit(vec![310_000_000, 310_000_000, 977_000_000]), "ms");
        assert_eq!(unit(vec![905, 905, 17_200]), "ns");
    }
}
