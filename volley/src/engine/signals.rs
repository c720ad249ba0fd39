//! Ctrl-C: the first one ends the run with a report, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::EngineError;

/// A flag that SIGINT and SIGTERM set.
///
/// # Errors
///
/// If the host does not allow signal handlers.
pub fn watch() -> Result<Arc<AtomicBool>, EngineError> {
    registered().map_err(|error| EngineError::Host {
        doing: "watch for signals",
        error,
    })
}

fn registered() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for (signal, exit_code) in [(SIGINT, 130), (SIGTERM, 143)] {
        // Registered first, so that it sees the flag as the previous signal left it.
        flag::register_conditional_shutdown(signal, exit_code, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
