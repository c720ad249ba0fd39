//! Waiting for what must come, however busy the host is.

use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// A guard against waiting for ever. Nothing in these tests takes a tenth of it, except on a host that is very busy.
pub const LONGEST: Duration = Duration::from_secs(120);

/// Between two looks. It leaves the CPU to those that are waited for.
const PAUSE: Duration = Duration::from_millis(2);

/// Looks again and again, until what is seen is as wanted; panics if it never is.
pub fn awaited<T: Debug>(mut look: impl FnMut() -> T, wanted: impl Fn(&T) -> bool) -> T {
    let began = Instant::now();
    loop {
        let seen = look();
        if wanted(&seen) {
            return seen;
        }
        assert!(began.elapsed() < LONGEST, "{seen:#?}");
        thread::sleep(PAUSE);
    }
}

/// The clock that all processes of the host share.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
