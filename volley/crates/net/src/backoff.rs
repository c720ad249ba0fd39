//! How long a place without a connection waits before it tries again.

/// The first wait.
const FIRST_NS: u64 = 20_000_000;

/// The longest wait. A connection that lasted so long was of use.
pub const LONGEST_WAIT_NS: u64 = 1_000_000_000;

/// The wait after so many failures in a row: each doubles it.
pub fn wait_ns(failures: u32) -> u64 {
    (FIRST_NS << failures.min(16)).min(LONGEST_WAIT_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_second() {
        let waits_ms = (0..8).map(|failures| wait_ns(failures) / 1_000_000);
        let waits_ms: Vec<u64> = waits_ms.collect();
        assert_eq!(waits_ms, [20, 40, 80, 160, 320, 640, 1000, 1000]);
        assert_eq!(wait_ns(u32::MAX), LONGEST_WAIT_NS);
    }
}
