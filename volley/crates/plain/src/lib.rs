//! The load of calls to one method: threads, each with its own connections, counters and histograms. And single calls.
//!
//! Words:
//!
//! - *link*: the place of one connection, and the workers that share it. *Worker*: has one call open at a time.
//! - *ticket*: what is known of a call before its reply: its worker, its number, when it was due and sent.
//! - *script*: what each call sends. *Recorder*: where the ends of calls are noted; a tally is one.
//! - *context*: a thread's recorder, script and rules. *Sink*: takes the events of one read for the calls of one link.
//! - *stage*: setup, warm-up, window, drain, over. *Edge*: the moment when the next one begins.
//! - *pacer*: knows when the messages of a thread's streams that live are due, and which were sent.
//! - *adrift*: due calls of a thread that has lost its connections, for others to send.
//! - *blast*: calls that leave together, of all threads. *Sweep*: many of them.
//! - *conduct*: starts the threads, and gives them orders. *Order*: a change of the load while it runs.

pub mod blast;
mod call;
mod caller;
mod conduct;
mod driver;
mod error;
mod link;
mod lost;
mod orders;
mod pacer;
mod plan;
mod recorder;
mod reflect;
mod replies;
mod report;
mod script;
mod shared;
mod sink;
mod stage;
mod thread_result;
mod wire;

pub(crate) use conduct::crew;
pub(crate) use driver::Driver;
pub(crate) use orders::Line;
pub(crate) use plan::Plan;
pub use plan::{MOST_WORKERS, enough_replies};
pub(crate) use recorder::Recorder;
pub(crate) use shared::Shared;

pub use call::Ticket;
pub use caller::{Caller, Event, Fields, Lost, Wanted};
pub use conduct::{News, OnNews, run, run_script};
pub use error::LoadError;
pub use orders::{Handle, Refusal, Session, StartAt};
pub use reflect::Asked;
pub use replies::{Reading, Record, Replies};
pub use script::{Plain, Script};
pub use stage::Stage;
