//! The load loop: threads, each with its own connections, counters and histograms.

mod alarm;
mod book;
mod call;
mod clock;
mod conduct;
mod driver;
mod error;
mod limits;
mod link;
mod live;
mod opening;
mod outcome;
mod plan;
mod signals;
mod sink;
mod stage;
mod target;
mod tls;
mod transport;
mod trust;
mod wire;

pub(crate) use book::Book;
pub(crate) use call::Ticket;
pub(crate) use clock::Clock;
pub(crate) use conduct::crew;
pub(crate) use driver::Driver;
pub(crate) use limits::allow_sockets;
pub(crate) use live::Gauge;
pub(crate) use plan::Plan;
pub(crate) use signals::watch;

pub use conduct::{News, OnNews, run};
pub use error::EngineError;
