//! volley, a gRPC load generator that counts every message and uses little CPU.
//!
//! The modules, lowest layer first. Each uses only modules above it in this list:
//!
//! - [`features`]: the parts that a build may leave out.
//! - [`docs`]: texts that are made of the code, and kept in files.
//! - `input`: the files that a user names.
//! - `excerpt`: what is long, cut for a line of text.
//! - [`protobuf`]: what files declare, messages of those types, and their JSON.
//! - [`budget`]: a limit on the memory of messages.
//! - [`http2`]: the protocol without I/O: bytes in, events and bytes out.
//! - [`http1`]: the same for HTTP/1.1, with the same handler.
//! - [`http`]: what both versions share: encodings of bodies, cookies, redirects.
//! - [`grpc`]: gRPC over HTTP/2: messages, statuses, timeouts.
//! - [`units`]: how people write times and sizes.
//! - [`pace`]: when calls are sent.
//! - [`spec`]: what is to be run, as plain data.
//! - [`protobuf`]: schemas of protocol buffers, and their compiler.
//! - [`request`]: what is sent, and what the replies must be.
//! - [`report`]: a finished run as plain data, and every output format.
//! - [`compare`]: two runs, and what their difference shows.
//! - [`measure`]: counting and timing, one tally per thread.
//! - [`net`]: names, sockets, TLS, proxies, timers and signals, without requests.
//! - [`outbox`]: items on their way from a load to their reader.
//! - [`engine`]: the load loop: connections, threads, time.
//! - [`scenario`]: requests that depend on each other: the file, its plan, and its engine.
//! - [`watch`]: what others see of a run while it goes on, and how they change it.
//! - [`blast`]: many calls at one moment, repeatedly.
//! - [`cli`]: the command line, ghz's and volley's own.
//! - [`serve`]: a reference server with its own counts, and with faults on demand.
//! - [`program`]: the commands.

#![forbid(unsafe_code)]

// Unit tests use servers and tables of the tests of whole runs, which know this library by its name.
#[cfg(test)]
extern crate self as volley;
#[cfg(test)]
#[path = "../tests/common"]
mod testkit {
    #![allow(dead_code, reason = "the tests of whole runs use the rest")]
    pub mod scripted;
    pub mod table;
}

pub mod blast;
pub mod budget;
pub mod cli;
pub mod compare;
pub mod docs;
pub mod engine;
mod excerpt;
pub mod features;
pub mod grpc;
pub mod http;
pub mod http1;
pub mod http2;
mod input;
pub mod measure;
pub mod net;
pub mod outbox;
pub mod pace;
pub mod program;
pub mod protobuf;
pub mod report;
pub mod request;
pub mod scenario;
pub mod serve;
pub mod spec;
pub mod units;
mod uuid;
pub mod watch;
