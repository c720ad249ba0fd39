//! Numbers for people: durations as ghz prints them, grouped digits, sizes.

/// ghz's format of durations: whole ns below 10 µs, then ms, and s from one second on, both with
/// two decimals.
pub fn ghz_duration(ns: u64) -> String {
    if ns < 10_000 {
        return format!("{ns} ns");
    }
    match ns as f64 / 1e6 {
        ms if ms < 1000.0 => format!("{ms:.2} ms"),
        ms => format!("{:.2} s", ms / 1000.0),
    }
}

/// `1 user`, `2 users`.
pub fn counted(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// A figure in words, with `≥` before it if it is only a lower bound.
pub fn at_least(figure: &str, is_bound: bool) -> String {
    let sign = if is_bound { "≥ " } else { "" };
    format!("{sign}{figure}")
}

/// Three significant digits, in a suitable unit: `950 ns`, `12.3 µs`, `1.25 ms`, `2.50 s`.
pub fn duration(ns: u64) -> String {
    let unit = Unit::for_ns(ns);
    format!("{} {}", unit.show(ns), unit.name)
}

/// The same without trailing zeros, for round values: `80 ms`, `1.25 s`.
pub fn mark(ns: u64) -> String {
    let shown = duration(ns);
    match shown.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => shown,
    }
}

/// A unit of time for a whole column or axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    pub ns: f64,
}

impl Unit {
    /// The largest unit that is not above `ns`.
    pub fn for_ns(ns: u64) -> Self {
        let (name, ns) = match ns {
            0..1_000 => ("ns", 1.0),
            1_000..1_000_000 => ("µs", 1e3),
            1_000_000..1_000_000_000 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        Self { name, ns }
    }

    /// `ns` in this unit, without its name, exact to the nanosecond and without trailing zeros.
    pub fn exactly(self, ns: u64) -> String {
        let per_unit = self.ns as u64;
        let whole = grouped(ns / per_unit);
        let digits = per_unit.ilog10() as usize;
        let rest = format!("{:0digits$}", ns % per_unit);
        let rest = rest.trim_end_matches('0');
        match rest {
            "" => whole,
            rest => format!("{whole}.{rest}"),
        }
    }

    /// `ns` in this unit, without its name, with three decimals, so that a column lines up.
    pub fn precise(self, ns: u64) -> String {
        match self.ns < 10.0 {
            true => ns.to_string(),
            false => format!("{:.3}", ns as f64 / self.ns),
        }
    }

    /// `ns` in this unit, without its name, with three significant digits, but not finer than 1 ns.
    pub fn show(self, ns: u64) -> String {
        let value = ns as f64 / self.ns;
        let most = if self.ns < 10.0 { 0 } else { 3 };
        let decimals = match value {
            v if v >= 99.95 => 0,
            v if v >= 9.995 => 1,
            v if v >= 0.9995 => 2,
            _ => 3,
        };
        format!("{value:.*}", decimals.min(most))
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A rate with grouped digits: whole from 100 on, otherwise with as many decimals as it needs.
pub fn rate(per_s: f64) -> String {
    match per_s {
        r if r >= 100.0 => grouped(r.round() as u64),
        r if r >= 10.0 => format!("{r:.1}"),
        r => format!("{r:.2}"),
    }
}

/// Bytes in MB (10^6), with one decimal.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_change_their_unit_where_ghz_changes_it() {
        for (ns, printed) in [
            (0, "0 ns"),
            (9_999, "9999 ns"),
            (10_000, "0.01 ms"),
            (139_480_000, "139.48 ms"),
            (999_994_999, "999.99 ms"),
            (999_996_000, "1000.00 ms"),
            (1_000_000_000, "1.00 s"),
            (1_240_000_000, "1.24 s"),
            (75_000_000_000, "75.00 s"),
        ] {
            assert_eq!(ghz_duration(ns), printed);
        }
    }

    #[test]
    fn own_durations_have_three_digits_that_count() {
        for (ns, printed) in [
            (0, "0 ns"),
            (950, "950 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (999_600, "1000 µs"),
            (1_250_000, "1.25 ms"),
            (250_000_000, "250 ms"),
            (2_500_000_000, "2.50 s"),
            (3_600_000_000_000, "3600 s"),
        ] {
            assert_eq!(duration(ns), printed);
        }
    }

    #[test]
    fn round_values_lose_their_zeros() {
        let marks = [80_000_000, 1_250_000_000, 1_000_000_000, 200, 0].map(mark);
        assert_eq!(marks, ["80 ms", "1.25 s", "1 s", "200 ns", "0 ns"]);
    }

    #[test]
    fn a_value_can_be_told_to_the_nanosecond() {
        let ms = Unit::for_ns(1_000_000);
        let told = [0, 5, 1_425_000, 80_000_000, 3_600_000_000_000].map(|ns| ms.exactly(ns));
        assert_eq!(told, ["0", "0.000005", "1.425", "80", "3,600,000"]);
        assert_eq!(Unit::for_ns(1).exactly(1_234), "1,234");
    }

    #[test]
    fn a_column_of_one_unit_has_three_decimals() {
        let told = |ns| Unit::for_ns(ns).precise(ns);
        let told = [286_230, 5_003_217_000, 950].map(told);
        assert_eq!(told, ["286.230", "5.003", "950"]);
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        let numbers = [0, 999, 1_000, 12_345_678].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345,678"]);
        let rates = [0.0, 9.876, 50.04, 3_104_622.4].map(rate);
        assert_eq!(rates, ["0.00", "9.88", "50.0", "3,104,622"]);
    }
}
