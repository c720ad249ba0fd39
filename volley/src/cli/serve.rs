//! `volley serve`: the reference server of `benchmark.BenchmarkService` and of items, and its faults on demand.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Command, CommandFactory, Parser};

use super::usage::CliExit;
use super::value::{positive, span, time, up_to, whole};
use super::{argv, help};
use crate::serve::{Freeze, Service};
use crate::spec::{Endpoint, TargetSpec};

pub(super) const TITLE: &str = "Start a server to try commands on";

const SERVER: &str = "Server";
/// The most servers of --service: each call looks at all of them.
const MOST_SERVERS: u32 = 1000;
const FAULTS: &str = "Faults (none by default; calls are counted over all connections)";

/// The flags of `volley serve`: where the server listens, and its faults.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(
    name = "volley serve",
    about = "Serve benchmark.BenchmarkService: a fast reference server that counts calls and messages, and can\n\
             inject faults.\n\n\
             It describes itself by reflection and says by grpc.health.v1 that it serves.\n\n\
             Over HTTP/1.1 and HTTP/2, items can be created (POST /v1/items), read, changed and deleted\n\
             (GET, PATCH, DELETE); POST /oauth/token issues tokens.\n\n\
             It prints its counts as one line of JSON on SIGUSR1, and when it stops (SIGINT or SIGTERM)."
)]
pub struct ServeArgs {
    /// IP address and port to listen on; port 0 takes a free one (default 127.0.0.1:8080). Or a Unix
    /// socket: unix:/path, unix-abstract:name
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    #[arg(value_parser = listen, hide_default_value = true, help_heading = SERVER)]
    pub listen: Listen,

    /// Certificate chain (PEM): speak TLS instead of plaintext; needs --tls-key
    #[arg(long, value_name = "FILE", help_heading = SERVER)]
    pub tls_cert: Option<PathBuf>,

    /// Private key (PEM) of --tls-cert
    #[arg(long, value_name = "FILE", help_heading = SERVER)]
    pub tls_key: Option<PathBuf>,

    /// Threads that serve connections (default: one per CPU)
    #[arg(long, value_name = "N", value_parser = positive::<u32>, help_heading = SERVER)]
    pub threads: Option<u32>,

    /// Streams that a client may have open on one connection (default: no limit)
    #[arg(long, value_name = "N", value_parser = whole::<u32>, help_heading = SERVER)]
    pub max_concurrent_streams: Option<u32>,

    /// How long a token of /oauth/token says that it is valid (default 1h); no request needs one
    #[arg(long, value_name = "TIME", default_value = "1h")]
    #[arg(value_parser = time, hide_default_value = true, help_heading = SERVER)]
    pub token_life: Duration,

    /// Let calls queue, first in, first out, and serve each for a random time before its answer: exp:1ms
    /// for exponential times with that mean
    #[arg(long, value_name = "exp:TIME", value_parser = exponential, help_heading = SERVER)]
    pub service: Option<Duration>,

    /// Calls that --service serves at once (default 1)
    #[arg(long, value_name = "C", value_parser = up_to::<MOST_SERVERS>, help_heading = SERVER)]
    pub servers: Option<u32>,

    /// Seed for the times of --service (default 1)
    #[arg(long, value_name = "S", value_parser = whole::<u64>, help_heading = SERVER)]
    pub seed: Option<u64>,

    /// Wait this long before each answer
    #[arg(long, value_name = "TIME", default_value = "0")]
    #[arg(value_parser = time, hide_default_value = true, help_heading = FAULTS)]
    pub delay: Duration,

    /// Let only every N-th answer wait for --delay
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub delay_every: Option<u64>,

    /// Stop all work for FOR, starting AT after the first call, as in 2s:1s
    #[arg(long, value_name = "AT:FOR", value_parser = freeze, help_heading = FAULTS)]
    pub freeze: Vec<Freeze>,

    /// Never answer every N-th call
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub unanswered_every: Option<u64>,

    /// End every N-th call with RST_STREAM
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub reset_every: Option<u64>,

    /// Send GOAWAY on a connection after N calls
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub goaway_after: Option<u64>,

    /// Put a wrong value into reply I of each call; the first reply is 0
    #[arg(long, value_name = "I", value_parser = whole::<u64>, help_heading = FAULTS)]
    pub wrong_value_at: Option<u64>,

    /// Answer every N-th call with only an error in trailers
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub trailers_only_every: Option<u64>,

    /// End every N-th call in the middle of a message
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub truncate_every: Option<u64>,

    /// Answer every N-th call with bytes that are not HTTP/2
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub garbage_every: Option<u64>,

    /// Close the connection in the middle of every N-th call
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub close_every: Option<u64>,

    /// Answer every N-th request of items with this HTTP status, as in 503:100; repeatable
    #[arg(long, value_name = "STATUS:N", value_parser = status, help_heading = FAULTS)]
    pub status_every: Vec<(u16, NonZeroU64)>,

    /// Leave `location` out for every N-th new item
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub no_location_every: Option<u64>,

    /// Give the client of every N-th new item the id of the one before
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub duplicate_every: Option<u64>,

    /// Answer every N-th item with a wrong `sku`
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub wrong_value_every: Option<u64>,

    /// Answer every N-th item with broken JSON
    #[arg(long, value_name = "N", value_parser = positive::<u64>, help_heading = FAULTS)]
    pub bad_json_every: Option<u64>,
}

pub(super) fn command() -> Command {
    help::dress(ServeArgs::command(), help::SERVE_EXAMPLES).override_usage("volley serve [FLAGS]")
}

/// Read the words after `volley serve`.
pub(super) fn parse(words: &[OsString]) -> Result<ServeArgs, CliExit> {
    let args: ServeArgs = argv::read("volley serve", command, words)?;
    match (&args.tls_cert, &args.tls_key) {
        (Some(_), None) => Err(CliExit::usage(
            "`--tls-cert` needs `--tls-key`: the private key of the certificate",
        )),
        (None, Some(_)) => Err(CliExit::usage(
            "`--tls-key` needs `--tls-cert`: the certificate of the private key",
        )),
        _ if args.service.is_none() && args.servers.is_some() => Err(CliExit::usage(
            "`--servers` needs `--service`: how long each call is served",
        )),
        _ if args.service.is_none() && args.seed.is_some() => Err(CliExit::usage(
            "`--seed` needs `--service`: how long each call is served",
        )),
        _ if args.delay_every.is_some() && args.delay.is_zero() => Err(CliExit::usage(
            "`--delay-every` needs `--delay`: how long an answer waits",
        )),
        // The server has one freeze only, and no flag is ignored.
        _ if args.freeze.len() > 1 => Err(CliExit::usage("`--freeze` is given twice: keep one")),
        _ => Ok(args),
    }
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Tcp(SocketAddr),
    /// The path of a Unix socket. An abstract name begins with a NUL.
    Unix(String),
}

const NO_ADDRESS: &str =
    "an IP address and a port are needed, such as `127.0.0.1:8080` or `[::1]:0`, or `unix:/path`";

fn listen(text: &str) -> Result<Listen, String> {
    let spec = TargetSpec {
        host: text.to_owned(),
        ..TargetSpec::default()
    };
    if let Ok(address) = text.parse() {
        return Ok(Listen::Tcp(address));
    }
    let endpoints = spec.target().map(|target| target.endpoints);
    match endpoints.unwrap_or_default().pop() {
        Some(Endpoint::Unix(path)) => Ok(Listen::Unix(path)),
        _ => Err(NO_ADDRESS.to_owned()),
    }
}

impl ServeArgs {
    /// The queue that calls wait in, if there is one.
    #[must_use]
    pub fn queue(&self) -> Option<Service> {
        self.service.map(|mean| Service {
            mean,
            servers: self.servers.unwrap_or(1),
            seed: self.seed.unwrap_or(1),
        })
    }
}

fn exponential(text: &str) -> Result<Duration, String> {
    let needed = "`exp:` and a time are needed, such as `exp:1ms`";
    span(text.strip_prefix("exp:").ok_or(needed)?)
}

fn freeze(text: &str) -> Result<Freeze, String> {
    let needed = "a start and a length are needed, such as `2s:1s`";
    let (at, length) = text.split_once(':').ok_or(needed)?;
    Ok(Freeze {
        at: time(at).map_err(|error| error.to_string())?,
        length: span(length)?,
    })
}

fn status(text: &str) -> Result<(u16, NonZeroU64), String> {
    let needed = "a status and a number are needed, such as `503:100`";
    let (status, every) = text.split_once(':').ok_or(needed)?;
    let status = status.parse().ok();
    let status = status.filter(|status| (200..600).contains(status));
    let status = status.ok_or("the status is a number from 200 to 599")?;
    let every = every.parse().ok();
    let every = every.ok_or("the number is a whole one from 1")?;
    Ok((status, every))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::parsed;
    use volley_testkit::table::table;

    #[test]
    fn without_flags_a_sound_server_listens_on_8080() {
        let expected = ServeArgs {
            listen: Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 8080))),
            tls_cert: None,
            tls_key: None,
            threads: None,
            max_concurrent_streams: None,
            token_life: Duration::from_secs(3600),
            service: None,
            servers: None,
            seed: None,
            delay: Duration::ZERO,
            delay_every: None,
            unanswered_every: None,
            freeze: Vec::new(),
            reset_every: None,
            goaway_after: None,
            wrong_value_at: None,
            trailers_only_every: None,
            truncate_every: None,
            garbage_every: None,
            close_every: None,
            status_every: Vec::new(),
            no_location_every: None,
            duplicate_every: None,
            wrong_value_every: None,
            bad_json_every: None,
        };
        assert_eq!(parsed(parse, ""), Ok(expected));
    }

    #[test]
    fn every_flag_reaches_its_field() {
        let line = "--listen [::1]:0 --tls-cert c --tls-key k --threads 2 --max-concurrent-streams 0 \
                    --delay 5ms --freeze 2s:1s --reset-every 1 --goaway-after 2 \
                    --wrong-value-at 0 --trailers-only-every 3 --truncate-every 4 \
                    --garbage-every 5 --close-every 6 --delay-every 7 --unanswered-every 8 \
                    --status-every 404:9 --status-every 503:10 --no-location-every 11 \
                    --duplicate-every 12 --wrong-value-every 13 --bad-json-every 14 --token-life 5s --service exp:2ms --servers 3 --seed 9";
        let expected = ServeArgs {
            listen: Listen::Tcp("[::1]:0".parse().unwrap()),
            tls_cert: Some("c".into()),
            tls_key: Some("k".into()),
            threads: Some(2),
            max_concurrent_streams: Some(0),
            token_life: Duration::from_secs(5),
            service: Some(Duration::from_millis(2)),
            servers: Some(3),
            seed: Some(9),
            delay: Duration::from_millis(5),
            delay_every: Some(7),
            unanswered_every: Some(8),
            freeze: vec![Freeze {
                at: Duration::from_secs(2),
                length: Duration::from_secs(1),
            }],
            reset_every: Some(1),
            goaway_after: Some(2),
            wrong_value_at: Some(0),
            trailers_only_every: Some(3),
            truncate_every: Some(4),
            garbage_every: Some(5),
            close_every: Some(6),
            status_every: [(404, 9), (503, 10)]
                .map(|(status, n)| (status, NonZeroU64::new(n).unwrap()))
                .into(),
            no_location_every: Some(11),
            duplicate_every: Some(12),
            wrong_value_every: Some(13),
            bad_json_every: Some(14),
        };
        assert_eq!(parsed(parse, line), Ok(expected));
    }

    #[test]
    fn what_makes_no_server_is_refused_in_one_line() {
        for [line, error] in table(
            r"
            x => unexpected argument `x`: see `volley serve --help`
            --delays 5s => unknown flag `--delays`; did you mean `--delay`?
            --tls-cert c => `--tls-cert` needs `--tls-key`: the private key of the certificate
            --tls-key k => `--tls-key` needs `--tls-cert`: the certificate of the private key
            --delay-every 3 => `--delay-every` needs `--delay`: how long an answer waits
            --servers 2 => `--servers` needs `--service`: how long each call is served
            --seed 2 => `--seed` needs `--service`: how long each call is served
            --service 1ms => `--service`: invalid value `1ms`: `exp:` and a time are needed, such as `exp:1ms`
            --service exp:0 => `--service`: invalid value `exp:0`: a duration above 0 is needed
            --service exp:1ms --servers 0 => `--servers`: invalid value `0`: a whole number from 1 to 1000 is needed
            --listen 8080 => `--listen`: invalid value `8080`: an IP address and a port are needed, such as `127.0.0.1:8080` or `[::1]:0`, or `unix:/path`
            --freeze 2s => `--freeze`: invalid value `2s`: a start and a length are needed, such as `2s:1s`
            --freeze 1s:1s --freeze 3s:1s => `--freeze` is given twice: keep one
            --freeze 2s:0 => `--freeze`: invalid value `2s:0`: a duration above 0 is needed
            --status-every 503 => `--status-every`: invalid value `503`: a status and a number are needed, such as `503:100`
            --status-every 99:1 => `--status-every`: invalid value `99:1`: the status is a number from 200 to 599
            --status-every 500:0 => `--status-every`: invalid value `500:0`: the number is a whole one from 1
            --reset-every 0 => `--reset-every`: invalid value `0`: a whole number from 1 to 18446744073709551615 is needed
        ",
        ) {
            assert_eq!(
                parsed(parse, line),
                Err(format!("error: {error}")),
                "{line}"
            );
        }
    }
}
