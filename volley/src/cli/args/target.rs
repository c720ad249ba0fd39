use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::value::{path, time};
use crate::units::size;

/// What to call.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What to call")]
pub struct TargetArgs {
    /// Address of the server: host:port, such as localhost:8080 or [::1]:8080
    #[arg(value_name = "HOST")]
    pub host: Option<String>,

    /// The .proto file that describes the service
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

    /// Largest message to send, as a SIZE (default 2 GiB)
    #[arg(long, value_name = "SIZE", value_parser = size::limit)]
    pub max_send_message_size: Option<u32>,

    /// + HTTP/2 flow-control window of each stream, as a SIZE (default 16MiB)
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub window: Option<u32>,
}
