//! Flags of ghz that volley does not have. They are refused by name, never ignored.

use super::exit::CliExit;

const REFUSED: [(&str, &str); 1] = [(
    "stream-dynamic-messages",
    "templates are filled in once per call: list the messages of a stream in `--data`",
)];

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
