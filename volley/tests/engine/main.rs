//! Whole runs of the real program, against servers that count, break, stall and lie.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod blast;
mod close;
mod compare;
mod control;
mod expect;
mod faults;
mod find;
mod flow;
mod frames;
mod freeze;
mod goaway;
mod h2_peer;
mod keepalive;
mod lost;
mod memory;
mod outputs;
mod pace;
mod paced_streams;
mod refused;
mod signals;
mod streams;
mod targets;
mod templates;
mod thresholds;
mod timeouts;
mod tls;
mod tls_peer;
mod together;
mod told;
mod unreachable;
mod wait;
mod warmup;
mod workers;
