use std::path::PathBuf;

use thiserror::Error;

/// Why a `--config` file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("`--config`: cannot read `{}`: {reason}", .path.display())]
    Read { path: PathBuf, reason: String },
    #[error("`--config`: cannot tell the format of `{}`: its name must end in .json, .toml, .yaml or .yml", .0.display())]
    Format(PathBuf),
    #[error("`{}`: {reason}", .path.display())]
    Syntax { path: PathBuf, reason: String },
    #[error("`{}` must hold flags and their values, such as `\"concurrency\": 64`", .0.display())]
    NoTable(PathBuf),
    #[error("`{}`: unknown key `{key}`; {hint}", .path.display())]
    Unknown {
        path: PathBuf,
        key: String,
        hint: String,
    },
    #[error("`{place}`: {problem}")]
    Value { place: String, problem: String },
    #[error("`{place}`: volley has no such key: {remedy}")]
    Refused { place: String, remedy: &'static str },
}
