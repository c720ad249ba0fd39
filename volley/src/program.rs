//! The commands: each turns what the command line says into work, output and an exit status.

#[cfg(not(all(feature = "edit", feature = "import", feature = "lua")))]
mod absent;
mod blast;
mod check;
mod compare;
#[cfg(feature = "edit")]
mod edit;
mod failure;
mod files;
mod find;
#[cfg(feature = "import")]
mod import;
mod look;
#[cfg(feature = "lua")]
mod lua;
mod merge;
mod news;
mod once;
mod replies;
mod scenario;
mod status;
mod trial;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stderr, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

#[cfg(not(feature = "edit"))]
pub use absent::edit;
#[cfg(not(feature = "import"))]
pub use absent::import;
#[cfg(not(feature = "lua"))]
use absent::lua;
pub use blast::blast;
pub use check::check;
pub use compare::compare;
#[cfg(feature = "edit")]
pub use edit::edit;
pub use failure::Failure;
pub use find::find;
#[cfg(feature = "import")]
pub use import::import;
pub use look::look;
pub use merge::merge;
pub use scenario::run_scenario;
pub use trial::try_once;

use crate::cli::{Format, Listen, Output, Run, ServeArgs};
use crate::plain::{self, News, Reading, Session};
use crate::report::live::Live;
use crate::report::verdict::{self, Figures};
use crate::report::{
    Report, Verdict, csv, html, influx, json, own_section, prometheus, summary, visible,
};
use crate::serve;
use crate::spec::ListenAddress;
use crate::watch::{self, Calls, DebugLog, JsonLines, ReplyWriter, Server, Shown, Shows, Stats};
use files::Files;
use news::NewsDesk;

/// Runs the load and prints its report. Succeeds if at least one call succeeded and no threshold failed.
///
/// # Errors
///
/// Whatever prevented the load or the report.
pub fn run(run: &Run) -> Result<ExitCode, Failure> {
    let Run {
        spec,
        start_at,
        output,
        watched,
        warnings,
        ..
    } = run;
    warn(warnings, output);
    warn(spec.request.raised_words().as_slice(), output);
    let out = Out::open(output.file.as_deref())?;
    let is_watched = shows_live(output) || watched.tells_seconds();
    let session = Session::new(*start_at, is_watched)?;
    let stats = Arc::new(Mutex::new(Stats::new(spec)));
    let _servers = listen(run, &session, &stats)?;
    let mut files = Files::default();
    let mut open = |flag, path: &Option<PathBuf>| files.empty_if(flag, path.as_deref());
    let lines = open("--live-json", &watched.live_json)?.map(JsonLines::new);
    let mut log = open("--debug", &watched.debug)?.map(DebugLog::new);
    let saved = open("--save-replies", &watched.save_replies)?;
    let writer = replies::writer(watched.print_replies, saved);
    if let Some(log) = &mut log {
        log.start(&spec.public(), warnings);
    }
    let mut news = NewsDesk::new(run, &session, stats, lines, log);
    let on_news = &mut |item: News<'_>| news.tell(item);
    let report = match &writer {
        None => plain::run(spec, session, on_news),
        Some(writer) => {
            let script = |spec: &_, method: &_| Reading::new(spec, method, writer.source());
            plain::run_script(spec, script, session, on_news)
        }
    };
    let mut log = news.into_log();
    let written = writer.map(ReplyWriter::finish);
    if let (Some(log), Err(error)) = (&mut log, &report) {
        log.fail(&error.to_string());
    }
    let mut report = report?;
    let saved = replies::note(&mut report, written);
    if let Some(log) = &mut log {
        log.end(&report);
    }
    // `volley merge` judges the whole load.
    if !spec.load.share.is_part() {
        report.thresholds = verdict::judge(&spec.checks.fail_if, &Figures::from(&report));
    }
    let status = deliver(&report, output, out)?;
    saved?;
    files.keep();
    Ok(status)
}

/// Starts what shows the run to others.
fn listen(run: &Run, session: &Session, stats: &Arc<Mutex<Stats>>) -> Result<Vec<Server>, Failure> {
    let watched = &run.watched;
    let calls = Calls {
        stats: Arc::clone(stats),
        control: session.handle(),
    };
    let addresses = [&watched.control, &watched.metrics].map(Option::as_ref);
    show(&Arc::new(calls), addresses, watched.token.as_deref())
}

/// Shows a run where it takes orders, and where it does not.
fn show(
    run: &Arc<impl Shown + 'static>,
    [control, metrics]: [Option<&ListenAddress>; 2],
    token: Option<&str>,
) -> Result<Vec<Server>, Failure> {
    let mut servers = Vec::new();
    for (flag, address, takes_orders) in [("control", control, true), ("metrics", metrics, false)] {
        let Some(address) = address else {
            continue;
        };
        let shows = Shows {
            run: Arc::clone(run) as Arc<dyn Shown>,
            takes_orders,
            token: token.map(Into::into),
        };
        let server = watch::serve(address, shows).map_err(|error| {
            io::Error::other(format!("`--{flag}`: cannot listen on {address}: {error}"))
        })?;
        let place = server.address.to_string();
        // For the one who does not know the port; if nobody reads this, the run continues.
        let _ = writeln!(io::stderr(), "volley: {flag} at {}", visible(&place));
        servers.push(server);
    }
    Ok(servers)
}

/// Prints what the user must know before the run.
fn warn(warnings: &[String], output: &Output) {
    if !output.quiet {
        check::warn(warnings);
    }
}

/// Prints a report, and what it has failed.
fn deliver(report: &Report, output: &Output, out: Out<'_>) -> Result<ExitCode, Failure> {
    // On a terminal, volley's own facts come last. If both streams may go to the same file, they
    // come first: a reader would take anything after ghz's summary as a part of its last error.
    let adds_last = io::stderr().is_terminal();
    if !adds_last {
        print_own(report, output);
    }
    out.print(|out| print(report, output.format, out))?;
    if adds_last {
        print_own(report, output);
    }
    print_failed(&report.thresholds)?;
    Ok(status::of_calls(report.has_success(), &report.thresholds))
}

/// Even `--quiet` does not hide them.
fn print_failed(thresholds: &[Verdict]) -> io::Result<()> {
    to_stderr(|mut out| own_section::write_failed(thresholds, &mut out))
}

/// Prints to stderr what ghz's formats have no place for.
fn print_own(report: &Report, output: &Output) {
    remark(output, |mut out| match output.format {
        Format::Summary => own_section::write(report, &mut out),
        _ => own_section::write_warnings(&report.warnings, &mut out),
    });
}

/// Writes to stderr, unless it shall be quiet. The report and the exit status do not depend on it.
fn remark(output: &Output, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    if !output.quiet {
        let _ = buffered(io::stderr().lock(), write);
    }
}

/// Prints a text as it is.
///
/// # Errors
///
/// If stdout cannot be written to.
pub fn text(text: &str) -> Result<ExitCode, Failure> {
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the benchmark service until a signal comes.
///
/// # Errors
///
/// Whatever prevented it from listening.
pub fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    serve::run(config(args))?;
    Ok(ExitCode::SUCCESS)
}

fn config(args: &ServeArgs) -> serve::Config {
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let (address, unix) = match &args.listen {
        Listen::Tcp(address) => (*address, None),
        Listen::Unix(path) => (serve::Config::default().address, Some(path.into())),
    };
    serve::Config {
        address,
        unix,
        threads: args.threads.and_then(|n| NonZeroUsize::new(n as usize)),
        tls: tls.map(|(cert, key)| serve::Identity { cert, key }),
        max_concurrent_streams: args.max_concurrent_streams,
        token_life: args.token_life,
        service: args.queue(),
        faults: serve::Faults {
            freeze: args.freeze.first().copied(),
            reset_every: args.reset_every.and_then(NonZeroU64::new),
            goaway_after: args.goaway_after.and_then(NonZeroU64::new),
            wrong_at: args.wrong_value_at,
            trailers_only_every: args.trailers_only_every.and_then(NonZeroU64::new),
            truncate_every: args.truncate_every.and_then(NonZeroU64::new),
            garbage_every: args.garbage_every.and_then(NonZeroU64::new),
            close_every: args.close_every.and_then(NonZeroU64::new),
            delay: args.delay,
            delay_every: args.delay_every.and_then(NonZeroU64::new),
            unanswered_every: args.unanswered_every.and_then(NonZeroU64::new),
            statuses: args.status_every.clone(),
            no_location_every: args.no_location_every.and_then(NonZeroU64::new),
            duplicate_every: args.duplicate_every.and_then(NonZeroU64::new),
            wrong_value_every: args.wrong_value_every.and_then(NonZeroU64::new),
            bad_json_every: args.bad_json_every.and_then(NonZeroU64::new),
        },
        ..serve::Config::default()
    }
}

fn live_line(output: &Output) -> Live<Stderr> {
    Live::new(io::stderr(), shows_live(output))
}

/// Whether a user sees a run go on.
fn shows_live(output: &Output) -> bool {
    io::stderr().is_terminal() && !output.quiet
}

/// The destination of the report: a file, or stdout.
struct Out<'a> {
    file: Option<(&'a Path, File)>,
    /// After the file: it is removed if nothing is written to it.
    _files: Files,
}

impl<'a> Out<'a> {
    /// Opened before the load, so that a problem with it is found early.
    fn open(path: Option<&'a Path>) -> Result<Self, Failure> {
        let mut files = Files::default();
        let file = path.map(|path| Ok::<_, Failure>((path, files.open("--output", path)?)));
        Ok(Self {
            file: file.transpose()?,
            _files: files,
        })
    }

    fn print(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        match self.file {
            Some((path, file)) => files::empty(&file)
                .and_then(|()| buffered(file, write))
                .map_err(|error| files::unwritable("--output", path, &error))?,
            None => to_stdout(write)
                .map_err(|error| io::Error::other(format!("cannot write the report: {error}")))?,
        }
        Ok(())
    }
}

fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    buffered(io::stdout().lock(), write).or_else(unless_hung_up)
}

fn to_stderr(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    buffered(io::stderr().lock(), write).or_else(unless_hung_up)
}

fn buffered(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write(&mut out)?;
    out.flush()
}

fn print(report: &Report, format: Format, mut out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Summary => summary::write(report, &mut out),
        Format::Csv => csv::write(report, &mut out),
        Format::Json => json::write(report, &mut out),
        Format::Pretty => json::write_pretty(report, &mut out),
        Format::Html => html::write(report, &mut out),
        Format::Prometheus => prometheus::write(report, &mut out),
        Format::InfluxSummary => influx::write_summary(report, &mut out),
        Format::InfluxDetails => influx::write_details(report, &mut out),
    }
}

/// A reader that stops reading (`| head`) is not an error.
fn unless_hung_up(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}
