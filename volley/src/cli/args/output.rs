use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use crate::cli::value::{self, path, whole};
use crate::report::Report;
use crate::spec::ListenAddress;

/// Where a report goes, and how it is written.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Output")]
pub struct ReportArgs {
    /// Write the report to a file (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path)]
    pub output: Option<PathBuf>,

    /// summary (default), csv, json, pretty (json for people), html, prometheus, influx-summary or
    /// influx-details
    #[arg(short = 'O', long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,
}

/// What to report.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[command(flatten)]
    pub report: ReportArgs,

    /// Name of the run, for the report
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Tags of the run, for the report, as a JSON object of strings
    #[arg(long, value_name = "JSON", value_parser = value::strings)]
    pub tags: Option<BTreeMap<String, String>>,

    /// Leave the first N finished calls out of the report
    #[arg(long = "skipFirst", value_name = "N", value_parser = whole::<u64>)]
    pub skip_first: Option<u64>,

    /// Include failed calls in the latency figures
    #[arg(long)]
    pub count_errors: Option<bool>,

    /// + Calls to list one by one: the first N to end (default 0), or all, as ghz does: at most
    ///   1000000, the default of csv and influx-details; each takes 40 bytes of memory
    #[arg(long, value_name = "N|all", value_parser = details)]
    pub details: Option<u64>,

    /// + Show secret metadata (authorization, cookie, names with key, token, secret, password) in
    ///   reports; otherwise *** stands there
    #[arg(long)]
    pub show_secrets: Option<bool>,

    /// + Print nothing but the report: no live line, no warnings
    #[arg(long)]
    pub quiet: Option<bool>,
}

/// What others see of a run while it goes on, and how they change it.
#[derive(Args, Clone, Debug, Default)]
#[command(
    next_help_heading = "While it runs (on a terminal, without --quiet: + and - change the load, p pauses, q ends)"
)]
pub struct WatchArgs {
    /// Write a log to a file: lines of JSON for the start, each second, each change, the kept calls
    /// of --details, and the end; - is stdout
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub debug: Option<PathBuf>,

    /// + Write a line of JSON for each second; - is stdout
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub live_json: Option<PathBuf>,

    /// + Serve Prometheus metrics at GET /metrics of an ADDRESS: 127.0.0.1:9090, :9090 (localhost)
    ///   or unix:/path
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<ListenAddress>,

    /// + The same, and take orders: PATCH /v1/load {"rps": N} or {"concurrency": N}, POST /v1/pause,
    ///   /v1/resume and /v1/stop, GET /v1/stats
    #[arg(long, value_name = "ADDRESS")]
    pub control: Option<ListenAddress>,

    /// + Print the first N replies to stderr, a line of JSON each
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub print_replies: Option<u64>,

    /// + Save all replies and statuses, a line of JSON each; the load waits for the file if it
    ///   must; - is stdout
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub save_replies: Option<PathBuf>,

    /// + Clients must send this token (Authorization: Bearer TOKEN); needed where other hosts can reach
    ///   an ADDRESS (default: $VOLLEY_TOKEN)
    #[arg(long, value_name = "TOKEN")]
    pub control_token: Option<String>,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Summary,
    Csv,
    Json,
    /// JSON, indented.
    Pretty,
    Html,
    Prometheus,
    /// InfluxDB's line protocol: the run.
    InfluxSummary,
    /// The same: each single call.
    InfluxDetails,
}

fn format(text: &str) -> Result<Format, &'static str> {
    match text {
        "summary" => Ok(Format::Summary),
        "csv" => Ok(Format::Csv),
        "json" => Ok(Format::Json),
        "pretty" => Ok(Format::Pretty),
        "html" => Ok(Format::Html),
        "prometheus" => Ok(Format::Prometheus),
        "influx-summary" => Ok(Format::InfluxSummary),
        "influx-details" => Ok(Format::InfluxDetails),
        _ => Err(
            "use `summary`, `csv`, `json`, `pretty`, `html`, `prometheus`, `influx-summary` or `influx-details`",
        ),
    }
}

/// A number of calls, or `all` that ghz keeps.
fn details(text: &str) -> Result<u64, String> {
    match text.trim() {
        "all" => Ok(Report::DETAILS_MOST as u64),
        text => whole(text).map_err(|error| format!("{error}, or `all`")),
    }
}
