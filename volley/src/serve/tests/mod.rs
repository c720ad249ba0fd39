//! The connection without a socket: what a client gets for what it sends.

mod breaches;
mod client;
mod counting;
mod faults;
mod flow;
mod rpcs;

use client::{Client, Seen};
