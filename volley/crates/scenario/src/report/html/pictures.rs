//! Rates and times over time.

use super::super::model::{Point, ScenarioReport, Series, StepReport};
use volley_base::units::numbers::{Unit, duration, grouped, rate};
use volley_report::report::html::axis::{Axis, short};
use volley_report::report::html::drawing::Drawing;
use volley_report::report::html::figure::{Figure, Table};

/// Two curves over the run. The first one is accented, the second one dashed.
struct Curves<'a> {
    id: String,
    title: String,
    names: [&'a str; 2],
    unit: &'a str,
    /// What the greatest value is, in words.
    shown: fn(f64) -> String,
    /// Values at moments (in seconds); in the unit.
    values: [Vec<(f64, f64)>; 2],
    end_s: f64,
    interval_s: u64,
    table: Table,
}

/// What was due and what began, each second.
pub fn iterations(place: usize, one: &ScenarioReport, elapsed_ns: u64) -> String {
    let per_s = |number: fn(&Point) -> u64| rates_of(&one.series, elapsed_ns, number);
    let cells = |point: &Point| [point.due, point.sent, point.ok, point.failed].map(grouped);
    Curves {
        id: format!("scenario-{place}"),
        title: format!("{}: iterations per second", one.name),
        names: ["begun", "due"],
        unit: "iterations/s",
        shown: rate,
        values: [per_s(|point| point.sent), per_s(|point| point.due)],
        end_s: elapsed_ns as f64 / 1e9,
        interval_s: one.series.interval_s,
        table: table(
            "Iterations",
            ["Due", "Begun", "Ok", "Failed"],
            &one.series,
            cells,
        ),
    }
    .html()
}

/// Requests that ended each second, and those that failed.
pub fn rates(place: usize, step: &StepReport, elapsed_ns: u64) -> String {
    let series = &step.series;
    let cells = |point: &Point| [point.sent, point.ok, point.failed].map(grouped);
    Curves {
        id: format!("step-{place}-rate"),
        title: format!("{}: requests per second", step.names.label()),
        names: ["ended", "failed"],
        unit: "requests/s",
        shown: rate,
        values: [
            rates_of(series, elapsed_ns, |point| point.ok + point.failed),
            rates_of(series, elapsed_ns, |point| point.failed),
        ],
        end_s: elapsed_ns as f64 / 1e9,
        interval_s: series.interval_s,
        table: table("Requests", ["Sent", "Ok", "Failed"], series, cells),
    }
    .html()
}

/// Percentiles of each interval.
pub fn times(place: usize, step: &StepReport, elapsed_ns: u64) -> String {
    let series = &step.series;
    let end_s = elapsed_ns as f64 / 1e9;
    let greatest_ns = series
        .points
        .iter()
        .filter_map(|point| point.p99_ns)
        .max()
        .unwrap_or_default();
    let unit = Unit::for_ns(greatest_ns);
    let values = |ns: fn(&Point) -> Option<u64>| -> Vec<(f64, f64)> {
        let points = middles(series, end_s).zip(&series.points);
        points
            .filter_map(|((at_s, _), point)| Some((at_s, ns(point)? as f64 / unit.ns)))
            .collect()
    };
    let cell = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), duration);
    let cells = |point: &Point| [point.p50_ns, point.p99_ns].map(cell);
    Curves {
        id: format!("step-{place}-times"),
        title: format!("{}: latency", step.names.label()),
        names: ["p99", "p50"],
        unit: unit.name,
        shown: |value| format!("{value:.3}"),
        values: [values(|point| point.p99_ns), values(|point| point.p50_ns)],
        end_s,
        interval_s: series.interval_s,
        table: table("Latency", ["p50", "p99"], series, cells),
    }
    .html()
}

impl Curves<'_> {
    /// Nothing if there are fewer than two moments: a single one is in the tables.
    fn html(self) -> String {
        let [first, second] = &self.values;
        if first.len() < 2 || self.end_s <= 0.0 {
            return String::new();
        }
        let greatest =
            |values: &[(f64, f64)]| values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let axis = Axis::holding(greatest(first).max(greatest(second)), 6, false);
        let placed = |values: &[(f64, f64)]| -> Vec<(f64, f64)> {
            values
                .iter()
                .map(|(s, value)| (s / self.end_s, value / axis.end))
                .collect()
        };
        let (first, second) = (placed(first), placed(second));
        let ticks = axis.labelled(short);
        let intervals = if self.interval_s == 1 {
            "In intervals of 1 s.".to_owned()
        } else {
            format!("In intervals of {} s.", grouped(self.interval_s))
        };
        let most = |values: &[(f64, f64)]| (self.shown)(greatest(values));
        let description = format!(
            "Over {:.2} s: {} at most {}, {} at most {} ({}).",
            self.end_s,
            self.names[0],
            most(&self.values[0]),
            self.names[1],
            most(&self.values[1]),
            self.unit
        );
        Figure {
            id: &self.id,
            title: &self.title,
            about: &intervals,
            description: &description,
            keys: &self.names,
            table: self.table,
        }
        .html(|drawing: &mut Drawing| {
            drawing.y_axis(&ticks, self.unit);
            let time = Axis::ending(self.end_s, if drawing.size.width < 400.0 { 5 } else { 10 });
            let ticks = time.labelled(Axis::label);
            drawing.x_axis(&ticks, "seconds since the load began");
            drawing.area(&first);
            drawing.curve(&first, "curve");
            drawing.curve(&second, "other");
        })
    }
}

/// The middle of each interval, and its length; both in seconds. The last one may be cut.
fn middles(series: &Series, end_s: f64) -> impl Iterator<Item = (f64, f64)> {
    let interval_s = series.interval_s as f64;
    (0..series.points.len()).map(move |place| {
        let from_s = place as f64 * interval_s;
        let length_s = interval_s.min(end_s - from_s);
        (from_s + length_s / 2.0, length_s)
    })
}

/// A number per second. An interval of less than half the length is left out: its rate would be noise.
fn rates_of(series: &Series, elapsed_ns: u64, number: fn(&Point) -> u64) -> Vec<(f64, f64)> {
    let points = middles(series, elapsed_ns as f64 / 1e9).zip(&series.points);
    let is_whole = |length_s: f64| length_s >= series.interval_s as f64 / 2.0;
    points
        .filter(|((_, length_s), _)| is_whole(*length_s))
        .map(|((at_s, length_s), point)| (at_s, number(point) as f64 / length_s))
        .collect()
}

/// A row for each interval, which begins with its start.
fn table<const N: usize>(
    label: &str,
    columns: [&str; N],
    series: &Series,
    cells: impl Fn(&Point) -> [String; N],
) -> Table {
    let rows = series.points.iter().zip(0_u64..).map(|(point, place)| {
        let from = grouped(place * series.interval_s);
        [from].into_iter().chain(cells(point)).collect()
    });
    let columns = ["From (s)"].into_iter().chain(columns);
    Table {
        columns: columns.map(str::to_owned).collect(),
        rows: rows.collect(),
        words: &[],
        full: false,
        label: label.to_owned(),
    }
}
