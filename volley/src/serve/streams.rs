//! The open streams of a connection, by their number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::call::Call;

/// Open calls. Stream numbers rise by two and are limited by the connection's life, so one multiplication spreads them
/// well enough. A client that chooses colliding numbers slows down only its own connection.
pub(super) type Streams = HashMap<u32, Call, BuildHasherDefault<NumberHasher>>;

/// Fibonacci hashing of one number.
#[derive(Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        // 2⁶⁴ divided by the golden ratio. hashbrown takes its buckets from the low bits and its tags from the high
        // ones.
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
