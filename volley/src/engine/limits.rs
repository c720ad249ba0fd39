//! The host's limits for a process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files other than connections: the standard streams, polls, timers, the report.
const OTHER_FILES: u64 = 64;

/// Raises the limit of open files, as far as this process may, so that all connections fit.
///
/// If that is not enough, the connection that does not fit reports it.
pub fn allow_sockets(connections: u32) {
    let wanted = u64::from(connections) + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current else {
        return;
    };
    if current >= wanted {
        return;
    }
    let raised = limit.maximum.map_or(wanted, |most| most.min(wanted));
    // Refused only if another thread lowered the hard limit in the meantime; then as above.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(raised),
            maximum: limit.maximum,
        },
    );
}
