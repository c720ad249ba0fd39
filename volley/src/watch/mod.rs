//! What others see of a run while it goes on, and how they change it.

mod address;
mod debug_log;
mod http;
mod json_lines;
mod keys;
mod replies;
mod stats;
mod text;

pub use address::{Address, AddressError};
pub use debug_log::DebugLog;
pub(crate) use http::remove_stale;
pub use http::{Server, Shows, serve};
pub use json_lines::JsonLines;
pub use keys::{Keys, listen};
pub use replies::{ReplyWriter, Written};
pub use stats::Stats;
