//! volley, a gRPC load generator that counts every message and uses little CPU.
//!
//! Its lower layers are crates of their own, whose modules are here as well, lowest first. Each uses only those listed before it:
//!
//! 1. `volley-base`: [`units`], [`budget`], [`outbox`], and what else all use.
//! 2. `volley-http`: [`http2`], [`http1`], [`http`], [`grpc`]: protocols without I/O.
//! 3. `volley-protobuf`: [`protobuf`]: what files declare, messages of those types, and their JSON; the compiler of files.
//! 4. `volley-load`: [`pace`], [`spec`]: when calls are sent; what is to be run, as plain data.
//! 5. `volley-request`: [`request`]: what is sent, and what the replies must be.
//! 6. `volley-net`: names, sockets, TLS, proxies, timers and signals; a connection, whatever is asked over it.
//! 7. `volley-report`: [`measure`], [`report`], [`compare`]: counts and times, a finished run and its outputs, two runs.
//! 8. `volley-serve`: [`serve`]: a reference server with its own counts, and with faults on demand.
//! 9. `volley-plain`: [`plain`], [`blast`]: the load of calls to one method, and bursts of them.
//! 10. `volley-find`: [`find`]: the highest rate that keeps a limit on response times.
//! 11. `volley-scenario`: [`scenario`]: requests that depend on each other, and scripts and programs of Lua.
//!
//! The modules of this crate, lowest layer first. Each uses only those listed before it, which a test checks:
//!
//! - [`features`]: the parts that a build may leave out.
//! - [`docs`]: texts that are made of the code, and kept in files.
//! - [`watch`]: what others see of a run while it goes on, and how they change it.
//! - [`cli`]: the command line, ghz's and volley's own.
//! - [`program`]: the commands.

pub mod cli;
pub mod docs;
pub mod features;
pub mod program;
pub mod watch;

pub use volley_base::{budget, outbox, units};
use volley_base::{excerpt, input};
pub use volley_find as find;
pub use volley_http::{grpc, http, http1, http2};
pub use volley_load::{pace, spec};
use volley_net as net;
pub use volley_plain::{self as plain, blast};
pub use volley_protobuf as protobuf;
pub use volley_report::{compare, measure, report};
pub use volley_request as request;
pub use volley_scenario as scenario;
pub use volley_serve as serve;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Crates that list their modules.
    const CRATES: [&str; 7] = [
        ".",
        "crates/base",
        "crates/find",
        "crates/http",
        "crates/load",
        "crates/report",
        "crates/scenario",
    ];

    #[test]
    fn a_module_uses_only_those_below_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for one in CRATES {
            volley_testkit::layers::check(&root.join(one).join("src"));
        }
    }
}
