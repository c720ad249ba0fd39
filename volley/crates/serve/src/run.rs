//! The command `volley serve`.

use std::io::{self, Write};

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use super::ServeError;
use super::config::Config;
use super::reference::Reference;

/// Serves until SIGINT or SIGTERM.
///
/// The first line on stdout is `listening on ADDRESS:PORT`. On SIGUSR1, and at the end, it prints the [`super::Counts`]
/// as a line of JSON.
///
/// # Errors
///
/// Those of [`Reference::start`], and a stdout that cannot be written.
pub fn run(config: Config) -> Result<(), ServeError> {
    // First, so that no signal after the first line is missed.
    let mut signals = Signals::new([SIGUSR1, SIGINT, SIGTERM])
        .map_err(ServeError::host("handlers of signals"))?;
    let server = Reference::start(config)?;
    print(&format!("listening on {server}"))?;
    for signal in signals.forever() {
        if signal != SIGUSR1 {
            break;
        }
        print(&server.counts().to_json())?;
    }
    print(&server.stop().to_json())
}

/// Prints one line, and flushes it even into a pipe.
fn print(line: &str) -> Result<(), ServeError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(ServeError::host("standard output"))
}
