//! One self-contained page: no scripts, no requests, light and dark.
//!
//! Every picture comes with the same numbers as a table. It is drawn three times, for wide and
//! narrow windows and for phones, so that its letters stay as large as the page's.

use std::io::{self, Write};

use super::model::Report;

pub mod axis;
pub mod drawing;
mod facts;
pub mod figure;
mod head;
mod histogram;
mod latencies;
mod outcomes;
pub mod page;
mod percentiles;
mod rates;

/// Writes the whole page.
///
/// # Errors
///
/// Errors of writing to `out`.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let title = if report.name.is_empty() {
        &report.call
    } else {
        &report.name
    };
    let parts = [
        page::begin(title),
        head::header(report, title),
        "<main>\n".to_owned(),
        head::tiles(report),
        page::warnings(&report.warnings),
        outcomes::thresholds(report),
        rates::section(report),
        percentiles::section(report),
        histogram::section(report),
        latencies::section(report),
        outcomes::section(report),
        facts::section(report),
        "</main>\n".to_owned(),
        page::end(&report.version),
    ];
    parts
        .iter()
        .try_for_each(|part| out.write_all(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{self, written_by};

    fn written(report: &Report) -> String {
        written_by(report, write)
    }

    #[test]
    fn orders_are_among_the_facts() {
        let mut report = samples::few_calls();
        report.ended_by = crate::measure::EndedBy::Signal;
        report.events = vec![crate::measure::Event {
            at_ns: 500_000_000,
            what: volley_load::spec::Command::Stop,
        }];
        let page = written(&report);
        assert!(page.contains("<dt>Orders</dt><dd>stop at 0.50 s</dd>"));
        assert!(page.contains(", stopped by order</p>"));
    }

    #[test]
    fn a_few_calls_read_as_expected() {
        let page = written(&samples::few_calls()).replace(page::STYLE, "");
        assert_eq!(page, include_str!("samples/few_calls.html"));
    }

    #[test]
    fn nothing_a_server_or_a_user_says_becomes_markup() {
        let page = written(&samples::hostile());
        for markup in [
            "<script",
            "</title>999",
            "<i>",
            "<b>20",
            "\u{1b}",
            "\u{202e}",
            "\0",
            "\r",
        ] {
            assert!(!page.contains(markup), "{markup:?}");
        }
        assert!(page.contains("&lt;script&gt;alert(&#39;&amp;&quot;x&quot;&#39;)&lt;/script&gt;"));
        assert_eq!(
            page.matches("</title>").count(),
            page.matches("<title").count()
        );
    }

    #[test]
    fn every_picture_has_a_title_a_description_and_a_table() {
        let page = written(&samples::open_loop());
        assert_eq!(page.matches("<figure>").count(), 3);
        assert_eq!(page.matches("<svg ").count(), 9);
        assert_eq!(page.matches("<desc ").count(), 9);
        assert_eq!(page.matches("The same numbers as a table").count(), 3);
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = written(&samples::stream());
        for request in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(request), "{request}");
        }
    }

    #[test]
    fn a_run_of_one_interval_has_no_picture_of_its_rate() {
        let of_rates = "<h2>Messages per second</h2>";
        assert!(!written(&samples::one_call()).contains(of_rates));
        assert!(written(&samples::stream()).contains(of_rates));
    }

    #[test]
    fn without_a_sample_no_latency_is_told() {
        assert!(written(&samples::no_calls()).contains("max –"));
    }

    #[test]
    fn no_coordinate_is_lost_in_a_run_of_nothing_or_of_one_call() {
        for report in [samples::no_calls(), samples::one_call()] {
            let page = written(&report);
            assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
        }
    }
}
