//! Messages per second over time.

use volley_base::units::numbers::{grouped, mark, rate};

use super::axis::{Axis, short};
use super::figure::{Figure, Table};
use crate::report::model::Report;

/// More points than this add nothing, in a picture or in a table.
const POINTS_MOST: u64 = 120;

/// Several intervals of the series combined.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    from_s: f64,
    to_s: f64,
    messages: u64,
    ok: u64,
    failed: u64,
    sent: u64,
}

impl Bin {
    fn messages_per_s(&self) -> f64 {
        self.messages as f64 / (self.to_s - self.from_s)
    }
}

pub fn section(report: &Report) -> String {
    let bins = bins(report);
    // A single interval is not drawn: its rate is the run's.
    let ([_, .., last], true) = (&bins[..], report.messages > 0) else {
        return String::new();
    };
    let end_s = last.to_s;
    let rates = || bins.iter().map(Bin::messages_per_s);
    let greatest = rates().fold(0.0, f64::max);
    let least = rates().fold(f64::INFINITY, f64::min);
    let mean = report.messages_per_s();
    let axis = Axis::holding(greatest.max(mean), 6, false);
    let at = |s: f64, rate: f64| (s / end_s, rate / axis.end);

    let mut points = vec![at(0.0, bins.first().map_or(0.0, Bin::messages_per_s))];
    let middle = |bin: &Bin| f64::midpoint(bin.from_s, bin.to_s);
    points.extend(bins.iter().map(|bin| at(middle(bin), bin.messages_per_s())));
    points.push(at(end_s, last.messages_per_s()));

    let ticks = axis.labelled(short);
    let interval = mark((bins.first().map_or(0.0, |bin| bin.to_s) * 1e9) as u64);
    let [mean_rate, least, greatest] = [mean, least, greatest].map(rate);
    let mean_of_run = format!("mean of the run, {mean_rate}");
    let description = format!(
        "Over {end_s:.2} s in intervals of {interval}: mean {mean_rate}, minimum {least}, maximum {greatest}."
    );
    Figure {
        id: "rate",
        title: "Messages per second",
        about: &format!("In intervals of {interval}."),
        description: &description,
        keys: &["messages per second", &mean_of_run],
        table: table(&bins),
    }
    .html(|drawing| {
        drawing.y_axis(&ticks, "messages/s");
        let time = Axis::ending(end_s, if drawing.size.width < 400.0 { 5 } else { 10 });
        let ticks = time.labelled(Axis::label);
        drawing.x_axis(&ticks, "seconds since the window opened");
        drawing.area(&points);
        drawing.curve(&points, "curve");
        drawing.curve(&[(0.0, mean / axis.end), (1.0, mean / axis.end)], "other");
    })
}

/// The series in at most [`POINTS_MOST`] steps of 1, 2 or 5 × 10^n intervals. A last step of less
/// than half the length is merged into the one before: its rate would be noise.
fn bins(report: &Report) -> Vec<Bin> {
    let series = &report.series;
    let intervals = series.messages.len();
    let interval_s = series.interval_ms as f64 / 1e3;
    let per_bin = (0..).flat_map(|power| [1, 2, 5].map(|times| times * 10usize.pow(power)));
    let are_few = |per_bin: &usize| intervals.div_ceil(*per_bin) as u64 <= POINTS_MOST;
    let per_bin = per_bin.take(40).find(are_few);
    let Some(per_bin) = per_bin.filter(|_| interval_s > 0.0) else {
        return Vec::new();
    };
    let sum = |values: &[u64], from: usize| values.iter().skip(from).take(per_bin).sum();
    let mut bins: Vec<Bin> = (0..intervals)
        .step_by(per_bin)
        .map(|from| Bin {
            from_s: from as f64 * interval_s,
            to_s: ((from + per_bin) as f64 * interval_s).min(report.elapsed_s()),
            messages: sum(&series.messages, from),
            ok: sum(&series.ok, from),
            failed: sum(&series.failed, from),
            sent: sum(&series.sent, from),
        })
        .collect();
    let step_s = per_bin as f64 * interval_s;
    if let [.., before, last] = &mut bins[..]
        && last.to_s - last.from_s < step_s / 2.0
    {
        before.to_s = before.to_s.max(last.to_s);
        before.messages += last.messages;
        before.ok += last.ok;
        before.failed += last.failed;
        before.sent += last.sent;
        bins.pop();
    }
    bins.retain(|bin| bin.to_s > bin.from_s);
    bins
}

fn table(bins: &[Bin]) -> Table {
    let calls = ["sent", "ok", "failed"].map(|what| format!("Calls {what}"));
    let columns = ["From (s)", "Messages/s"].map(str::to_owned);
    let row = |bin: &Bin| {
        let calls = [bin.sent, bin.ok, bin.failed].map(grouped);
        let begin = [format!("{:.1}", bin.from_s), rate(bin.messages_per_s())];
        begin.into_iter().chain(calls).collect()
    };
    Table {
        columns: columns.into_iter().chain(calls).collect(),
        rows: bins.iter().map(row).collect(),
        label: "Messages per second".to_owned(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn messages(bins: &[Bin]) -> u64 {
        bins.iter().map(|bin| bin.messages).sum()
    }

    #[test]
    fn a_short_rest_joins_the_interval_before_it() {
        let report = samples::stream();
        let bins = bins(&report);
        assert_eq!((report.series.messages.len(), bins.len()), (51, 50));
        assert_eq!(messages(&bins), report.series.messages.iter().sum::<u64>());
        assert_eq!(bins.last().map(|bin| bin.to_s), Some(report.elapsed_s()));
    }

    #[test]
    fn an_hour_is_taken_together_without_losing_a_message() {
        let mut report = samples::stream();
        report.elapsed_ns = 3_600_000_000_000;
        report.series.messages = (0..36_000).collect();
        let bins = bins(&report);
        assert_eq!(bins.len(), 72);
        assert_eq!(messages(&bins), (0..36_000).sum::<u64>());
    }

    #[test]
    fn a_series_of_nothing_has_no_bins() {
        assert_eq!(bins(&samples::no_calls()), []);
    }
}
