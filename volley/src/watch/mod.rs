//! What others see of a run while it goes on, and how they change it.

mod address;
mod calls;
mod debug_log;
mod http;
mod json_lines;
mod keys;
mod records;
mod replies;
mod scenarios;
pub(crate) mod server;
mod stats;
mod text;
mod writer;

pub use address::{Address, AddressError};
pub use calls::Calls;
pub use debug_log::DebugLog;
pub use http::{Asked, Refused, Shown, Shows, serve};
pub use json_lines::JsonLines;
pub use keys::{Keys, listen};
pub use records::{RecordWriter, record_writer};
pub use replies::{ReplyWriter, reply_writer};
pub use scenarios::Scenarios;
pub use server::Server;
pub(crate) use server::remove_stale;
pub use stats::Stats;
pub use writer::{Writer, Written};
