//! `volley run`: a scenario file as load.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use super::check::{self, refuse, warn};
use super::files::Files;
use super::status::{self, why_failed};
use super::{Failure, Out, lua, show, to_stderr, unless_hung_up};
use crate::cli::{ScenarioFormat, ScenarioRun, need_token};
use crate::net;
use crate::pace::whole_ns;
use crate::report::live::LiveTable;
use crate::scenario::engine::control::Control;
use crate::scenario::engine::{self as load, Options};
use crate::scenario::file::{self, Loaded};
use crate::scenario::lua::{is_program, open_scripts};
use crate::scenario::plan::{Goal, Plan};
use crate::scenario::record::{Contents, Keeps, Records};
use crate::scenario::report::{Names, Report, csv, html, json, prometheus, summary};
use crate::spec::ListenAddress;
use crate::units::duration::GoDuration;
use crate::units::numbers::{duration, grouped};
use crate::watch::{RecordWriter, Scenarios, Written, record_writer};

/// Runs a file, and prints its report.
///
/// # Errors
///
/// Whatever prevented the load or the report, or broke the load off.
pub fn run_scenario(args: &ScenarioRun) -> Result<ExitCode, Failure> {
    if is_program(&args.file) {
        return lua::run(args);
    }
    let Loaded { mut plan, warnings } = match file::read(&args.file) {
        Ok(loaded) => loaded,
        Err(mistakes) => return Ok(refuse(&mistakes)),
    };
    if !args.quiet {
        warn(&warnings);
    }
    for condition in &args.fail_if {
        let scenarios = plan.scenarios.iter().map(|one| one.name.as_str());
        file::check_part(condition, scenarios, &plan.steps, &plan.slots)
            .and_then(|()| {
                file::check_samples(condition, &plan.loads, &plan.scenarios, &plan.steps)
            })
            .map_err(|error| Failure::usage(format!("`--fail-if`: {error}")))?;
    }
    plan.thresholds.extend(args.fail_if.iter().map(Goal::from));
    args.check_files(plan.files.iter().map(PathBuf::as_path))
        .map_err(Failure::usage)?;
    let out = Out::open(args.output.as_deref())?;
    let mut files = Files::default();
    let writer = records(&plan, args, &mut files)?;
    let signal = Arc::default();
    let control = Arc::new(Control::new(&plan, Arc::clone(&signal)));
    let cuts = Arc::clone(&control);
    net::watch_twice(&signal, move || cuts.cut())?;
    let shown = Scenarios::new(args.file.display().to_string(), &plan, Arc::clone(&control));
    let shown = Arc::new(shown);
    let address = control_address(&plan, args)?;
    let addresses = [address.as_ref(), args.metrics.as_ref()];
    let servers = show(&shown, addresses, args.token.as_deref())?;
    if args.has_token_flag && servers.is_empty() && !args.quiet {
        let line = "`--control-token` has no effect without `--control`, `--metrics` or the file's `control`";
        warn(&[line.to_owned()]);
    }
    let (names, stderr) = (Names::from(&plan), io::stderr());
    let is_shown = stderr.is_terminal() && !args.quiet;
    let options = Options {
        name: args.file.display().to_string(),
        threads: args.threads,
        scripts: Some(open_scripts),
        allow_io: args.allow_io,
        is_watched: is_shown || !servers.is_empty(),
        max_memory: args.max_memory,
        control: Some(Arc::clone(&control)),
        records: writer.as_ref().map(|writer| Arc::clone(writer.source())),
    };
    let mut table = LiveTable::new(stderr, is_shown);
    let mut says_stopping = !args.quiet;
    let finished = load::run(&plan, &options, &signal, &mut |progress, elapsed| {
        let open = progress.iterations().under_way();
        if progress.is_waiting() && std::mem::take(&mut says_stopping) && open > 0 {
            let most = GoDuration(Duration::from_nanos(plan.limits.drain_ns));
            let open = grouped(open);
            let _ = table.clear();
            // If nobody reads this, the run ends all the same.
            let _ = writeln!(
                io::stderr(),
                "stopping: waiting for {open} iterations, up to {most}; interrupt again to end now"
            );
        }
        let steps = progress.steps(elapsed);
        // For a person; if nobody reads it, the run continues.
        let _ = table.draw(&progress.lines(&names, &steps, elapsed));
        if !servers.is_empty() {
            shown.tell(progress, steps, elapsed);
        }
    });
    let _ = table.clear();
    let source = writer.as_ref().map(|writer| writer.source());
    let left_out = source.map_or(0, |source| source.left_out());
    let written = writer.map(RecordWriter::finish);
    let mut finished = finished?;
    let report = &mut finished.report;
    report.facts.targets = plan.targets.iter().map(check::target).collect();
    let loads = plan.loads.iter().map(|load| check::load(&plan, load));
    report.facts.load = loads.collect();
    let saved = note(report, written, left_out);
    let report = &finished.report;
    deliver(report, why_failed(report), args, out)?;
    saved?;
    files.keep();
    match finished.failure {
        Some(error) => Err(error.into()),
        None if control.is_cut() => Ok(ExitCode::from(status::CUT)),
        None => Ok(status::of_scenarios(report)),
    }
}

/// Prints a report, and why its run has failed.
pub(super) fn deliver(
    report: &Report,
    why: Option<String>,
    args: &ScenarioRun,
    out: Out<'_>,
) -> Result<(), Failure> {
    out.print(|out| print(report, args.format(), out))?;
    to_stderr(|mut out| {
        if !args.quiet {
            summary::write_warnings(report, &mut out)?;
        }
        summary::write_failed(report, &mut out)?;
        match why {
            Some(why) => writeln!(out, "failed: {why}; the report says why"),
            None => Ok(()),
        }
    })?;
    Ok(())
}

/// Where the run takes orders.
fn control_address(plan: &Plan, args: &ScenarioRun) -> Result<Option<ListenAddress>, Failure> {
    if args.control.is_some() {
        return Ok(args.control.clone());
    }
    need_token("control", plan.control.as_ref(), args.token.as_deref()).map_err(Failure::usage)?;
    Ok(plan.control.clone())
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
    let records = Records::new(plan, keeps);
    Ok(Some(record_writer(records, log, failures)))
}

/// Adds to a report what its reader must know about the files of single requests.
fn note(report: &mut Report, written: Option<Written>, left_out: u64) -> Result<(), Failure> {
    let Some(written) = written else {
        return Ok(());
    };
    let warnings = &mut report.facts.warnings;
    if left_out > 0 {
        let left_out = grouped(left_out);
        let line = format!("{left_out} more requests failed than `--save-failures` keeps");
        warnings.push(line);
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
        Failure::new(1, line)
    })
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
