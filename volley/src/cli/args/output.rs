use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use crate::cli::json;
use crate::cli::value::{path, whole};

/// What to report.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the report to a file (default: stdout)
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path)]
    pub output: Option<PathBuf>,

    /// summary (default), csv, json, pretty (json for people), html or prometheus
    #[arg(short = 'O', long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,

    /// Name of the run, for the report
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Tags of the run, for the report, as a JSON object of strings
    #[arg(long, value_name = "JSON", value_parser = json::strings)]
    pub tags: Option<BTreeMap<String, String>>,

    /// Leave the first N finished calls out of the report
    #[arg(long = "skipFirst", value_name = "N", value_parser = whole::<u64>)]
    pub skip_first: Option<u64>,

    /// Include failed calls in the latency figures
    #[arg(long)]
    pub count_errors: Option<bool>,

    /// + Calls to list one by one in csv and json (default 0; csv: 1000000)
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub details: Option<u64>,

    /// + Show no progress line on the terminal
    #[arg(long)]
    pub quiet: Option<bool>,
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
}

fn format(text: &str) -> Result<Format, &'static str> {
    match text {
        "summary" => Ok(Format::Summary),
        "csv" => Ok(Format::Csv),
        "json" => Ok(Format::Json),
        "pretty" => Ok(Format::Pretty),
        "html" => Ok(Format::Html),
        "prometheus" => Ok(Format::Prometheus),
        "influx-summary" => Err("volley does not write InfluxDB lines: use `prometheus`"),
        "influx-details" => Err("volley does not write InfluxDB lines: use `csv`"),
        _ => Err("use `summary`, `csv`, `json`, `pretty`, `html` or `prometheus`"),
    }
}
