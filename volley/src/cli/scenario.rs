//! `volley run`: a scenario file as load.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Command, CommandFactory, Parser, ValueEnum};

use super::apply::{filled_file, filled_path};
use super::files::need_file;
use super::options::{need_token, token};
use super::usage::{CliExit, UsageError};
use super::value::{path, span};
use super::{argv, files, help};
use crate::scenario::lua::is_program;
use crate::scenario::plan::TlsFiles;
use crate::spec::ListenAddress;
use crate::spec::threshold::Selected;
use crate::units::size;

const PROGRAM: &str = "volley run";
pub(super) const TITLE: &str = "Run the scenarios of a file";

/// The flags that only programs of Lua have.
const PROGRAMS: &str = "Programs of Lua";
const ONLY_PROGRAMS: &str = "only programs of Lua have it; a scenario file has keys for it";

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

/// What `volley run` is asked for.
#[derive(Clone, Debug, PartialEq, Parser)]
#[command(name = "volley run", about = ABOUT)]
pub struct ScenarioRun {
    /// The scenario file, YAML or JSON; or a program of Lua, x.lua
    #[arg(value_name = "FILE", value_parser = path, default_value = "", hide_default_value = true)]
    pub file: PathBuf,

    /// Threads that send (default: half of the CPUs, at most one for each connection)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Load")]
    pub threads: Option<u32>,

    /// Let scripts of Lua use files, modules and programs: whatever this user can reach
    #[arg(long, help_heading = "Load")]
    pub allow_io: bool,

    /// Most memory for bodies that have not come whole, or are inflated, of all requests together, as a
    /// SIZE; a larger `limits.body` raises it (default 128MiB)
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = "Load")]
    pub max_memory: Option<u32>,

    /// End the program after this time, such as 30s (default: it ends by itself)
    #[arg(short = 'z', long, value_name = "TIME", value_parser = span, help_heading = PROGRAMS)]
    pub duration: Option<Duration>,

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
    pub fail_if: Vec<Selected>,

    /// Write the report to a file (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// summary, json, pretty, csv, html or prometheus (default: what the name of -o ends with, .json,
    /// .csv, .html or .prom; otherwise summary)
    #[arg(short = 'O', long, value_name = "FORMAT", help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    format: Option<ScenarioFormat>,

    /// Write a line of JSON for each request
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    pub log: Option<PathBuf>,

    /// Write a line of JSON for each of the first 1,000 requests that fail, with what was sent and
    /// what came back; secrets are masked
    #[arg(long, value_name = "FILE", value_parser = path, help_heading = "Output")]
    pub save_failures: Option<PathBuf>,

    /// Serve Prometheus metrics at GET /metrics of an ADDRESS: 127.0.0.1:9090, :9090 (localhost) or
    /// unix:/path
    #[arg(long, value_name = "ADDRESS", help_heading = "Output")]
    pub metrics: Option<ListenAddress>,

    /// The same, and take orders (default: the file's `control`): GET /v1/stats, POST /v1/pause,
    /// /v1/resume and /v1/stop, PATCH /v1/load {"rate": "0.5/s"}, {"users": N}, {"phases": true} or
    /// {"weights": {"crud": N}}; of several loads, one is named by {"scenario": "crud"}, or by a list of
    /// those that share it
    #[arg(long, value_name = "ADDRESS", help_heading = "Output")]
    pub control: Option<ListenAddress>,

    /// Clients must send this token (Authorization: Bearer TOKEN); needed where other hosts can reach
    /// an ADDRESS (default: $VOLLEY_TOKEN)
    #[arg(long = "control-token", value_name = "TOKEN", help_heading = "Output")]
    pub token: Option<String>,

    /// The command line gives the token, and not the environment.
    #[arg(skip)]
    pub has_token_flag: bool,

    /// Print nothing but the report, errors and failed thresholds
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

impl ScenarioRun {
    /// How the report is written.
    #[must_use]
    pub fn format(&self) -> ScenarioFormat {
        let of_name = || ScenarioFormat::of_name(self.output.as_deref()?);
        self.format.or_else(of_name).unwrap_or_default()
    }

    /// The files of a program's TLS.
    #[must_use]
    pub fn tls(&self) -> TlsFiles {
        TlsFiles {
            ca: self.cacert.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
            server_name: None,
            skips_verification: self.skip_tls,
        }
    }

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

    /// Checks that no flag is given which this kind of file does not have.
    fn check_kind(&self) -> Result<(), CliExit> {
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
        let (strange, why) = match is_program(&self.file) {
            true => (&of_scenarios[..], "a program of Lua has none"),
            false => (&of_programs[..], ONLY_PROGRAMS),
        };
        match strange.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(CliExit::usage(format!("`{flag}`: {why}"))),
            None => Ok(()),
        }
    }
}

/// Reads the words after `volley run`.
pub(super) fn parse(words: &[OsString]) -> Result<ScenarioRun, CliExit> {
    let mut run: ScenarioRun = argv::read(PROGRAM, command, words)?;
    need_file(&run.file, "a scenario file, such as `shop.yaml`")?;
    run.has_token_flag = run.token.as_ref().is_some_and(|token| !token.is_empty());
    run.token = token(run.token.as_deref());
    for (flag, address) in [("--control", &run.control), ("--metrics", &run.metrics)] {
        need_token(flag, address.as_ref(), run.token.as_deref())?;
    }
    run.check_kind()?;
    run.output = filled_file(&run.output);
    run.log = filled_path(&run.log);
    run.save_failures = filled_path(&run.save_failures);
    run.check_files(std::iter::once(run.file.as_path()))?;
    Ok(run)
}

pub(super) fn command() -> Command {
    help::dress(ScenarioRun::command(), EXAMPLES).override_usage("volley run [FLAGS] FILE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::{parsed, refused};

    #[test]
    fn a_file_thresholds_and_a_format_are_taken() {
        let line = "a.yaml --fail-if p99(create)␣>␣50ms -O csv --threads 2";
        let run = parsed(parse, line).unwrap();
        let taken = (run.fail_if.len(), run.threads, run.format());
        assert_eq!(taken, (1, Some(2), ScenarioFormat::Csv));
        assert_eq!(run.file, Path::new("a.yaml"));
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        refused(
            parse,
            &["", "a b", "a -O xml", "a --threads 0", "a --fail-if p99"],
        );
        let files = ["-o a.yaml", "--log -", "--log l --save-failures l"];
        let of_programs = ["--duration 1s", "--cacert ca.pem"];
        let words = files.iter().chain(&of_programs);
        let lines: Vec<_> = words.map(|words| format!("a.yaml {words}")).collect();
        refused(parse, &lines);
        let of_scenarios = ["--log l", "--threads 1"];
        let wrong = ["--cert c", "--duration 0s"];
        let words = of_scenarios.iter().chain(&wrong);
        let lines: Vec<_> = words.map(|words| format!("a.lua {words}")).collect();
        refused(parse, &lines);
    }

    #[test]
    fn the_format_is_that_of_the_flag_or_of_the_name_of_the_report() {
        for (words, format) in [
            ("-o r.html", ScenarioFormat::Html),
            ("-o r.json", ScenarioFormat::Json),
            ("-o r.csv", ScenarioFormat::Csv),
            ("-o r.prom", ScenarioFormat::Prometheus),
            ("-o r.txt", ScenarioFormat::Summary),
            ("-o html", ScenarioFormat::Summary),
            ("-o r.html -O pretty", ScenarioFormat::Pretty),
            ("-O csv", ScenarioFormat::Csv),
        ] {
            let run = parsed(parse, &format!("a.yaml {words}")).unwrap();
            assert_eq!(run.format(), format, "{words}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_asked_for() {
        let line = "error: `--threads`: invalid value `x`: a whole number is needed";
        assert_eq!(parsed(parse, "a.yaml --threads x"), Err(line.to_owned()));
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
}
