//! What the host lets a process have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections: the standard streams, polls, timers, the report.
const OTHER_FILES: u64 = 64;

/// Raise the limit of open files, as far as this process may, so that all connections fit.
///
/// Where that is not far enough, the connection that does not fit says so.
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
    // Refused only where another thread lowered the hard limit meanwhile; then as above.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(raised),
            maximum: limit.maximum,
        },
    );
}
