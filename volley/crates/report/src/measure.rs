//! Counting: one [`Tally`] per thread, nothing shared. Each finished second goes to the conductor's [`Chronicle`] and is
//! forgotten. At the end the tallies are merged, and both become a [`Part`], which parts of other processes can be added
//! to, and then a `Report`.
//!
//! Means, minima and maxima are exact. Percentiles come from HdrHistograms with three significant
//! digits, which represent times from 1 ns to 1 h within 0.1 %. The reported value is the highest
//! of its bucket, but never outside the exact minimum and maximum.

mod ages;
mod bucket;
mod checks;
mod chronicle;
mod count;
mod details;
mod distribution;
mod errors;
pub mod estimate;
mod facts;
mod fine_counts;
pub mod latency;
mod life;
mod merge_threads;
mod paced;
mod part;
pub mod process;
#[cfg(test)]
pub mod samples;
mod second;
mod series;
mod slices;
mod tally;
pub mod warning;

pub use ages::Ages;
pub use bucket::highest_of;
pub use checks::Failures;
pub use chronicle::History;
pub use chronicle::{Chronicle, Passed, Told, WithOpen};
pub use count::LATE_NS;
pub use details::DetailOutcome;
pub use distribution::Distribution;
pub use errors::Errors;
pub use errors::capped;
pub use facts::{Cost, EndedBy, Event, RunFacts, Use};
pub use latency::{Bar, Latency, LatencyKind, Percentile};
pub use life::{Life, Silence};
pub use paced::{Paced, PacedCounts, StreamEvent};
pub use part::TOGETHER_NS;
pub use part::{MergeError, Part};
pub use second::Current;
pub use second::{Bin, Second, SecondCounts};
pub use slices::LatencySeries;
pub use tally::{Awaits, Cause, Compressed, Cut, Ended, Outcome, Tally, TallyOptions};
pub use warning::Warning;

use volley_load::pace::SECOND_NS;
