//! `volley run`: a scenario file as load.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Command, CommandFactory, FromArgMatches, Parser, ValueEnum};

use super::apply::{filled_file, filled_path};
use super::exit::{CliExit, UsageError};
use super::options::{need_token, token};
use super::value::{path, span};
use super::{argv, files, help, usage};
use crate::scenario::lua::is_program;
use crate::scenario::plan::TlsFiles;
use crate::spec::ListenAddress;
use crate::spec::threshold::Selected;
use crate::units::size;

const PROGRAM: &str = "volley run";

/// The flags that only programs of Lua have.
const PROGRAMS: &str = "Programs of Lua";

const ABOUT: &str = "\
Run the scenarios of a file: setup, load, teardown. `volley check FILE` reports what it would do.
Or run a program of Lua, x.lua, whose own coroutines are the load.

A CONDITION is FIGURE or FIGURE(PART), a comparison and a limit: 'p99(create) > 50ms',
'failed(crud) > 1%', 'checks < 99.9%', 'dropped > 0'. A PART is a scenario, a step, or both:
crud.create. The file's own thresholds say what must hold; a CONDITION says what must not.
Figures count requests, as the table Requests does; `iterations`, `iterations-ok`,
`iterations-failed`, `dropped`, `iteration p99` and `delay p99` count iterations.

Exit status: 0 if all thresholds hold; without thresholds, 0 if no iteration failed. 1 if no request
succeeded, the run broke off, or, without thresholds, an iteration failed; 2 if the file is wrong;
99 if a threshold failed; 130 after a second interrupt, which cuts what is open. A program that
sends no request, such as a server, has 0.";

const EXAMPLES: &str = "\
Examples:
  volley run shop.yaml
  volley run shop.yaml --fail-if 'p99(create) > 50ms' --fail-if 'failed > 0.1%'
  volley run shop.yaml -o shop.html
  volley run shop.lua --duration 1m";

/// What `volley run` is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioRun {
    pub file: PathBuf,
    /// Threads that send; `None`: as many as suit the host.
    pub threads: Option<u32>,
    /// Scripts may use files.
    pub allow_io: bool,
    /// The memory, in bytes, of bodies that have not come whole, or are inflated; `None`: the default.
    pub max_memory: Option<u32>,
    /// When a program is ended; `None`: it ends by itself.
    pub duration: Option<Duration>,
    /// The files of a program's TLS.
    pub tls: TlsFiles,
    /// Conditions under which the run has failed, besides those of the file.
    pub fail_if: Vec<Selected>,
    /// Where the report goes; `None`: stdout.
    pub output: Option<PathBuf>,
    pub format: ScenarioFormat,
    /// Where a line for each request goes.
    pub log: Option<PathBuf>,
    /// Where requests that failed go, with all that was sent and received.
    pub save_failures: Option<PathBuf>,
    /// Where the run is shown and changed, instead of the file's `control`.
    pub control: Option<ListenAddress>,
    /// Where it is shown.
    pub metrics: Option<ListenAddress>,
    /// What clients must know.
    pub token: Option<String>,
    /// The command line gives it.
    pub has_token_flag: bool,
    /// Neither live lines nor warnings are printed.
    pub quiet: bool,
}

impl ScenarioRun {
    /// Checks that nothing is written to a file twice, or to one that is read.
    ///
    /// # Errors
    ///
    /// If two of them are one.
    pub fn check_files<'a>(&self, read: impl Iterator<Item = &'a Path>) -> Result<(), UsageError> {
        let logs = [
            ("--log", &self.log),
            ("--save-failures", &self.save_failures),
        ];
        let output = std::iter::once(files::output(self.output.as_deref()));
        let written: Vec<_> = output.chain(files::given(&logs)).collect();
        let read: Vec<_> = read.map(|file| ("FILE", file)).collect();
        files::check(&written, &read)
    }
}

/// How a report of scenarios is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ScenarioFormat {
    #[default]
    Summary,
    Json,
    Pretty,
    Csv,
    Html,
    Prometheus,
}

impl ScenarioFormat {
    /// What the name of a report's file promises.
    fn of_name(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "html" => Some(Self::Html),
            "prom" => Some(Self::Prometheus),
            _ => None,
        }
    }
}

/// The words of `volley run`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley run", about = ABOUT)]
struct RunWords {
    /// The scenario file, YAML or JSON; or a program of Lua, x.lua
    #[arg(value_name = "FILE", value_parser = path)]
    file: Option<PathBuf>,

    /// Threads that send (default: half of the CPUs, at most one for each connection)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Load")]
    threads: Option<u32>,

    /// Let scripts of Lua use files, modules and programs: whatever this user can reach
    #[arg(long, help_heading = "Load")]
    allow_io: bool,

    /// Most memory for bodies that have not come whole, or are inflated, of all requests together, as a
    /// SIZE; a larger `limits.body` raises it (default 128MiB)
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = "Load")]
    max_memory: Option<u32>,

    /// End the program after this time, such as 30s (default: it ends by itself)
    #[arg(short = 'z', long, value_name = "TIME", value_parser = span, help_heading = PROGRAMS)]
    duration: Option<Duration>,

    /// Trust the authorities in this PEM file
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = PROGRAMS)]
    cacert: Option<PathBuf>,

    /// Show this certificate, and prove it with --key
    #[arg(long, value_name = "FILE", value_parser = path, requires = "key", help_heading = PROGRAMS)]
    cert: Option<PathBuf>,

    /// The private key of --cert
    #[arg(long, value_name = "FILE", value_parser = path, requires = "cert", help_heading = PROGRAMS)]
    key: Option<PathBuf>,

    /// Accept any certificate of a server
    #[arg(long = "skipTLS", help_heading = PROGRAMS)]
    skip_tls: bool,

    /// Exit with status 99 if this is so; repeatable
    #[arg(long, value_name = "CONDITION", help_heading = "Checks")]
    fail_if: Vec<Selected>,

    /// Write the report to a file (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    output: Option<PathBuf>,

    /// summary, json, pretty, csv, html or prometheus (default: what the name of -o ends with, .json,
    /// .csv, .html or .prom; otherwise summary)
    #[arg(
        short = 'O',
        long,
        value_name = "FORMAT",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: Option<ScenarioFormat>,

    /// Write a line of JSON for each request
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    log: Option<PathBuf>,

    /// Write a line of JSON for each of the first 1,000 requests that fail, with what was sent and
    /// what came back; secrets are masked
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    save_failures: Option<PathBuf>,

    /// Serve Prometheus metrics at GET /metrics of an ADDRESS: 127.0.0.1:9090, :9090 (localhost) or
    /// unix:/path
    #[arg(long, value_name = "ADDRESS", help_heading = "Output")]
    metrics: Option<ListenAddress>,

    /// The same, and take orders (default: the file's `control`): GET /v1/stats, POST /v1/pause,
    /// /v1/resume and /v1/stop, PATCH /v1/load {"rate": "0.5/s"}, {"users": N}, {"phases": true} or
    /// {"weights": {"crud": N}}; of several loads, one is named by {"scenario": "crud"}, or by a list of
    /// those that share it
    #[arg(long, value_name = "ADDRESS", help_heading = "Output")]
    control: Option<ListenAddress>,

    /// Clients must send this token (Authorization: Bearer TOKEN); needed where other hosts can reach
    /// an ADDRESS (default: $VOLLEY_TOKEN)
    #[arg(long, value_name = "TOKEN", help_heading = "Output")]
    control_token: Option<String>,

    /// Print nothing but the report, errors and failed thresholds
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

impl RunWords {
    /// Checks that no flag is given which this kind of file does not have.
    fn check_kind(&self, file: &Path) -> Result<(), CliExit> {
        let of_programs = [
            ("--duration", self.duration.is_some()),
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--skipTLS", self.skip_tls),
        ];
        let of_scenarios = [
            ("--threads", self.threads.is_some()),
            ("--log", self.log.is_some()),
            ("--save-failures", self.save_failures.is_some()),
            ("--control", self.control.is_some()),
            ("--metrics", self.metrics.is_some()),
        ];
        let (strange, why) = match is_program(file) {
            true => (&of_scenarios[..], "a program of Lua has none"),
            false => (
                &of_programs[..],
                "only programs of Lua have it; a scenario file has keys for it",
            ),
        };
        let given = strange.iter().find(|(_, is_given)| *is_given);
        given.map_or(Ok(()), |(flag, _)| {
            Err(CliExit::usage(format!("`{flag}`: {why}")))
        })
    }
}

/// Reads the words after `volley run`.
pub(super) fn parse(words: &[OsString]) -> Result<ScenarioRun, CliExit> {
    let matches = argv::matches(PROGRAM, &command(), command, words)?;
    let args =
        RunWords::from_arg_matches(&matches).map_err(|error| usage::exit(PROGRAM, &error))?;
    let file = args
        .file
        .clone()
        .ok_or_else(|| CliExit::usage("no FILE: give a scenario file, such as `shop.yaml`"))?;
    let token = token(args.control_token.as_deref());
    for (flag, address) in [("--control", &args.control), ("--metrics", &args.metrics)] {
        need_token(flag, address.as_ref(), token.as_deref())
            .map_err(|error| CliExit::usage(error.to_string()))?;
    }
    args.check_kind(&file)?;
    let output = filled_file(&args.output);
    let of_name = || output.as_deref().and_then(ScenarioFormat::of_name);
    let run = ScenarioRun {
        format: args.format.or_else(of_name).unwrap_or_default(),
        file,
        duration: args.duration,
        tls: TlsFiles {
            ca: args.cacert,
            cert: args.cert,
            key: args.key,
            server_name: None,
            skips_verification: args.skip_tls,
        },
        control: args.control,
        metrics: args.metrics,
        token,
        has_token_flag: args.control_token.is_some_and(|token| !token.is_empty()),
        threads: args.threads,
        allow_io: args.allow_io,
        max_memory: args.max_memory,
        fail_if: args.fail_if,
        output,
        log: filled_path(&args.log),
        save_failures: filled_path(&args.save_failures),
        quiet: args.quiet,
    };
    run.check_files(std::iter::once(run.file.as_path()))
        .map_err(|error| CliExit::usage(error.to_string()))?;
    Ok(run)
}

pub(super) fn command() -> Command {
    help::dress(RunWords::command(), EXAMPLES).override_usage("volley run [FLAGS] FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<ScenarioRun, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map_err(|exit| exit.to_string())
    }

    #[test]
    fn a_file_thresholds_and_a_format_are_taken() {
        let parsed = run(&[
            "a.yaml",
            "--fail-if",
            "p99(create) > 50ms",
            "-O",
            "csv",
            "--threads",
            "2",
        ]);
        let parsed = parsed.unwrap();
        assert_eq!((parsed.file, parsed.threads), ("a.yaml".into(), Some(2)));
        assert_eq!(
            (parsed.fail_if.len(), parsed.format),
            (1, ScenarioFormat::Csv)
        );
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for words in [
            &[][..],
            &["a", "b"],
            &["a", "-O", "xml"],
            &["a", "--threads", "0"],
            &["a", "--fail-if", "p99"],
            &["a.yaml", "-o", "a.yaml"],
            &["a.yaml", "--log", "-"],
            &["a.yaml", "--log", "l", "--save-failures", "l"],
            &["a.yaml", "--duration", "1s"],
            &["a.yaml", "--cacert", "ca.pem"],
            &["a.lua", "--log", "l"],
            &["a.lua", "--threads", "1"],
            &["a.lua", "--cert", "c"],
            &["a.lua", "--duration", "0s"],
        ] {
            let line = run(words).unwrap_err();
            assert!(
                line.starts_with("error: ") && !line.contains('\n'),
                "{line}"
            );
        }
    }

    #[test]
    fn the_format_is_that_of_the_flag_or_of_the_name_of_the_report() {
        for (words, format) in [
            (&["-o", "r.html"][..], ScenarioFormat::Html),
            (&["-o", "r.json"], ScenarioFormat::Json),
            (&["-o", "r.csv"], ScenarioFormat::Csv),
            (&["-o", "r.prom"], ScenarioFormat::Prometheus),
            (&["-o", "r.txt"], ScenarioFormat::Summary),
            (&["-o", "html"], ScenarioFormat::Summary),
            (&["-o", "r.html", "-O", "pretty"], ScenarioFormat::Pretty),
            (&["-O", "csv"], ScenarioFormat::Csv),
        ] {
            let words = [&["a.yaml"][..], words].concat();
            assert_eq!(run(&words).unwrap().format, format, "{words:?}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_asked_for() {
        assert_eq!(
            run(&["a.yaml", "--threads", "x"]),
            Err("error: `--threads`: invalid value `x`: a whole number is needed".to_owned())
        );
    }

    #[test]
    fn formats_are_completed() {
        let command = command();
        let format = command.get_arguments().find(|arg| arg.get_id() == "format");
        let values = format.unwrap().get_possible_values();
        let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        assert_eq!(
            names,
            ["summary", "json", "pretty", "csv", "html", "prometheus"]
        );
    }

    #[test]
    fn help_says_what_it_does() {
        let help = command().term_width(100).render_help().to_string();
        assert_eq!(help, include_str!("../../tests/expected/run-help.txt"));
    }
}
