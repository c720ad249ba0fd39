//! The histogram of call latencies.

use volley_base::units::numbers::{Unit, duration, grouped, mark};

use super::axis::{Axis, short};
use super::figure::{Figure, Table};
use crate::measure::{Bar, Latency};
use crate::report::model::Report;

/// If fewer fixed marks than this are in use, equal steps show more.
const BUCKETS_LEAST: usize = 6;

/// Adjacent bars, and where they start.
struct Bars {
    from_ns: u64,
    bars: Vec<Bar>,
    even: bool,
}

pub fn section(report: &Report) -> String {
    let latency = &report.latency;
    let Some(chosen) = choose(latency) else {
        return String::new();
    };
    let bars = &chosen.bars;
    let greatest = bars.iter().map(|bar| bar.count).max().unwrap_or_default();
    let axis = Axis::holding(greatest as f64, 6, true);
    let y_ticks = axis.labelled(short);
    let place = |edge: usize| edge as f64 / bars.len() as f64;
    let ends = bars.iter().enumerate();
    let ends = ends.map(|(edge, bar)| (place(edge + 1), bar.up_to_ns));
    let edges: Vec<(f64, u64)> = std::iter::once((0.0, chosen.from_ns)).chain(ends).collect();

    let most = bars.iter().max_by_key(|bar| bar.count);
    let end_ns = most.map_or(0, |bar| bar.up_to_ns);
    let [from, to, end] = [latency.min_ns, latency.max_ns, end_ns].map(duration);
    let [samples, greatest] = [latency.samples, greatest].map(grouped);
    let description = format!(
        "Calls: {samples}, from {from} to {to}. The highest bar holds {greatest} and ends at {end}."
    );
    let steps = match chosen.even {
        true => "in equal steps",
        false => "each bar a quarter wider than the previous one",
    };
    Figure {
        id: "histogram",
        title: "Latency histogram",
        about: &format!("Calls by {} time, {steps}.", latency.kind.name()),
        description: &description,
        keys: &[],
        table: table(&chosen, latency),
    }
    .html(|drawing| {
        drawing.y_axis(&y_ticks, "calls");
        drawing.x_axis(&ticks(&edges, drawing.size.width, chosen.even), "latency");
        for (edge, bar) in bars.iter().enumerate() {
            drawing.bar(place(edge), place(edge + 1), bar.count as f64 / axis.end);
        }
    })
}

/// Labels for the edges of the bars: all if there is room, else those at 1, 2 and 5, else the
/// powers of ten.
fn ticks(edges: &[(f64, u64)], width: f64, even: bool) -> Vec<(f64, String)> {
    let leading = |ns: u64| {
        let digits = ns.to_string();
        let digits = digits.trim_end_matches('0');
        (digits.len() == 1).then(|| digits.to_owned())
    };
    let room = (width / 60.0) as usize;
    let only = |allowed: &[&str]| -> Vec<(f64, u64)> {
        let is_allowed = |digit: String| allowed.contains(&digit.as_str());
        let fits = |(_, ns): &&(f64, u64)| leading(*ns).is_some_and(is_allowed);
        edges.iter().filter(fits).copied().collect()
    };
    let mut shown = edges.to_vec();
    for allowed in [&["1", "2", "5"][..], &["1"]] {
        if even || shown.len() <= room {
            break;
        }
        shown = only(allowed);
    }
    let shown = shown.into_iter();
    shown.map(|(place, ns)| (place, mark(ns))).collect()
}

/// The fixed marks between the first and the last bar that has a call. If the calls lie close
/// together, ghz's bars instead; their first one, with only the fastest call, is merged into the
/// second.
fn choose(latency: &Latency) -> Option<Bars> {
    let buckets = &latency.buckets;
    let first = buckets.iter().position(|bar| bar.count > 0)?;
    let last = buckets.iter().rposition(|bar| bar.count > 0)?;
    let alike = latency.min_ns == latency.max_ns || latency.bars.len() < 2;
    if alike || last + 1 - first >= BUCKETS_LEAST {
        // A single bar would fill the picture: it is shown among its empty neighbours.
        let margin = if alike { BUCKETS_LEAST / 2 } else { 0 };
        let first = first.saturating_sub(margin);
        let last = (last + margin).min(buckets.len() - 1);
        let from_ns = first.checked_sub(1).and_then(|before| buckets.get(before));
        return Some(Bars {
            from_ns: from_ns.map_or(0, |bar| bar.up_to_ns),
            bars: buckets.get(first..=last)?.to_vec(),
            even: false,
        });
    }
    let mut bars = latency.bars.clone();
    let fastest = bars.remove(0);
    if let Some(next) = bars.first_mut() {
        next.count += fastest.count;
    }
    Some(Bars {
        from_ns: fastest.up_to_ns,
        bars,
        even: true,
    })
}

fn table(chosen: &Bars, latency: &Latency) -> Table {
    let unit = Unit::for_ns(latency.ended_at(500_000).unwrap_or_default());
    let mut from_ns = chosen.from_ns;
    let rows = chosen.bars.iter().map(|bar| {
        let above_ns = std::mem::replace(&mut from_ns, bar.up_to_ns);
        let share = bar.count as f64 / latency.samples.max(1) as f64 * 100.0;
        vec![
            unit.exactly(above_ns),
            unit.exactly(bar.up_to_ns),
            grouped(bar.count),
            format!("{share:.2}"),
        ]
    });
    Table {
        rows: rows.collect(),
        columns: vec![
            format!("Above ({})", unit.name),
            format!("Up to ({})", unit.name),
            "Calls".to_owned(),
            "Share (%)".to_owned(),
        ],
        label: "Latency histogram".to_owned(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::LatencyKind;

    fn chosen(samples: Vec<u64>) -> Bars {
        choose(&Latency::from_samples(LatencyKind::Service, samples)).unwrap()
    }

    #[test]
    fn wide_spreads_are_shown_by_ratio_and_narrow_ones_in_equal_steps() {
        let wide = chosen(vec![1_000_000, 2_000_000, 90_000_000]);
        assert!(!wide.even);
        assert_eq!(
            (wide.from_ns, wide.bars.last().map(|bar| bar.up_to_ns)),
            (800_000, Some(100_000_000))
        );
        let narrow = chosen(vec![1_000_000, 1_010_000, 1_100_000]);
        assert!(narrow.even);
        assert_eq!((narrow.from_ns, narrow.bars.len()), (1_000_000, 10));
    }

    #[test]
    fn no_call_is_lost_on_the_way_to_a_bar() {
        for samples in [
            vec![5],
            vec![1_000, 1_001],
            (1..5_000).map(|ns| ns * 777).collect(),
        ] {
            let count = samples.len() as u64;
            let counts = chosen(samples).bars.into_iter().map(|bar| bar.count);
            assert_eq!(counts.sum::<u64>(), count);
        }
    }

    #[test]
    fn nothing_has_no_bars() {
        assert!(choose(&Latency::none(LatencyKind::Service)).is_none());
    }
}
