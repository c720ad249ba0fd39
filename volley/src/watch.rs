//! What others see of a run while it goes on, and how they change it.

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
mod running;
mod scenarios;
#[cfg(any(feature = "control", feature = "edit"))]
pub(crate) mod server;
mod shown;
mod stats;
mod text;
mod writer;

pub use calls::Calls;
pub use debug_log::DebugLog;
#[cfg(feature = "control")]
pub use http::serve;
pub use json_lines::JsonLines;
pub use keys::{Keys, listen};
pub use records::{RecordWriter, record_writer};
pub use replies::{ReplyWriter, reply_writer};
pub use running::Server;
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
pub fn serve(_: &crate::spec::ListenAddress, _: Shows) -> std::io::Result<Server> {
    Err(std::io::Error::other(crate::features::Lacks("control")))
}
