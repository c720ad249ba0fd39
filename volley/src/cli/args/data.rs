use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::value::{self, path, positive, time, whole};
use crate::spec::Threshold;

/// What to send.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Request as JSON, or a list of requests: a client that streams sends them all in each call,
    /// otherwise calls take them in turn; @ reads stdin
    #[arg(short = 'd', long, value_name = "JSON", value_parser = value::messages)]
    pub data: Option<String>,

    /// Read --data from a file; users.csv (the header names fields) and users.jsonl (an object on
    /// each line) are lists
    #[arg(short = 'D', long, value_name = "FILE", value_parser = path)]
    pub data_file: Option<PathBuf>,

    /// Read the request from stdin as protobuf: one message, or several, each preceded by its
    /// length (varint)
    #[arg(short = 'b', long)]
    pub binary: Option<bool>,

    /// Read the request from a file, in the format of --binary
    #[arg(short = 'B', long, value_name = "FILE", value_parser = path)]
    pub binary_file: Option<PathBuf>,

    /// Metadata of each call, as a JSON object of strings
    #[arg(short = 'm', long, value_name = "JSON", value_parser = value::metadata)]
    pub metadata: Option<BTreeMap<String, String>>,

    /// Read --metadata from a file
    #[arg(short = 'M', long, value_name = "FILE", value_parser = path)]
    pub metadata_file: Option<PathBuf>,

    /// Pause between the messages that a call sends
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub stream_interval: Option<Duration>,

    /// + Messages a second that each stream sends, until the window's end; -c streams take turns, and each message is due at
    ///   its own time, from which its reply is timed. For a client and a server that both stream
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    pub stream_rate: Option<u32>,

    /// End each streaming call after this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub stream_call_duration: Option<Duration>,

    /// End each streaming call after N messages: sent (data repeats as needed) or received
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub stream_call_count: Option<u64>,

    /// Fill in templates for each message that a call sends, not once for each call
    #[arg(long)]
    pub stream_dynamic_messages: Option<bool>,

    /// Refuse template functions in data and metadata, such as {{randomInt 1 9}}
    #[arg(long)]
    pub disable_template_functions: Option<bool>,

    /// Send data and metadata as they are: do not fill in {{…}}
    #[arg(long)]
    pub disable_template_data: Option<bool>,
}

/// What the replies, and the whole run, must be.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// + Rule that every reply must satisfy, such as 'result = a + b + i' (a and b: fields of the
    ///   request; i: index of the reply); repeatable
    #[arg(long, value_name = "RULE")]
    pub expect: Option<Vec<String>>,

    /// + Number of replies that each call must get
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub expect_replies: Option<u64>,

    /// + Exit with status 99 if this is so: 'p99 > 20ms', 'failed > 0.1%', 'rate < 9000';
    ///   repeatable. Figures: any percentile (p99.9), mean, min, max, also after first-message, gap,
    ///   service or send-delay; rate and messages (both per second); ok, failed, wrong, cut, sent,
    ///   missed, late. A condition that cannot be decided fails, too: a time that is only a lower
    ///   bound ("≥": too many calls had no end), or a percentile of too few calls
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Option<Vec<Threshold>>,
}
