use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::json;
use crate::cli::value::{path, time, whole};

/// What to send.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Request as JSON, or a list of them: taken in turn by unary calls, sent in one call by
    /// streams; @ reads stdin
    #[arg(short = 'd', long, value_name = "JSON", value_parser = json::messages)]
    pub data: Option<String>,

    /// Read --data from a file
    #[arg(short = 'D', long, value_name = "FILE", value_parser = path)]
    pub data_file: Option<PathBuf>,

    /// Read the request from stdin as protobuf: one message, or several, each after its length
    /// (varint)
    #[arg(short = 'b', long)]
    pub binary: Option<bool>,

    /// Read what --binary takes from a file
    #[arg(short = 'B', long, value_name = "FILE", value_parser = path)]
    pub binary_file: Option<PathBuf>,

    /// Metadata of each call, as a JSON object of strings
    #[arg(short = 'm', long, value_name = "JSON", value_parser = json::strings)]
    pub metadata: Option<BTreeMap<String, String>>,

    /// Read --metadata from a file
    #[arg(short = 'M', long, value_name = "FILE", value_parser = path)]
    pub metadata_file: Option<PathBuf>,

    /// Pause between the messages a call sends
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub stream_interval: Option<Duration>,

    /// End each streaming call after this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub stream_call_duration: Option<Duration>,

    /// End each streaming call after N messages, sent (the data is repeated as needed) or received
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub stream_call_count: Option<u64>,

    /// Refuse template functions such as {{randomInt 1 9}} in data and metadata
    #[arg(long)]
    pub disable_template_functions: Option<bool>,

    /// Send data and metadata as they stand, {{…}} included
    #[arg(long)]
    pub disable_template_data: Option<bool>,
}
