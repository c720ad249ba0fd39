//! The exit status of a run that is over. That of an error is in [`Failure`](super::Failure), that of a wrong command line in
//! [`CliExit`](crate::cli::CliExit).

use std::process::ExitCode;

use crate::report::Verdict;
use crate::scenario::report as scenarios;
use crate::units::numbers::grouped;

/// The exit status if a condition of `--fail-if` was met.
pub const THRESHOLD_FAILED: u8 = 99;

/// The exit status if `volley edit` or its page was not built.
pub const NOT_BUILT: u8 = 3;

/// The exit status if a second signal ended the load: that of a program which SIGINT ends.
pub const CUT: u8 = 130;

/// The exit status if the command line, or a file that it names, is wrong.
pub const WRONG: u8 = 2;

/// The exit status of a run with thresholds. Without a call that succeeded, it is that of any such run.
pub fn of_calls(any_ok: bool, thresholds: &[Verdict]) -> ExitCode {
    match any_ok && thresholds.iter().any(|verdict| verdict.failed) {
        true => ExitCode::from(THRESHOLD_FAILED),
        false => success_if(any_ok),
    }
}

/// The exit status says whether any call succeeded.
pub fn success_if(any_ok: bool) -> ExitCode {
    match any_ok {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Why a run has failed, if no threshold says so. Without thresholds, every iteration must succeed.
pub fn why_failed(report: &scenarios::Report) -> Option<String> {
    let iterations = report.iterations();
    if !report.has_success() {
        Some("no request succeeded".to_owned())
    } else if report.thresholds.is_empty() && iterations.failed > 0 {
        let [failed, begun] = [iterations.failed, iterations.begun].map(grouped);
        Some(format!("{failed} of {begun} iterations"))
    } else {
        None
    }
}

/// Thresholds decide, above all one that ended the load.
pub fn of_scenarios(report: &scenarios::Report) -> ExitCode {
    if let scenarios::EndedBy::Threshold(_) = report.facts.ended_by {
        ExitCode::from(THRESHOLD_FAILED)
    } else if why_failed(report).is_some() {
        ExitCode::FAILURE
    } else if report.thresholds.iter().any(|verdict| verdict.failed) {
        ExitCode::from(THRESHOLD_FAILED)
    } else {
        ExitCode::SUCCESS
    }
}
