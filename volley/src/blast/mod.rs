//! `volley blast`: N calls leave together; the result is how many per second are answered.
//!
//! A sweep measures points. A point is a number of calls (N) and a way to spread them, that is, a maximum number of
//! connections. Before each blast, every thread checks its connections, encodes its calls into their output buffers and
//! waits at a barrier. After the barrier, threads only write, read, and record into slots that exist already. The
//! conductor counts the results after the blast.

mod error;
mod gun;
mod order;
mod point;
mod slots;
mod statistics;
mod sweep;
mod way;

pub use error::BlastError;
pub use sweep::{OnBlast, run};
