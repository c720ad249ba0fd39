use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::value::{self, path, time, whole};
use crate::spec::LbStrategy;
use crate::units::size;

/// What to call.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What to call")]
pub struct TargetArgs {
    /// Address of the server: host:port, such as localhost:8080 or [::1]:8080; several with commas; dns:///name,
    /// unix:/path, unix-abstract:name, passthrough:///host:port, ipv4:address:port, ipv6:[address]:port
    #[arg(value_name = "HOST")]
    pub host: Option<String>,

    /// The .proto file that describes the service (default: ask the server, by reflection)
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub proto: Option<PathBuf>,

    /// A compiled descriptor set, as protoc --include_imports -o writes it; ignored if --proto is
    /// given
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub protoset: Option<PathBuf>,

    /// Folders to search for imports, separated by commas; the folder of --proto and the current
    /// folder are always searched
    #[arg(short = 'i', long, value_name = "DIRS", value_parser = path, value_delimiter = ',')]
    pub import_paths: Option<Vec<PathBuf>>,

    /// Metadata of the calls that ask the server for its schema, as a JSON object of strings
    #[arg(long, value_name = "JSON", value_parser = value::strings)]
    pub reflect_metadata: Option<BTreeMap<String, String>>,

    /// The method: package.Service/Method or package.Service.Method
    #[arg(long, value_name = "METHOD")]
    pub call: Option<String>,

    /// Read the run from a .json, .toml or .yaml file: flags by their long names, or the sections
    /// of `volley schema`; the command line takes precedence
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub config: Option<PathBuf>,
}

/// How to connect.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connections and security")]
pub struct ConnectionArgs {
    /// Use plaintext HTTP/2 (h2c) instead of TLS
    #[arg(long)]
    pub insecure: Option<bool>,

    /// Use TLS, but accept any certificate
    #[arg(long = "skipTLS")]
    pub skip_tls: Option<bool>,

    /// Root certificates (PEM) to trust, instead of the system's
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub cacert: Option<PathBuf>,

    /// Client certificate chain (PEM); needs --key
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub cert: Option<PathBuf>,

    /// Private key (PEM) of --cert
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub key: Option<PathBuf>,

    /// Name that the server's certificate must have (default: --authority, else HOST)
    #[arg(long, value_name = "NAME")]
    pub cname: Option<String>,

    /// The :authority header (default: --cname, else HOST)
    #[arg(long, value_name = "NAME")]
    pub authority: Option<String>,

    /// How connections use several addresses: pick_first, all use the first that works; or
    /// round_robin, they are dealt out to all in turn (default pick_first)
    #[arg(long, value_name = "NAME", value_parser = lb_strategy)]
    pub lb_strategy: Option<LbStrategy>,

    /// + Look the server's name up again this often (default 0: when a connection is lost)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub resolve_every: Option<Duration>,

    /// + Close each connection after N calls, and open it again (default 0: never)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub reconnect_every: Option<u32>,

    /// Time limit for connecting, TLS included (default 10s)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub connect_timeout: Option<Duration>,

    /// Send a PING after this long without a byte from the server (default 0: never)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub keepalive: Option<Duration>,

    /// Compress requests with gzip
    #[arg(short = 'e', long)]
    pub enable_compression: Option<bool>,

    /// Largest reply to accept, as a SIZE (default 2 GiB)
    #[arg(long, value_name = "SIZE", value_parser = size::limit)]
    pub max_recv_message_size: Option<u32>,

    /// + Most memory for replies that have not come whole, or are inflated, of all calls together, as a
    ///   SIZE; a larger --max-recv-message-size raises it (default 128MiB)
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub max_memory: Option<u32>,

    /// Largest message to send, as a SIZE (default 2 GiB)
    #[arg(long, value_name = "SIZE", value_parser = size::limit)]
    pub max_send_message_size: Option<u32>,

    /// + HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub window: Option<u32>,
}

fn lb_strategy(name: &str) -> Result<LbStrategy, String> {
    match name.trim() {
        // An empty value counts as not given, as in ghz.
        "" | "pick_first" => Ok(LbStrategy::PickFirst),
        "round_robin" => Ok(LbStrategy::RoundRobin),
        _ => Err("give `pick_first` or `round_robin`".to_owned()),
    }
}
