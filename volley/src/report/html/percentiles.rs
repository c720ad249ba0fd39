//! Latency by percentile, on an axis where every additional nine takes the same space.

use super::axis::Axis;
use super::figure::{Figure, Table};
use crate::report::latency::Latency;
use crate::report::model::Report;
use crate::report::numbers::{Unit, duration};

/// Ranks with a tick and a dot, and their names.
const NAMED: [(u32, &str); 6] = [
    (500_000, "50 %"),
    (900_000, "90 %"),
    (990_000, "99 %"),
    (999_000, "99.9 %"),
    (999_900, "99.99 %"),
    (999_990, "99.999 %"),
];

pub fn section(report: &Report) -> String {
    let latency = &report.latency;
    if latency.samples == 0 {
        return String::new();
    }
    let service = report
        .service_latency
        .as_ref()
        .filter(|service| service.samples > 0);
    let greatest_ns = latency
        .max_ns
        .max(service.map_or(0, |service| service.max_ns));
    let unit = Unit::for_ns(greatest_ns);
    let axis = Axis::holding(greatest_ns as f64 / unit.ns, 6, false);
    let nines_most = (latency.samples as f64).log10().clamp(1.0, 6.0);
    let at =
        |(rank_ppm, ns): (u32, u64)| (nines(rank_ppm) / nines_most, ns as f64 / unit.ns / axis.end);
    let curve: Vec<_> = points(latency).into_iter().map(at).collect();
    let other: Vec<_> = service
        .map(|service| points(service).into_iter().map(at).collect())
        .unwrap_or_default();
    let dots: Vec<_> = NAMED
        .iter()
        .filter(|(rank_ppm, _)| is_told(*rank_ppm, latency.samples))
        .filter_map(|(rank_ppm, _)| latency.at(*rank_ppm).map(|ns| (*rank_ppm, ns)))
        .collect();

    let y_ticks: Vec<_> = axis
        .ticks
        .iter()
        .map(|tick| (tick / axis.end, axis.label(*tick)))
        .collect();
    let mut x_ticks = vec![(0.0, "0 %".to_owned())];
    x_ticks.extend(
        NAMED
            .iter()
            .map(|(rank_ppm, name)| (nines(*rank_ppm) / nines_most, (*name).to_owned())),
    );
    x_ticks.retain(|(place, _)| *place <= 1.001);

    let told: Vec<_> = dots
        .iter()
        .map(|(rank, ns)| format!("p{} {}", f64::from(*rank) / 1e4, duration(*ns)))
        .collect();
    let description = format!(
        "Latency by percentile, {}: {}, max {}.",
        latency.kind.name(),
        told.join(", "),
        duration(latency.max_ns)
    );
    let about = match service {
        Some(_) => {
            "Response time starts when a call was due, service time when it was really sent."
        }
        None => {
            "Measured from when a call was really sent: a closed loop cannot see calls that a stall delayed."
        }
    };
    Figure {
        id: "percentiles",
        title: "Latency by percentile",
        about,
        description: &description,
        keys: if service.is_some() {
            &["response", "service"]
        } else {
            &[]
        },
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
            drawing.dot(*x, *y, &format!("max {}", duration(latency.max_ns)));
        }
        for (rank_ppm, ns) in &dots {
            let (x, y) = at((*rank_ppm, *ns));
            drawing.dot(x, y, &duration(*ns));
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
    let mut points = vec![(0, latency.min_ns)];
    let told = latency
        .percentiles
        .iter()
        .filter(|percentile| is_told(percentile.rank_ppm, latency.samples));
    points.extend(told.map(|percentile| (percentile.rank_ppm, percentile.ns)));
    let last = 1_000_000 - (1_000_000 / latency.samples.max(1)).clamp(1, 1_000_000) as u32;
    points.push((
        last.max(points.last().map_or(0, |point| point.0)),
        latency.max_ns,
    ));
    points
}

fn table(latency: &Latency, service: Option<&Latency>) -> Table {
    let unit = Unit::for_ns(
        latency
            .max_ns
            .max(service.map_or(0, |service| service.max_ns)),
    );
    let mut columns = vec!["Percentile (%)".to_owned()];
    columns.extend([Some(latency), service].into_iter().flatten().map(|one| {
        let name = one.kind.name();
        format!("{}{} ({})", name[..1].to_uppercase(), &name[1..], unit.name)
    }));
    let row = |name: String, of: &dyn Fn(&Latency) -> u64| {
        let mut row = vec![name, unit.precise(of(latency))];
        row.extend(service.map(|service| unit.precise(of(service))));
        row
    };
    let mut rows = vec![row("0".to_owned(), &|one| one.min_ns)];
    for percentile in latency
        .percentiles
        .iter()
        .filter(|percentile| is_told(percentile.rank_ppm, latency.samples))
    {
        let rank_ppm = percentile.rank_ppm;
        rows.push(row(format!("{}", f64::from(rank_ppm) / 1e4), &|one| {
            one.at(rank_ppm).unwrap_or_default()
        }));
    }
    rows.push(row("100".to_owned(), &|one| one.max_ns));
    Table {
        columns,
        rows,
        words: &[],
        full: false,
        label: "Latency by percentile".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::latency::LatencyKind;

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
