//! The connection without a socket: a client's input and the server's output.

mod breaches;
mod client;
mod counting;
mod faults;
mod flow;
mod items;
mod rpcs;

use super::Config;
use client::{Client, Seen};

/// The settings of a server, but for this.
fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

impl super::Counts {
    /// Checks some of them.
    #[track_caller]
    pub(super) fn are<const N: usize>(&self, some: fn(&Self) -> [u64; N], wanted: [u64; N]) {
        assert_eq!(some(self), wanted);
    }
}
