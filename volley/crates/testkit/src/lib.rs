//! What tests of volley's crates share, and no program has:
//!
//! - [`table`]: tables of tests.
//! - [`http`]: one HTTP/1.1 request at a time.
//! - [`output`]: what an output writes.
//! - [`scripted`]: a server of HTTP/2 that does what a script says, frame by frame.
//! - [`wait`]: waiting for what must come.

pub mod http;
pub mod output;
pub mod scripted;
pub mod table;
pub mod wait;
