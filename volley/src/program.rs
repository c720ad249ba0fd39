//! The commands: run a load and print its report, or serve.

mod blast;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Stderr, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub use blast::blast;

use crate::cli::{Format, Options, ServeArgs};
use crate::engine::{self, EngineError, News};
use crate::measure::Progress;
use crate::report::live::{self, Live, Moment};
use crate::report::{Report, csv, html, json, own_section, pretty, prometheus, summary};
use crate::serve::{self, ServeError};

/// The error that ended the program, and its exit status.
#[derive(Debug)]
pub struct Failure {
    /// 2 if the command line is wrong, otherwise 1.
    pub status: u8,
    /// One line for people.
    pub message: String,
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self {
            status: if error.is_usage() { 2 } else { 1 },
            message: error.to_string(),
        }
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        Self {
            status: if error.is_usage() { 2 } else { 1 },
            message: error.to_string(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            status: 1,
            message: error.to_string(),
        }
    }
}

/// Runs the load and prints its report. Succeeds if at least one call succeeded.
///
/// # Errors
///
/// Whatever prevented the load or the report.
pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let out = Out::open(options)?;
    let report = with_live_line(options, |on_news| engine::run(options, on_news))?;
    // On a terminal, volley's own facts come last. If both streams may go to the same file, they
    // come first: a reader would take anything after ghz's summary as a part of its last error.
    let adds_last = io::stderr().is_terminal();
    if !adds_last {
        print_own(&report, options)?;
    }
    out.print(|out| print(&report, options.format, out))?;
    if adds_last {
        print_own(&report, options)?;
    }
    Ok(success_if(report.calls.ok > 0))
}

/// The exit status says whether any call succeeded.
fn success_if(any_ok: bool) -> ExitCode {
    if any_ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints to stderr what ghz's formats have no place for.
fn print_own(report: &Report, options: &Options) -> io::Result<()> {
    if options.quiet {
        return Ok(());
    }
    buffered(io::stderr().lock(), |mut out| match options.format {
        Format::Summary => own_section::write(report, &mut out),
        _ => own_section::write_warnings(&report.warnings, &mut out),
    })
    .or_else(unless_hung_up)
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
    serve::Config {
        address: args.listen,
        threads: args.threads.and_then(|n| NonZeroUsize::new(n as usize)),
        tls: tls.map(|(cert, key)| serve::Identity { cert, key }),
        max_concurrent_streams: args.max_concurrent_streams,
        faults: serve::Faults {
            freeze: args.freeze.first().map(|freeze| serve::Freeze {
                at: freeze.at,
                length: freeze.lasts,
            }),
            reset_every: args.reset_every.and_then(NonZeroU64::new),
            goaway_after: args.goaway_after.and_then(NonZeroU64::new),
            wrong_at: args.wrong_value_at,
            trailers_only_every: args.trailers_only_every.and_then(NonZeroU64::new),
            truncate_every: args.truncate_every.and_then(NonZeroU64::new),
            garbage_every: args.garbage_every.and_then(NonZeroU64::new),
            close_every: args.close_every.and_then(NonZeroU64::new),
            delay: args.delay,
        },
        ..serve::Config::default()
    }
}

fn with_live_line<T>(options: &Options, work: impl FnOnce(engine::OnNews<'_>) -> T) -> T {
    let mut live = live_line(options);
    let mut before = Progress::default();
    let length = options.duration.or(options.max_duration);
    let done = work(&mut |news| {
        let News::Tick(now, elapsed_s) = news else {
            // For the one who writes the line to stdin; if nobody reads this, the run continues.
            let _ = writeln!(io::stderr(), "volley: warm");
            return;
        };
        let elapsed = Duration::try_from_secs_f64(elapsed_s).unwrap_or_default();
        let moment = Moment {
            messages_per_s: now.messages.saturating_sub(before.messages) as f64,
            calls_per_s: (now.ok + now.failed).saturating_sub(before.ok + before.failed) as f64,
            failed: now.failed,
            elapsed,
            left: length.map(|length| length.saturating_sub(elapsed)),
        };
        before = *now;
        // The line is for a person; a run continues if nobody reads it.
        let _ = live.draw(&live::line(&moment));
    });
    let _ = live.clear();
    done
}

fn live_line(options: &Options) -> Live<Stderr> {
    let terminal = io::stderr();
    let is_shown = terminal.is_terminal() && !options.quiet;
    Live::new(terminal, is_shown)
}

/// The destination of the report: a file, or stdout.
struct Out<'a> {
    file: Option<(&'a Path, File)>,
}

impl<'a> Out<'a> {
    /// Opened before the load, so that a problem with it is found early.
    fn open(options: &'a Options) -> Result<Self, Failure> {
        let Some(path) = options.output.as_deref() else {
            return Ok(Self { file: None });
        };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|error| unwritable(path, &error))?;
        Ok(Self {
            file: Some((path, file)),
        })
    }

    fn print(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        match self.file {
            Some((path, file)) => empty(&file)
                .and_then(|()| buffered(file, write))
                .map_err(|error| unwritable(path, &error))?,
            None => buffered(io::stdout().lock(), write)
                .or_else(unless_hung_up)
                .map_err(|error| io::Error::other(format!("cannot write the report: {error}")))?,
        }
        Ok(())
    }
}

fn buffered(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write(&mut out)?;
    out.flush()
}

/// Truncates the file of an older report. A device or a pipe cannot be truncated, and refuses.
fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!(
        "`--output`: cannot write `{}`: {error}",
        path.display()
    ))
}

fn print(report: &Report, format: Format, mut out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Summary => summary::write(report, &mut out),
        Format::Csv => csv::write(report, &mut out),
        Format::Json => json::write(report, &mut out),
        Format::Pretty => pretty::write(report, &mut out),
        Format::Html => html::write(report, &mut out),
        Format::Prometheus => prometheus::write(report, &mut out),
    }
}

/// A reader that stops reading (`| head`) is not an error.
fn unless_hung_up(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Ok(())
    } else {
        Err(error)
    }
}
