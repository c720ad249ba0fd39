//! The load of calls to one method: threads, each with its own connections, counters and histograms. And single calls.
//!
//! Words:
//!
//! - *link*: the place of one connection, and the workers that share it. *Worker*: has one call open at a time.
//! - *ticket*: what is known of a call before its reply: its worker, its number, when it was due and sent.
//! - *script*: what each call sends. *Book*: where the ends of calls are noted; a tally is one.
//! - *desk*: a thread's book, script and rules. *Sink*: takes the events of one read for the calls of one link.
//! - *stage*: setup, warm-up, window, drain, over. *Edge*: the moment when the next one begins.
//! - *adrift*: due calls of a thread that has lost its connections, for others to send.
//! - *salvo*: calls that leave together. *Blast*: a salvo over all threads; a sweep makes many.
//! - *conduct*: starts the threads, and gives them orders. *Order*: a change of the load while it runs.

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
