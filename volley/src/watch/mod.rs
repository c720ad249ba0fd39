//! What others see of a run while it goes on, and how they change it.

mod address;
mod calls;
#[cfg(any(feature = "control", feature = "edit"))]
mod clients;
mod debug_log;
#[cfg(feature = "control")]
mod http;
mod json_lines;
mod keys;
mod records;
mod replies;
mod scenarios;
#[cfg(any(feature = "control", feature = "edit"))]
pub(crate) mod server;
mod shown;
mod stats;
mod text;
mod writer;

pub(crate) use address::remove_stale;
pub use address::{Address, AddressError, Server};
pub use calls::Calls;
pub use debug_log::DebugLog;
#[cfg(feature = "control")]
pub use http::serve;
pub use json_lines::JsonLines;
pub use keys::{Keys, listen};
pub use records::{RecordWriter, record_writer};
pub use replies::{ReplyWriter, reply_writer};
pub use scenarios::Scenarios;
pub use shown::{Asked, Refused, Shown, Shows};
pub use stats::Stats;
pub use writer::{Writer, Written};

/// Nothing listens in a volley without the feature `control`.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "control"))]
pub fn serve(_: &Address, _: Shows) -> std::io::Result<Server> {
    Err(std::io::Error::other(crate::features::Lacks("control")))
}
