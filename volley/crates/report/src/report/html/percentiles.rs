//! Latency by percentile, on an axis where every additional nine takes the same space.

use volley_base::units::numbers::{Unit, at_least};

use super::axis::Axis;
use super::figure::{Figure, Table};
use crate::measure::{Latency, Percentile};
use crate::report::model::Report;

/// Ranks with a tick and a dot, and their names.
const NAMED: [(u32, &str); 6] = [
    (500_000, "50 %"),
    (900_000, "90 %"),
    (990_000, "99 %"),
    (999_000, "99.9 %"),
    (999_900, "99.99 %"),
    (999_990, "99.999 %"),
];

const OPEN_LOOP: &str =
    "Response time starts when a call was due, service time when it was really sent.";
const CLOSED_LOOP: &str = "Measured from when a call was really sent: a closed loop cannot see calls that a stall delayed.";

pub fn section(report: &Report) -> String {
    let latency = &report.latency;
    let Some(longest) = latency.longest() else {
        return String::new();
    };
    let service = report.service_latency.as_ref();
    let service = service.filter(|service| !service.is_empty());
    let greatest_ns = greatest_ns(latency, service);
    let unit = Unit::for_ns(greatest_ns);
    let axis = Axis::holding(greatest_ns as f64 / unit.ns, 6, false);
    let nines_most = (all(latency) as f64).log10().clamp(1.0, 6.0);
    let at =
        |(rank_ppm, ns): (u32, u64)| (nines(rank_ppm) / nines_most, ns as f64 / unit.ns / axis.end);
    let curve: Vec<_> = points(latency).into_iter().map(at).collect();
    let other = service.map_or_else(Vec::new, points);
    let other: Vec<_> = other.into_iter().map(at).collect();
    let dots = NAMED.iter().map(|(rank_ppm, _)| *rank_ppm);
    let dots = dots.filter(|rank_ppm| is_told(*rank_ppm, all(latency)));
    let dots: Vec<_> = dots.filter_map(|rank_ppm| latency.at(rank_ppm)).collect();

    let y_ticks = axis.labelled(Axis::label);
    let x_ticks = [(0, "0 %")].into_iter().chain(NAMED);
    let x_ticks: Vec<_> = x_ticks
        .map(|(rank_ppm, name)| (nines(rank_ppm) / nines_most, name.to_owned()))
        .filter(|(place, _)| *place <= 1.001)
        .collect();

    let told = dots.iter();
    let told = told.map(|found| format!("p{} {found}", f64::from(found.rank_ppm) / 1e4));
    let (kind, told) = (latency.kind.name(), told.collect::<Vec<_>>().join(", "));
    let description = format!("Latency by percentile, {kind}: {told}, max {longest}.");
    let (about, keys): (_, &[&str]) = match service {
        Some(_) => (OPEN_LOOP, &["response", "service"]),
        None => (CLOSED_LOOP, &[]),
    };
    Figure {
        id: "percentiles",
        title: "Latency by percentile",
        about,
        description: &description,
        keys,
        table: table(latency, service),
    }
    .html(|drawing| {
        drawing.y_axis(&y_ticks, unit.name);
        drawing.x_axis(&x_ticks, "percentile of calls");
        if !other.is_empty() {
            drawing.curve(&other, "other");
        }
        drawing.area(&curve);
        drawing.curve(&curve, "curve");
        if let Some((x, y)) = curve.last() {
            drawing.dot(*x, *y, &format!("max {longest}"));
        }
        for found in &dots {
            let (x, y) = at((found.rank_ppm, found.ns));
            drawing.dot(x, y, &found.to_string());
        }
    })
}

/// How many nines a rank has: 1 for 90 %, 2 for 99 %, 0.3 for 50 %.
fn nines(rank_ppm: u32) -> f64 {
    6.0 - f64::from(1_000_000 - rank_ppm.min(999_999)).log10()
}

/// Whether at least one sample lies above the rank: otherwise it would only repeat the maximum.
fn is_told(rank_ppm: u32, samples: u64) -> bool {
    u128::from(1_000_000 - rank_ppm) * u128::from(samples) >= 1_000_000
}

/// The curve: minimum, the ranks that the samples can distinguish, and the maximum at its own rank.
fn points(latency: &Latency) -> Vec<(u32, u64)> {
    let mut points = vec![(0, least_ns(latency))];
    points.extend(told(latency).map(|percentile| (percentile.rank_ppm, percentile.ns)));
    let last = 1_000_000 - (1_000_000 / all(latency).max(1)).clamp(1, 1_000_000) as u32;
    let before = points.last().map_or(0, |point| point.0);
    points.push((last.max(before), greatest_ns(latency, None)));
    points
}

/// The ranks that the samples can distinguish.
fn told(latency: &Latency) -> impl Iterator<Item = &Percentile> {
    let percentiles = latency.percentiles.iter();
    percentiles.filter(|percentile| is_told(percentile.rank_ppm, all(latency)))
}

/// Calls that ended, and those that were open.
fn all(latency: &Latency) -> u64 {
    latency.samples + latency.open
}

fn least_ns(latency: &Latency) -> u64 {
    match latency.samples {
        0 => latency.percentiles.first().map_or(0, |first| first.ns),
        _ => latency.min_ns,
    }
}

fn greatest_ns(latency: &Latency, service: Option<&Latency>) -> u64 {
    let longest = [Some(latency), service].into_iter().flatten();
    let longest = longest.filter_map(Latency::longest);
    longest.map(|longest| longest.ns).max().unwrap_or_default()
}

fn table(latency: &Latency, service: Option<&Latency>) -> Table {
    let unit = Unit::for_ns(greatest_ns(latency, service));
    let mut columns = vec!["Percentile (%)".to_owned()];
    let both = [Some(latency), service].into_iter().flatten();
    columns.extend(both.map(|one| format!("{} ({})", one.kind.title(), unit.name)));
    let row = |name: String, of: &dyn Fn(&Latency) -> Option<Percentile>| {
        let cell = |one| match of(one) {
            Some(found) => at_least(&unit.precise(found.ns), found.is_at_least),
            None => unit.precise(0),
        };
        let mut row = vec![name, cell(latency)];
        row.extend(service.map(cell));
        row
    };
    let mut first = vec!["0".to_owned(), unit.precise(least_ns(latency))];
    first.extend(service.map(|service| unit.precise(least_ns(service))));
    let mut rows = vec![first];
    for Percentile { rank_ppm, .. } in told(latency) {
        let name = f64::from(*rank_ppm) / 1e4;
        rows.push(row(name.to_string(), &|one| one.at(*rank_ppm)));
    }
    rows.push(row("100".to_owned(), &Latency::longest));
    Table {
        columns,
        rows,
        label: "Latency by percentile".to_owned(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::LatencyKind;

    #[test]
    fn each_nine_has_the_same_room() {
        let places = [0, 900_000, 990_000, 999_000, 999_999].map(nines);
        for (place, expected) in places.into_iter().zip([0.0, 1.0, 2.0, 3.0, 6.0]) {
            assert!((place - expected).abs() < 1e-9, "{place}");
        }
    }

    #[test]
    fn the_curve_ends_at_the_maximum_at_the_rank_of_its_sample() {
        let latency = Latency::from_samples(LatencyKind::Service, (1..=100).collect());
        let points = points(&latency);
        assert_eq!(points.last(), Some(&(990_000, 100)));
        assert!(
            points
                .windows(2)
                .all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1)
        );
    }

    #[test]
    fn one_sample_is_a_curve_too() {
        let latency = Latency::from_samples(LatencyKind::Service, vec![7]);
        assert_eq!(points(&latency), [(0, 7), (0, 7)]);
    }
}
