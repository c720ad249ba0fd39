use std::path::PathBuf;

use thiserror::Error;

use super::Share;
use super::host::HostError;
use super::secret::MASK;
use crate::pace::PaceError;

/// Why this is no run; each message names the flag to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    #[error("no HOST: give the server's address, such as `localhost:8080`")]
    NoHost,
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("`--proto`: `{}` does not end in .proto; for compiled descriptors use `--protoset`", .0.display())]
    ProtoExtension(PathBuf),
    #[error("no `--call`: name the method, such as `--call package.Service/Method`")]
    NoCall,
    #[error(
        "metadata `{0}` is `{MASK}`, which stands for a secret in a report: give the secret with `-m` or `--reflect-metadata`"
    )]
    Masked(String),

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
    #[error(
        "`--share {share}` leaves some process without a connection: raise `--connections` from {connections} (and `-c` if need be)"
    )]
    IdleShare { share: Share, connections: u32 },
    #[error("`--share {share}` leaves some process without a call: raise `-n` from {total}")]
    ShareWithoutCalls { share: Share, total: u64 },
    #[error("`--skipFirst {skip_first}` skips all {total} calls of `-n`: lower it, or raise `-n`")]
    SkipAll { skip_first: u64, total: u64 },
    #[error("`--connect-timeout 0` leaves no time to connect: give a duration such as `10s`")]
    NoConnectTimeout,

    #[error(
        "`--resolve-every`: names are looked up at most every 100ms; 0: only when a connection is lost"
    )]
    ResolveTooOften,

    #[error("`--warmup-at-most` is for `--open-on-stdin`: add it, or drop this one")]
    NobodyOpens,
    #[error(
        "`--open-on-stdin` opens a window of a given length: give it with `-z`, instead of `-n`"
    )]
    OpenedWithoutLength,
    #[error("`--open-on-stdin` is for a load that does not change: drop it, or {drop}")]
    OpenedSchedule { drop: &'static str },
    #[error("`--coalesce-sends` is at most 100ms: lower it")]
    CoalescedTooLong,
    #[error("`--spin` waits for calls that are due: add `--rps` or a load schedule, or drop it")]
    SpinWithoutRate,
    #[error("`--spin` never sleeps, and `--coalesce-sends` does: drop one of them")]
    SpinAsleep,
    #[error("`--warmup-at-most` must be longer than `--warmup`: raise it")]
    NoTimeToOpen,

    #[error("`--stream-rate` keeps streams open for a window of a given length: give it with `-z`")]
    PacedWithoutLength,
    #[error(
        "`--stream-rate`: streams live until the window's end, each with messages at its own times; drop `{flag}`"
    )]
    PacedWith { flag: &'static str },

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

    #[error(
        "`--fail-if {0}`: a closed loop has no such times: drop it, or add `--rps` or a load schedule"
    )]
    OpenLoopThreshold(String),

    #[error(
        "`--fail-if '{threshold}'` needs {needed} calls, ten of them beyond that percentile, and this load counts at \
         most {most}: raise `-n` or `-z`, or name a lower percentile, or `max`"
    )]
    FewCalls {
        threshold: String,
        needed: u64,
        most: u64,
    },

    #[error("`--cert` needs `--key`: the private key of the certificate")]
    CertWithoutKey,
    #[error("`--key` needs `--cert`: the certificate of the private key")]
    KeyWithoutCert,
    #[error("`--{flag}` has no effect on plaintext (`--insecure`): drop one of them")]
    PlaintextWith { flag: &'static str },
    #[error("`--skipTLS` accepts any certificate, so `--cacert` has no effect: drop one of them")]
    RootsUnused,
}
