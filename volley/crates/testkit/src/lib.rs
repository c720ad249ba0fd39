//! What tests of volley's crates share, and no program has:
//!
//! - [`table`]: tables of tests.
//! - [`http`]: one HTTP/1.1 request at a time.
//! - [`wait`]: waiting for what must come.

pub mod http;
pub mod table;
pub mod wait;
