//! `volley merge`: one report from those of several processes.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use super::{Failure, Out, deliver};
use crate::cli::{Format, Merge};
use crate::compare::is_of_scenarios;
use crate::input;
use crate::measure::{Part, Warning};
use crate::report::Report;
use crate::report::verdict::{self, Figures};

/// The part of a JSON report that is needed.
#[derive(Deserialize)]
struct File {
    volley: Member,
}

#[derive(Deserialize)]
struct Member {
    #[serde(default)]
    version: String,
    tally: Option<Value>,
}

/// Merges reports and prints the result. Succeeds if at least one call succeeded and no threshold failed.
///
/// # Errors
///
/// Whatever prevents one report from being made of the files.
pub fn merge(merge: &Merge) -> Result<ExitCode, Failure> {
    let output = merge.output();
    let out = Out::open(output.file.as_deref())?;
    let mut sum: Option<Part> = None;
    let mut versions = BTreeSet::new();
    for path in &merge.files {
        let (part, version) = read(path)?;
        versions.insert(version);
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => sum.merge(part).map_err(|error| wrong(path, error))?,
        }
    }
    let sum = sum.ok_or_else(|| Failure::usage("no files"))?;
    if !merge.partial
        && let Err(error) = sum.check_whole()
    {
        let problem = format!("these reports are not the whole load: {error} (see --partial)");
        return Err(Failure::usage(problem));
    }
    // Those of the run are for the whole load.
    let own = if merge.partial { &[] } else { sum.fail_if() };
    let fail_if = [own, &merge.fail_if].concat();
    // The shares of a single host are the whole load. Their report can be merged all the same.
    let written = || serde_json::to_value(&sum).unwrap_or_default();
    let tally = merge.partial.then(written);
    let mut report = Report::from(sum).exact_if_whole();
    report.tally = tally;
    report.thresholds = verdict::judge(&fail_if, &Figures::from(&report));
    if versions.len() > 1 {
        let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
        report.warnings.push(Warning::Versions { versions });
    }
    let lists_calls = matches!(output.format, Format::Csv | Format::InfluxDetails);
    if lists_calls && report.details.is_empty() {
        let problem = "the shares list no calls: run them with `--details N`";
        return Err(Failure::usage(problem));
    }
    deliver(&report, &output, out)
}

/// A part, and the version of volley that wrote it.
fn read(path: &Path) -> Result<(Part, String), Failure> {
    let text = input::text(path, input::DATA).map_err(|error| wrong(path, error))?;
    let foreign = |error| wrong(path, format!("it is no JSON report of volley: {error}"));
    let report: Value = serde_json::from_str(&text).map_err(foreign)?;
    if is_of_scenarios(&report) {
        let problem =
            "it is a report of `volley run`: only reports of `volley --share K/N` can be merged";
        return Err(wrong(path, problem));
    }
    let file: File = serde_json::from_value(report).map_err(foreign)?;
    let problem = "it is not the report of a share: run it with `--share K/N -O json`";
    let tally = file.volley.tally.ok_or_else(|| wrong(path, problem))?;
    let part = Part::read(tally).map_err(|error| wrong(path, error))?;
    Ok((part, file.volley.version))
}

fn wrong(path: &Path, reason: impl Display) -> Failure {
    Failure::usage(format!("`{}`: {reason}", path.display()))
}
