//! A run in ghz's terms, so that a reader of ghz's reports counts the same calls as volley did.
//!
//! Such a reader recognizes a cut call only by its error text. So cut calls get ghz's text, and a
//! failed call with a similar text gets a remark.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::model::{Detail, Report};
use crate::measure::{DetailOutcome, EndedBy};

/// ghz's text for a call that was open when the window closed.
pub const CUT_ERROR: &str =
    "rpc error: code = Canceled desc = grpc: the client connection is closing";
const CUT_STATUS: &str = "Canceled";
const REMARK: &str = " (not cut: it ended before the window did)";

/// The ranks of ghz's latency distribution, in percent.
pub const PERCENTS: [u32; 7] = [10, 25, 50, 75, 90, 95, 99];

/// ghz's percentiles, as (percent, ns): of calls that ended. Empty without samples.
pub fn percentiles(report: &Report) -> Vec<(u32, u64)> {
    PERCENTS
        .iter()
        .filter_map(|percent| Some((*percent, report.latency.ended_at(percent * 10_000)?)))
        .collect()
}

/// Calls by status: `OK` first, then by name.
pub fn statuses(report: &Report) -> Vec<(&'static str, u64)> {
    let mut others = report.calls.failed.clone();
    if report.calls.cut > 0 {
        *others.entry(CUT_STATUS).or_default() += report.calls.cut;
    }
    let ok = (report.calls.ok > 0).then_some(("OK", report.calls.ok));
    ok.into_iter().chain(others).collect()
}

/// Calls by error text, cut calls included; the most frequent first.
pub fn errors(report: &Report) -> Vec<(String, u64)> {
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for (text, count) in &report.errors {
        *errors.entry(told_apart(text).into_owned()).or_default() += count;
    }
    if report.calls.cut > 0 {
        *errors.entry(CUT_ERROR.to_owned()).or_default() += report.calls.cut;
    }
    let mut errors: Vec<_> = errors.into_iter().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    errors
}

/// ghz's `endReason`.
pub fn end_reason(report: &Report) -> &'static str {
    match report.ended_by {
        EndedBy::Finished => "normal",
        EndedBy::Window => "timeout",
        EndedBy::Signal => "cancel",
    }
}

/// A single call's status and error; the error of an OK call is empty.
pub fn status_and_error(detail: &Detail) -> (&'static str, Cow<'_, str>) {
    match &detail.outcome {
        DetailOutcome::Ok => ("OK", Cow::Borrowed("")),
        DetailOutcome::Failed { code, error } => (code.name(), told_apart(error)),
        DetailOutcome::Cut => (CUT_STATUS, Cow::Borrowed(CUT_ERROR)),
    }
}

/// A failed call's text, with a remark if a reader of ghz's reports would take the call for a cut
/// one.
fn told_apart(text: &str) -> Cow<'_, str> {
    if sounds_cut(text.trim()) {
        Cow::Owned(format!("{}{REMARK}", text.trim_end()))
    } else {
        Cow::Borrowed(text)
    }
}

/// The texts of ghz's errors when a connection closes.
fn sounds_cut(text: &str) -> bool {
    if text == CUT_ERROR {
        return true;
    }
    let Some(desc) = text.strip_prefix("rpc error: code = Unavailable desc = ") else {
        return false;
    };
    let is_closing = |why: &str| {
        matches!(why, "EOF" | "unexpected EOF")
            || why.ends_with("connection reset by peer")
            || (why.contains("use of closed") && why.ends_with("connection"))
    };
    let why = desc.strip_prefix("error reading from server: ");
    desc == "transport is closing" || why.is_some_and(is_closing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn cut_calls_join_those_that_the_server_canceled() {
        let mut report = samples::stream();
        report.calls.failed.insert("Canceled", 2);
        report.calls.cut = 5;
        assert!(statuses(&report).contains(&("Canceled", 7)));
    }

    #[test]
    fn a_failure_that_sounds_like_a_cut_call_is_told_apart() {
        let reset = "rpc error: code = Unavailable desc = error reading from server: read tcp: connection reset by peer";
        for text in [
            CUT_ERROR,
            reset,
            "rpc error: code = Unavailable desc = transport is closing \n",
        ] {
            assert_eq!(told_apart(text), format!("{}{REMARK}", text.trim_end()));
        }
    }

    #[test]
    fn other_failures_keep_their_words() {
        for text in [
            "rpc error: code = Internal desc = boom",
            "rpc error: code = Canceled desc = by the user",
            "",
        ] {
            assert_eq!(told_apart(text), text);
        }
    }

    #[test]
    fn forged_and_real_cut_calls_stay_two_entries() {
        let mut report = samples::stream();
        report.errors = BTreeMap::from([(CUT_ERROR.to_owned(), 3)]);
        report.calls.cut = 5;
        let forged = format!("{CUT_ERROR}{REMARK}");
        let expected = [(CUT_ERROR.to_owned(), 5), (forged, 3)];
        assert_eq!(errors(&report), expected);
    }
}
