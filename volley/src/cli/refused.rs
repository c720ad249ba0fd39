//! Flags of ghz that volley does not have. They are refused by name, never ignored.

use super::exit::CliExit;

const REFUSED: [(&str, &str); 5] = [
    (
        "cpus",
        "use `--threads` for the number of threads, or `taskset` to choose CPUs",
    ),
    (
        "debug",
        "keep single calls with `--details N -O json` instead",
    ),
    (
        "lb-strategy",
        "each run has one server: give its `host:port`, and run one volley per server",
    ),
    (
        "max-send-message-size",
        "leave it out: volley sends requests of any size",
    ),
    (
        "reflect-metadata",
        "volley does not ask the server for its schema: give `--proto` or `--protoset`",
    ),
];

/// What to do instead of using a flag (its long name, without dashes); `None` if it is not refused.
pub(super) fn remedy(name: &str) -> Option<&'static str> {
    REFUSED
        .iter()
        .find(|(refused, _)| *refused == name)
        .map(|(_, remedy)| *remedy)
}

/// The error for a flag on the command line.
pub(super) fn flag(name: &str, remedy: &str) -> CliExit {
    CliExit::usage(format!("volley has no `--{name}`: {remedy}"))
}
