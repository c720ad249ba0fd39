//! The load loop: threads, each with its own connections, counters and histograms.

mod alarm;
mod book;
mod call;
mod conduct;
mod driver;
mod encoding;
mod error;
mod host;
mod link;
mod names;
mod once;
mod orders;
mod outcome;
mod plan;
mod proxy;
mod reflect;
mod replies;
mod script;
mod shared;
mod sink;
mod stage;
mod tls;
mod transport;
mod trust;
mod wire;

pub(crate) use book::Book;
pub(crate) use conduct::crew;
pub(crate) use driver::Driver;
pub(crate) use host::{Clock, allow_sockets, watch};
pub(crate) use orders::Line;
pub(crate) use plan::{MOST_WORKERS, Plan};
pub(crate) use shared::Shared;

pub use call::Ticket;
pub use conduct::{News, OnNews, run, run_script};
pub use error::EngineError;
pub use once::{Caller, Event, Fields, Lost};
pub use orders::{Handle, Refusal, Session, StartAt};
pub use reflect::Asked;
pub use replies::{Reading, Record, Replies, Taken};
pub use script::{Plain, Script};
pub use stage::Stage;
