//! The reference server, as clients see it that are not volley.

mod command;
mod faults;
mod rpcs;
mod support;
mod tls;
