//! The reference server, to run against.

use std::num::NonZeroU64;
use std::time::Duration;

use volley::serve::{Config, Counts, Faults, Freeze, Reference};

use super::awaited;

/// A reference server on a free port, with these faults.
pub fn reference(faults: Faults) -> Reference {
    served(|config| config.faults = faults)
}

/// A reference server with settings of its own.
pub fn served(change: impl FnOnce(&mut Config)) -> Reference {
    let mut config = Config::default();
    change(&mut config);
    Reference::start(config).unwrap()
}

/// Such faults.
pub fn faulty(change: impl FnOnce(&mut Faults)) -> Faults {
    let mut faults = Faults::default();
    change(&mut faults);
    faults
}

/// Every n-th.
pub fn one(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

/// A stall of the server, in milliseconds after its first call.
pub fn freeze_of(at_ms: u64, length_ms: u64) -> Option<Freeze> {
    Some(Freeze {
        at: Duration::from_millis(at_ms),
        length: Duration::from_millis(length_ms),
    })
}

/// Waits until the server's counts are as expected; panics if they never are.
pub fn until(server: &Reference, wanted: impl Fn(&Counts) -> bool) -> Counts {
    awaited(|| server.counts(), wanted)
}

/// The server's counts once it has seen the end of every call.
pub fn settled(server: &Reference) -> Counts {
    until(server, |counts| counts.calls_open() == 0)
}
