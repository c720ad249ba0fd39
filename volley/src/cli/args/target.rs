use std::path::PathBuf;

use clap::Args;

use crate::cli::value::path;

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

    /// Read flags from a .json, .toml or .yaml file, keyed by their long names; the command line
    /// takes precedence
    #[arg(long, value_name = "FILE", value_parser = path)]
    pub config: Option<PathBuf>,
}
