//! What the tests of whole runs share: the program as a child, its report, and servers of all kinds.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test binary uses a part of it"
)]

pub mod peer;
mod report;
mod run;
mod servers;
pub mod shape;

pub use report::Report;
pub use run::{Finished, Running, Volley, command, outcome, volley};
pub use servers::{faulty, freeze_of, one, reference, served, settled, until};
pub use volley_testkit::scratch::Scratch;
pub use volley_testkit::sockets::{BlackHole, closing, own_address, quiet_listener};
pub use volley_testkit::table::{table, words};
pub use volley_testkit::texts::{begins, ends, has};
pub use volley_testkit::wait::{LONGEST, awaited, monotonic_ns};
pub use volley_testkit::{http, scratch, scripted};
