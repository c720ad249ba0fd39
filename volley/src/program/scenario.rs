//! `volley run`: a scenario file as load.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use super::check::refuse;
use super::files::Files;
use super::{Failure, Out, THRESHOLD_FAILED, buffered, show, unless_hung_up};
use crate::cli::{ScenarioFormat, ScenarioRun, need_token};
use crate::engine;
use crate::pace::whole_ns;
use crate::report::live::LiveTable;
use crate::report::numbers::{duration, grouped};
use crate::scenario::engine::control::Control;
use crate::scenario::engine::{self as load, Options, RunError};
use crate::scenario::file;
use crate::scenario::plan::{Goal, Plan};
use crate::scenario::record::{Contents, Keeps, Records};
use crate::scenario::report::{EndedBy, Names, Report, csv, html, json, prometheus, summary};
use crate::watch::{Address, RecordWriter, Scenarios, Written, record_writer};

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let status = match error {
            RunError::Engine(error) => return error.into(),
            // The file, or what it names, must be mended.
            RunError::Request(_)
            | RunError::Reading(_)
            | RunError::Data(_)
            | RunError::Script(_) => 2,
            RunError::Undrawn { .. }
            | RunError::EndedByStep { .. }
            | RunError::Broken { .. }
            | RunError::Setup { .. }
            | RunError::Teardown { .. } => 1,
        };
        Self {
            status,
            message: error.to_string(),
        }
    }
}

/// Runs a file, and prints its report.
///
/// # Errors
///
/// Whatever prevented the load or the report, or broke the load off.
pub fn run_scenario(args: &ScenarioRun) -> Result<ExitCode, Failure> {
    let mut plan = match file::read(&args.file) {
        Ok(plan) => plan,
        Err(mistakes) => return Ok(refuse(&mistakes)),
    };
    plan.thresholds.extend(args.fail_if.iter().map(Goal::from));
    let out = Out::open(args.output.as_deref())?;
    let signal = engine::watch()?;
    let mut files = Files::default();
    let writer = records(&plan, args, &mut files)?;
    let control = Arc::new(Control::new(&plan, Arc::clone(&signal)));
    let shown = Scenarios::new(
        args.file.display().to_string(),
        Names::from(&plan),
        Arc::clone(&control),
    );
    let shown = Arc::new(shown);
    let address = control_address(&plan, args)?;
    let addresses = [address.as_ref(), args.metrics.as_ref()];
    let servers = show(&shown, addresses, args.token.as_deref())?;
    let options = Options {
        name: args.file.display().to_string(),
        threads: args.threads,
        allow_io: args.allow_io,
        control: Some(Arc::clone(&control)),
        records: writer.as_ref().map(|writer| Arc::clone(writer.source())),
    };
    let (names, stderr) = (Names::from(&plan), io::stderr());
    let is_shown = stderr.is_terminal() && !args.quiet;
    let mut table = LiveTable::new(stderr, is_shown);
    let finished = load::run(&plan, &options, &signal, &mut |progress, elapsed| {
        let steps = progress.steps(elapsed);
        // For a person; if nobody reads it, the run continues.
        let _ = table.draw(&progress.lines(&names, &steps, elapsed));
        if !servers.is_empty() {
            shown.tell(progress, steps, elapsed);
        }
    });
    let _ = table.clear();
    let left_out = writer
        .as_ref()
        .map_or(0, |writer| writer.source().left_out());
    let written = writer.map(RecordWriter::finish);
    let mut finished = finished?;
    let report = &mut finished.report;
    let saved = note(report, written, left_out);
    let report = &finished.report;
    out.print(|out| print(report, args.format, out))?;
    buffered(io::stderr().lock(), |mut out| {
        if !args.quiet {
            summary::write_warnings(report, &mut out)?;
        }
        summary::write_failed(report, &mut out)
    })
    .or_else(unless_hung_up)?;
    saved?;
    files.keep();
    match finished.failure {
        Some(error) => Err(error.into()),
        None => Ok(status(&plan, report)),
    }
}

/// Where the run takes orders.
fn control_address(plan: &Plan, args: &ScenarioRun) -> Result<Option<Address>, Failure> {
    let wrong = |reason: String| Failure {
        status: 2,
        message: reason,
    };
    let Some(text) = plan.control.as_ref().filter(|_| args.control.is_none()) else {
        return Ok(args.control.clone());
    };
    let address = text.parse::<Address>();
    let address = address.map_err(|error| wrong(format!("`control: {text}`: {error}")))?;
    need_token("control", Some(&address), args.token.as_deref())
        .map_err(|error| wrong(error.to_string()))?;
    Ok(Some(address))
}

/// What takes single requests; `None` if nobody asks for them.
fn records(
    plan: &Plan,
    args: &ScenarioRun,
    files: &mut Files,
) -> Result<Option<RecordWriter>, Failure> {
    let log = files.empty_if("--log", args.log.as_deref())?;
    let failures = files.empty_if("--save-failures", args.save_failures.as_deref())?;
    if log.is_none() && failures.is_none() {
        return Ok(None);
    }
    let keeps = Keeps {
        outcomes: log.is_some(),
        contents: match failures {
            Some(_) => Contents::Failures,
            None => Contents::Nothing,
        },
    };
    Ok(Some(record_writer(
        Records::new(plan, keeps),
        log,
        failures,
    )))
}

/// Adds to a report what its reader must know about the files of single requests.
fn note(report: &mut Report, written: Option<Written>, left_out: u64) -> Result<(), Failure> {
    let Some(written) = written else {
        return Ok(());
    };
    let warnings = &mut report.facts.warnings;
    if left_out > 0 {
        warnings.push(format!(
            "{} more requests failed than `--save-failures` keeps",
            grouped(left_out)
        ));
    }
    if !written.held_up.is_zero() {
        let waited = duration(whole_ns(written.held_up));
        warnings.push(format!(
            "the load waited {waited}, all threads together, for `--log` or `--save-failures` to be written: its latencies are too long"
        ));
    }
    let done = written.done.or_else(unless_hung_up);
    done.map_err(|error| {
        let line = format!("`--log` or `--save-failures`: not all requests are written: {error}");
        io::Error::other(line).into()
    })
}

/// Thresholds decide, above all one that ended the load. Without any, every iteration must succeed.
fn status(plan: &Plan, report: &Report) -> ExitCode {
    let is_clean = !plan.thresholds.is_empty() || report.iterations().failed == 0;
    if let EndedBy::Threshold(_) = report.facts.ended_by {
        ExitCode::from(THRESHOLD_FAILED)
    } else if !report.has_success() || !is_clean {
        ExitCode::FAILURE
    } else if report.thresholds.iter().any(|verdict| verdict.failed) {
        ExitCode::from(THRESHOLD_FAILED)
    } else {
        ExitCode::SUCCESS
    }
}

fn print(report: &Report, format: ScenarioFormat, mut out: &mut dyn Write) -> io::Result<()> {
    match format {
        ScenarioFormat::Summary => summary::write(report, &mut out),
        ScenarioFormat::Json => json::write(report, &mut out),
        ScenarioFormat::Pretty => json::write_pretty(report, &mut out),
        ScenarioFormat::Csv => csv::write(report, &mut out),
        ScenarioFormat::Html => html::write(report, &mut out),
        ScenarioFormat::Prometheus => prometheus::write(report, &mut out),
    }
}
