//! What a reader of the numbers has to know, each with the flag that changes it.

use thiserror::Error;

/// Something that makes the numbers of a run worth less than they look.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Warning {
    #[error("no call ended inside the window: lengthen `-z`, or shorten the calls")]
    NothingEnded,
    #[error(
        "not one of {} succeeded: no latency here says anything about the service",
        calls(*.count)
    )]
    AllFailed { count: u64 },
    #[error("{missed} of {intended} sends that were due never left: raise `-c`, or lower `--rps`")]
    Missed { missed: u64, intended: u64 },
    #[error(
        "{late} of {sent} sends left more than 1 ms after they were due: raise `-c` where calls are \
         slow, lower `--rps`, or give volley a CPU of its own"
    )]
    Late { late: u64, sent: u64 },
    #[error(
        "volley was busy for {busy_percent} % of its threads' time and may be the limit: give it \
         more CPUs, and raise `--threads` above {threads} (with `--connections` if need be)"
    )]
    ClientBound { busy_percent: u32, threads: u32 },
    #[error(
        "{} still open when the wait for them ended: raise `--drain-timeout`, or set `-t`",
        were(*.open)
    )]
    DrainTimedOut { open: u64 },
    #[error(
        "the server's limit of open streams a connection, {limit}, kept calls back: raise \
         `--connections`"
    )]
    StreamLimit { limit: u32 },
    #[error(
        "connections lost or retired in mid-run and opened again: {reconnects}; the server's log may \
         tell why"
    )]
    Reconnected { reconnects: u64 },
    /// `reason` is how it went away, in the words of the connection's error.
    #[error("the server went away in mid-run ({reason}): start it again and look at its log")]
    ServerGone { reason: String },
    /// Lost in mid-run, and not back at its end; `reason` as above.
    #[error(
        "{down} of {connections} connections were lost and not back at the end ({reason}): there was \
         less load than asked for, or none"
    )]
    Down {
        down: u64,
        connections: u32,
        reason: String,
    },
    #[error("interrupted after {after}: the run is not as long as it was to be")]
    Interrupted { after: String },
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
    #[error("the server let no stream be opened, so the run was given up: look at its limits")]
    NoStreams,
    #[error("{} ended and every one was skipped: lower `--skipFirst`", calls(*.skipped))]
    AllSkipped { skipped: u64 },
    #[error("{kept} of {count} single calls were kept: raise `--details` for more")]
    DetailsCapped { kept: u64, count: u64 },
    /// `sample` is what was wrong with one of them.
    #[error(
        "{} got replies that `--expect` or `--expect-replies` refuses, such as: {sample}",
        calls(*.wrong)
    )]
    WrongReplies { wrong: u64, sample: String },
}

fn calls(count: u64) -> String {
    if count == 1 {
        "1 call".to_owned()
    } else {
        format!("{count} calls")
    }
}

fn were(count: u64) -> String {
    format!(
        "{} {}",
        calls(count),
        if count == 1 { "was" } else { "were" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_in_english_and_names_the_flag() {
        assert_eq!(
            Warning::DrainTimedOut { open: 1 }.to_string(),
            "1 call was still open when the wait for them ended: raise `--drain-timeout`, or set `-t`"
        );
        assert_eq!(
            Warning::AllSkipped { skipped: 7 }.to_string(),
            "7 calls ended and every one was skipped: lower `--skipFirst`"
        );
    }
}
