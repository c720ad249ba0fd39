//! volley, a gRPC load generator that counts every message and uses little CPU.
//!
//! Its lower layers are crates of their own, whose modules are here as well, lowest first. Each uses only those above it:
//!
//! 1. `volley-base`: [`units`], [`budget`], [`outbox`], and what else all use.
//! 2. `volley-http`: [`http2`], [`http1`], [`http`], [`grpc`]: protocols without I/O.
//! 3. `volley-protobuf`: [`protobuf`]: what files declare, messages of those types, and their JSON; the compiler of files.
//! 4. `volley-load`: [`pace`], [`spec`]: when calls are sent; what is to be run, as plain data.
//! 5. `volley-request`: [`request`]: what is sent, and what the replies must be.
//! 6. `volley-report`: [`measure`], [`report`], [`compare`]: counts and times, a finished run and its outputs, two runs.
//!
//! The modules of this crate, lowest layer first. Each uses only modules above it in this list, which a test checks:
//!
//! - [`features`]: the parts that a build may leave out.
//! - [`docs`]: texts that are made of the code, and kept in files.
//! - `pem`: certificates and private keys, as they are in files.
//! - [`net`]: names, sockets, TLS, proxies, timers and signals; a connection, whatever is asked over it.
//! - [`serve`]: a reference server with its own counts, and with faults on demand.
//! - [`engine`]: the load loop: connections, threads, time.
//! - [`blast`]: many calls at one moment, repeatedly.
//! - [`scenario`]: requests that depend on each other: their plan, data, requests, responses and report.
//! - [`scenario::engine`]: runs a plan; it knows no scripts, only that there may be some.
//! - [`scenario::lua`]: scripts of steps, and programs that are a load.
//! - [`scenario::file`]: the file that a plan is compiled from.
//! - [`watch`]: what others see of a run while it goes on, and how they change it.
//! - [`cli`]: the command line, ghz's and volley's own.
//! - [`program`]: the commands.

pub mod blast;
pub mod cli;
pub mod docs;
pub mod engine;
pub mod features;
#[cfg(test)]
mod layers;
pub mod net;
mod pem;
pub mod program;
pub mod scenario;
pub mod serve;
#[cfg(test)]
mod testkit;
pub mod watch;

pub use volley_base::{budget, outbox, units};
use volley_base::{excerpt, input, uuid};
pub use volley_http::{grpc, http, http1, http2};
pub use volley_load::{pace, spec};
pub use volley_protobuf as protobuf;
pub use volley_report::{compare, measure, report};
pub use volley_request as request;
