//! gRPC over HTTP/2: length-prefixed messages, statuses and timeouts.

pub mod code;
pub mod encoding;
pub mod heads;
pub mod splitter;
pub mod status;
pub mod timeout;

pub use code::Code;
pub use splitter::{PREFIX_LEN, SplitError, Splitter, Take};
pub use status::Status;
