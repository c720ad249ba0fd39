use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Threshold {
    text.parse().unwrap()
}

fn refusal(text: &str) -> String {
    text.parse::<Threshold>().unwrap_err().to_string()
}

#[test]
fn figures_limits_and_units_are_read() {
    let (first, send_delay) = ("first-message p50 <= 1us", "send-delay max > 2ms");
    let messages = "messages < 1,234,567.5";
    for (text, shown, limit, unit) in [
        ("p99>20ms", "p99 > 20ms", 2e7, Unit::Ns),
        (" p99.95 >= 1.5s ", "p99.95 >= 1.5s", 1.5e9, Unit::Ns),
        ("p100 > 0", "p100 > 0", 0.0, Unit::Ns),
        ("first-message  p50 <= 1us", first, 1e3, Unit::Ns),
        (send_delay, send_delay, 2e6, Unit::Ns),
        ("failed > 0.1%", "failed > 0.1%", 0.1, Unit::Percent),
        ("cut > 1_000", "cut > 1_000", 1e3, Unit::Calls),
        ("rate < 9,000", "rate < 9,000", 9e3, Unit::PerSecond),
        (messages, messages, 1_234_567.5, Unit::PerSecond),
    ] {
        let threshold = read(text);
        assert_eq!((&*threshold.text, threshold.limit), (shown, limit));
        assert_eq!(threshold.unit, unit);
        assert_eq!(read(&threshold.text), threshold);
    }
}

#[test]
fn a_threshold_of_scenarios_may_be_about_one_part() {
    let first_byte = "first-byte p50(GET /a(b)>c) <= 1s";
    for (text, shown, of) in [
        ("p99(crud.create) < 50ms", "p99 < 50ms", Some("crud.create")),
        ("checks( a ) > 99.9%", "checks > 99.9%", Some("a")),
        (first_byte, "first-byte p50 <= 1s", Some("GET /a(b)>c")),
        ("dropped < 0.1%", "dropped < 0.1%", None),
        ("iterations >= 7", "iterations >= 7", None),
        ("delay max(a) > 1s", "delay max > 1s", Some("a")),
        ("iteration p99 > 1s", "iteration p99 > 1s", None),
        ("iterations-failed > 1%", "iterations-failed > 1%", None),
        ("open(a) > 0", "open > 0", Some("a")),
    ] {
        let selected: Selected = text.parse().unwrap();
        assert_eq!(selected.threshold.text, shown);
        assert_eq!(selected.of.as_deref(), of);
        let again: Selected = selected.to_string().parse().unwrap();
        assert_eq!(again, selected);
    }
    for text in ["p99(a < 1s", "p99(a) 1s", "p99)a( < 1s", "(a) < 1s"] {
        assert!(text.parse::<Selected>().is_err(), "{text}");
    }
    let refused = "late > 1".parse::<Selected>().unwrap_err().to_string();
    assert_eq!(
        refused,
        "there is no figure `late`: use p50 (or any other percentile), mean, min or max, also after `service`, `first-byte`, `blocked`, \
         `delay` or `iteration`; or rate, messages, ok, failed, wrong, sent, open, checks, dropped, iterations, iterations-ok \
         or iterations-failed"
    );
    assert!("gap p99 > 1s".parse::<Selected>().is_err());
    let line = "`checks` is for scenarios: write it into `thresholds` of a scenario file";
    assert_eq!(refusal("checks > 99%"), line);
}

#[test]
fn the_opposite_holds_if_a_threshold_does_not() {
    for (text, opposite) in [
        ("p99 > 1s", "p99 <= 1s"),
        ("p99 >= 1s", "p99 < 1s"),
        ("p99 < 1s", "p99 >= 1s"),
        ("p99 <= 1s", "p99 > 1s"),
    ] {
        assert_eq!(read(text).opposite(), read(opposite));
        assert_eq!(read(opposite).opposite(), read(text));
    }
}

#[test]
fn what_is_no_threshold_is_refused_with_the_remedy() {
    for text in ["", "p99", "> 20ms", "p99 >", "p99 = 20ms"] {
        assert!(refusal(text).starts_with("write a figure"), "{text}");
    }
    let names = "p0|p101|pNaN|p-1|p99.99999|latency|gap|gap rate|a b c|first-message p|p9,9";
    for name in names.split('|') {
        let line = refusal(&format!("{name} > 20ms"));
        let begin = format!("there is no figure `{name}`");
        assert!(line.starts_with(&begin), "{line}");
    }
    let refused = r"
        p99 > 20 => `p99` needs a time such as 20ms, not `20`
        p99 > 1% => needs a time
        failed > 1ms => needs a number of calls
        failed > -1 => needs a number of calls
        failed > 0.1 => `failed` needs a whole number of calls, or a share such as 0.1%, not `0.1`
        failed > 100.5% => `failed` needs a share of at most 100%, not `100.5%`
        rate < 5% => needs a number per second
        rate < inf => needs a number per second
        failed > 0,1% => or a share such as 0.1%, not `0,1%`
        failed > 0,100% => not `0,100%`
        rate < 1.500,000 => not `1.500,000`
        rate < 1000,000 => not `1000,000`
        rate < ,100 => not `,100`
        rate < 1, => not `1,`
        p99 ratio > 1.1 => in `volley compare`";
    for row in refused.trim().lines() {
        let (text, words) = row.split_once(" => ").unwrap();
        assert!(refusal(text).contains(words), "{text}");
    }
}

#[test]
fn a_few_checks_are_a_share_that_lacks_its_sign() {
    for (limit, share) in [
        ("0.99", "99"),
        ("0.999", "99.9"),
        ("0.29", "29"),
        ("1", "100"),
        ("99", "99"),
        ("99.9", "99.9"),
        ("100", "100"),
    ] {
        for figure in ["checks >=", "checks(a.b) <"] {
            let refused = format!("{figure} {limit}").parse::<Selected>();
            let line = format!("`checks` needs a share, not `{limit}`: write `{share}%`");
            assert_eq!(refused.unwrap_err().to_string(), line);
        }
    }
    for text in ["checks > 0", "checks >= 101", "checks >= 100%"] {
        assert!(text.parse::<Selected>().is_ok(), "{text}");
    }
}

proptest! {
    #[test]
    fn every_rank_of_a_millionth_can_be_asked_for(ppm in 1..=1_000_000_u32) {
        let text = format!("{} > 1s", Statistic::Percentile(ppm));
        prop_assert_eq!(read(&text).figure, Figure::Time(Times::Latency, Statistic::Percentile(ppm)));
    }

    #[test]
    fn any_text_is_answered_in_one_line(text in "\\PC{0,30}|[a-z0-9. ]{0,9}[<>]=?[ 0-9a-z%.]{0,9}") {
        if let Err(error) = text.parse::<Threshold>() {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
