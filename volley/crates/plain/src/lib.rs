//! The load of calls to one method: threads, each with its own connections, counters and histograms. And single calls.

pub mod blast;
mod book;
mod call;
mod conduct;
mod driver;
mod error;
mod link;
mod once;
mod orders;
mod outcome;
mod plan;
mod reflect;
mod replies;
mod script;
mod shared;
mod sink;
mod stage;
mod thread_result;
mod wire;
mod words;

pub(crate) use book::Book;
pub(crate) use conduct::crew;
pub(crate) use driver::Driver;
pub(crate) use orders::Line;
pub(crate) use plan::Plan;
pub use plan::{MOST_WORKERS, enough_replies};
pub(crate) use shared::Shared;

pub use call::Ticket;
pub use conduct::{News, OnNews, run, run_script};
pub use error::EngineError;
pub use once::{Caller, Event, Fields, Lost, Wanted};
pub use orders::{Handle, Refusal, Session, StartAt};
pub use reflect::Asked;
pub use replies::{Reading, Record, Replies};
pub use script::{Plain, Script};
pub use stage::Stage;
