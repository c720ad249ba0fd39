//! The load loop: threads, each with its own connections, counters and histograms.

pub(crate) mod alarm;
mod book;
mod call;
mod certificate;
mod conduct;
mod driver;
pub(crate) mod encoding;
mod error;
mod host;
mod link;
pub(crate) mod names;
mod once;
mod orders;
mod outbox;
mod outcome;
mod plan;
pub(crate) mod proxy;
mod reflect;
mod replies;
mod script;
mod shared;
mod sink;
mod stage;
pub(crate) mod tls;
pub(crate) mod transport;
mod trust;
mod wire;

pub(crate) use book::Book;
pub(crate) use conduct::crew;
pub(crate) use driver::{Driver, connect_words};
pub(crate) use host::{Clock, allow_sockets, watch, watch_twice};
pub(crate) use orders::Line;
pub(crate) use plan::{MOST_WORKERS, Plan, enough_replies, spare_cpus};
pub(crate) use shared::Shared;

pub use call::Ticket;
pub use conduct::{News, OnNews, run, run_script};
pub use error::EngineError;
pub use once::{Caller, Event, Fields, Lost, Wanted};
pub use orders::{Handle, Refusal, Session, StartAt};
pub use outbox::Outbox;
pub use reflect::Asked;
pub use replies::{Reading, Record, Replies};
pub use script::{Plain, Script};
pub use stage::Stage;
