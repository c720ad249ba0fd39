//! `volley blast`: N calls leave together, and how many a second come back.
//!
//! A sweep measures points, each a number of calls (N) and a way to spread them: over at most so many connections. Before
//! each blast every thread makes its connections fit, encodes its calls into their output buffers and waits at a barrier;
//! behind it threads only write, read, and record into slots that are there already. What a blast recorded is counted
//! after it, by the conductor.

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
