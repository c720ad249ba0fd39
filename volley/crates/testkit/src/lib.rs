//! What tests of volley's crates share, and no program has:
//!
//! - [`table`]: tables of tests.
//! - [`http`]: one HTTP/1.1 request at a time.
//! - [`layers`]: whether the modules of a crate use only those above them.
//! - [`output`]: what an output writes.
//! - [`scratch`]: a folder for one test's files, and certificates in it.
//! - [`scripted`]: a server of HTTP/2 that does what a script says, frame by frame.
//! - [`sockets`]: sockets that misbehave, or that nobody else has.
//! - [`texts`]: what a text must say.
//! - [`wait`]: waiting for what must come.

pub mod http;
pub mod layers;
pub mod output;
pub mod scratch;
pub mod scripted;
pub mod sockets;
pub mod table;
pub mod texts;
pub mod wait;
