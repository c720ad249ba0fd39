//! volley, a gRPC load generator that counts every message and stays out of the way.
//!
//! The rooms, from the wire upwards; each knows only those above it in this list:
//!
//! - [`http2`]: the protocol, sans-io: bytes in, events and bytes out.
//! - [`grpc`]: what gRPC puts into HTTP/2: messages, statuses, timeouts.
//! - [`request`]: what is sent, and what the replies must be.
//! - [`pace`]: when calls are sent.
//! - [`report`]: a finished run as plain data, and every way to print it.
//! - [`measure`]: counting and timing, one tally a thread.
//! - [`cli`]: the command line, ghz's and volley's own.
//! - [`engine`]: the load loop: sockets, threads, time.
//! - [`blast`]: many calls at one moment, again and again.
//! - [`serve`]: a reference server that counts for itself and breaks on demand.
//! - [`program`]: what the commands do.

#![forbid(unsafe_code)]

pub mod blast;
pub mod cli;
pub mod engine;
pub mod grpc;
pub mod http2;
pub mod measure;
pub mod pace;
pub mod program;
pub mod report;
pub mod request;
pub mod serve;
