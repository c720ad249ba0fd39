use std::path::PathBuf;

use thiserror::Error;

use crate::cli::host::HostError;
use crate::cli::json::JsonError;
use crate::pace::PaceError;

/// Why flags do not make a run; each message names the flag to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UsageError {
    #[error("no HOST: give the server's address, such as `localhost:8080`")]
    NoHost,
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(
        "no schema: give the service's file with `--proto` or `--protoset`; volley does not ask the server for it"
    )]
    NoSchema,
    #[error("`--proto`: `{}` does not end in .proto; for compiled descriptors use `--protoset`", .0.display())]
    ProtoExtension(PathBuf),
    #[error("no `--call`: name the method, such as `--call package.Service/Method`")]
    NoCall,

    #[error("`-n 0` makes no calls: give at least 1, or a duration with `-z`")]
    NoCalls,
    #[error("`{flag} 0` leaves no {work}: give at least 1")]
    None {
        flag: &'static str,
        work: &'static str,
    },
    #[error(
        "`--connections {connections}` exceeds the number of workers: raise `{flag}` from {workers} to {connections}, or lower `--connections`"
    )]
    IdleConnections {
        connections: u32,
        workers: u32,
        flag: &'static str,
    },
    #[error(
        "`--threads {threads}` exceeds the number of connections: raise `--connections` from {connections} to {threads} (and `-c` if need be), or lower `--threads`"
    )]
    IdleThreads { threads: u32, connections: u32 },
    #[error("`--skipFirst {skip_first}` skips all {total} calls of `-n`: lower it, or raise `-n`")]
    SkipAll { skip_first: u64, total: u64 },
    #[error(
        "`--threads {threads}` exceeds the number of connections: raise `--connections` or `--requests`, or lower `--threads` to {connections}"
    )]
    IdleBlastThreads { threads: u32, connections: u32 },
    #[error("`--format`: `volley blast` writes only `summary` and `json`")]
    BlastFormat,
    #[error("`--connect-timeout 0` leaves no time to connect: give a duration such as `10s`")]
    NoConnectTimeout,

    #[error("`--warmup-at-most` is for `--open-on-stdin`: add it, or drop this one")]
    NobodyOpens,
    #[error(
        "`--open-on-stdin` opens a window of a given length: give it with `-z`, instead of `-n`"
    )]
    OpenedWithoutLength,
    #[error("`--open-on-stdin` is for a load that does not change: drop it, or {drop}")]
    OpenedSchedule { drop: &'static str },
    #[error(
        "`--open-on-stdin` waits for a line on stdin: give the payload with `--data` or a file instead"
    )]
    StdinTwice,
    #[error("`--warmup-at-most` must be longer than `--warmup`: raise it")]
    NoTimeToOpen,

    #[error("`--{flag}` needs a schedule: add `--{prefix}-schedule step` or `line`")]
    NoSchedule { flag: String, prefix: &'static str },
    #[error(
        "`--rps` is for a constant load: with `--load-schedule {schedule}` give `--load-start` instead"
    )]
    RpsInSchedule { schedule: &'static str },
    #[error(
        "`--{prefix}-step-duration` is for `--{prefix}-schedule step`: a line changes by `--{prefix}-step` each second"
    )]
    StepDurationInLine { prefix: &'static str },
    #[error(transparent)]
    Pace(#[from] PaceError),

    #[error("`--cert` needs `--key`: the private key of the certificate")]
    CertWithoutKey,
    #[error("`--key` needs `--cert`: the certificate of the private key")]
    KeyWithoutCert,
    #[error("`--{flag}` has no effect on plaintext (`--insecure`): drop one of them")]
    PlaintextWith { flag: &'static str },
    #[error("`--skipTLS` accepts any certificate, so `--cacert` has no effect: drop one of them")]
    RootsUnused,

    #[error("`{first}` and `{second}` both give the {what}: keep one")]
    Twice {
        first: &'static str,
        second: &'static str,
        what: &'static str,
    },
    #[error("`--{flag}`: cannot read `{}`: {reason}", .path.display())]
    File {
        flag: &'static str,
        path: PathBuf,
        reason: String,
    },
    #[error("`{flag}`: cannot read stdin: {reason}")]
    Stdin { flag: &'static str, reason: String },
    #[error("`{flag}`: {from} is empty")]
    Empty { flag: &'static str, from: String },
    #[error("`{flag}`: {from} is not UTF-8; for protobuf use `--binary` or `--binary-file`")]
    Encoding { flag: &'static str, from: String },
    #[error("`--metadata-file`: `{}`: {reason}", .path.display())]
    Metadata { path: PathBuf, reason: JsonError },
}
