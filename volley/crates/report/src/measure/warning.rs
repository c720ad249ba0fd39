//! What a reader of the numbers must know; each warning names the flag that changes it.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use volley_base::units::numbers::counted;

/// Something that makes a run's numbers worth less than they seem.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
pub enum Warning {
    #[error("no call ended inside the window: lengthen `-z`, or shorten the calls")]
    NothingEnded,
    #[error(
        "no answer came from second {:.2} of the load to its end{}",
        *.since_ns as f64 / 1e9,
        unsent(*.missed)
    )]
    Silent { since_ns: u64, missed: u64 },
    #[error("{}: the latencies here say nothing about the service", none_of(*.count))]
    AllFailed { count: u64 },
    #[error(
        "{missed} of {intended} calls that were due were never sent: raise `-c`, or lower `--rps`"
    )]
    Missed { missed: u64, intended: u64 },
    #[error(
        "{late} of {sent} calls were sent more than 1 ms late: raise `-c` if calls are \
         slow, lower `--rps`, or give volley a CPU of its own"
    )]
    Late { late: u64, sent: u64 },
    #[error(
        "volley was busy for {busy_percent} % of its threads' time and may be the limit: give it \
         more CPUs, and raise `--threads` above {threads} (with `--connections` if need be)"
    )]
    ClientBound { busy_percent: u32, threads: u32 },
    #[error(
        "{} still open after the drain timeout: raise `--drain-timeout`, or set `-t`",
        were(*.open)
    )]
    DrainTimedOut { open: u64 },
    #[error(
        "the server's limit of {limit} open streams per connection made calls wait: raise \
         `--connections`"
    )]
    StreamLimit { limit: u32 },
    #[error(
        "only {open} of {wanted} streams were open when the window opened: lengthen `--warmup`"
    )]
    StreamsNotOpen { open: u64, wanted: u64 },
    #[error(
        "connections lost or retired during the run and reopened: {reconnects}; the server's log may \
         say why"
    )]
    Reconnected { reconnects: u64 },
    /// `reason` is the connection's error: how the server went away.
    #[error("the server went away during the run ({reason}): restart it and check its log")]
    ServerGone { reason: String },
    /// Lost during the run, and not back at its end; `reason` as above.
    #[error(
        "{down} of {connections} connections were lost and still down at the end ({reason}): the \
         load was lower than requested, or none"
    )]
    Down {
        down: u64,
        connections: u32,
        reason: String,
    },
    #[error("interrupted after {after}: the run is shorter than requested")]
    Interrupted { after: String },
    /// By a key or an order.
    #[error("stopped by order after {after}: the run is shorter than requested")]
    Stopped { after: String },
    #[error("`-x` ended the run after {sent} of {total} calls: raise `-x`, or lower `-n`")]
    TimeOver { sent: u64, total: u64 },
    #[error("{} waited through a pause: their response times hold its length", calls(*.waited))]
    Waited { waited: u64 },
    /// `after` is by how much the last one was late.
    #[error(
        "by their clocks, the last share began {after} after the first: start all at the same moment with `--start-at`"
    )]
    Apart { after: String },
    #[error("the shares called different hosts: `{one}` and `{other}`")]
    Hosts { one: String, other: String },
    #[error("different versions of volley made the shares: {versions}")]
    Versions { versions: String },
    /// `after` is how long it took.
    #[error(
        "the sweep was cut short after {after}: {fired} of {planned} blasts were made; raise `-x`, or lower `--requests` or \
         `--repetitions`"
    )]
    CutShort {
        fired: u64,
        planned: u64,
        after: String,
    },
    #[error(
        "the target had {addresses} addresses, but there were only {connections} connections: some got no calls; raise `-c` \
         and `--connections`"
    )]
    FewConnections { addresses: u64, connections: u32 },
    #[error(
        "no address was found for `{names}` when the run started: check the name, or drop it from HOST"
    )]
    Unresolved { names: String },
    #[error(
        "calls can be sent up to {every} late, and latencies be too long by as much, as `--coalesce-sends` asks for"
    )]
    LateSends { every: String },
    #[error(
        "the TLS server did not agree to HTTP/2 (it has no ALPN) and was taken to speak it: clients such as grpc-go 1.67 \
         refuse it"
    )]
    NoAlpn,
    #[error("the server allowed no streams, so the run was stopped: check its limits")]
    NoStreams,
    #[error("{} ended and every one was skipped: lower `--skipFirst`", calls(*.skipped))]
    AllSkipped { skipped: u64 },
    #[error(
        "`--save-replies` made the load wait {waited} (all threads together): these figures say little about the server"
    )]
    RepliesHeldUp { waited: String },
    #[error(
        "{dropped} of the replies to be printed were dropped: print fewer with `--print-replies`, or save them with `--save-replies`"
    )]
    RepliesDropped { dropped: u64 },
    #[error("{kept} of {count} single calls were kept: raise `--details` for more")]
    DetailsCapped { kept: u64, count: u64 },
    /// `sample` is what was wrong with one of them.
    #[error("{} got wrong replies, for example: {sample}", calls(*.wrong))]
    WrongReplies { wrong: u64, sample: String },
}

fn calls(count: u64) -> String {
    counted(count, "call")
}

/// What was due meanwhile.
fn unsent(missed: u64) -> String {
    match missed {
        0 => String::new(),
        _ => format!(", and {} that were due were never sent", calls(missed)),
    }
}

fn none_of(count: u64) -> String {
    match count {
        1 => "the only call failed".to_owned(),
        _ => format!("none of {count} calls succeeded"),
    }
}

fn were(count: u64) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", calls(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_in_english_and_names_the_flag() {
        assert_eq!(
            Warning::DrainTimedOut { open: 1 }.to_string(),
            "1 call was still open after the drain timeout: raise `--drain-timeout`, or set `-t`"
        );
        assert_eq!(
            Warning::AllSkipped { skipped: 7 }.to_string(),
            "7 calls ended and every one was skipped: lower `--skipFirst`"
        );
        assert_eq!(
            Warning::AllFailed { count: 1 }.to_string(),
            "the only call failed: the latencies here say nothing about the service"
        );
    }
}
