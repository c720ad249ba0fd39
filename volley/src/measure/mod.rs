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
mod facts;
mod life;
mod merge;
mod part;
pub mod process;
#[cfg(test)]
mod samples;
mod second;
mod series;
mod slices;
mod tally;
mod warnings;

pub use ages::Ages;
pub(crate) use bucket::highest_of;
pub(crate) use checks::Failures;
pub use chronicle::{Chronicle, Passed, Told, WithOpen};
pub use count::LATE_NS;
pub(crate) use distribution::Distribution;
pub(crate) use errors::Errors;
#[cfg(feature = "lua")]
pub(crate) use errors::capped;
pub use facts::RunFacts;
pub use life::{Life, Silence};
pub use part::{MergeError, Part};
pub(crate) use second::Current;
pub use second::{Bin, SecondCounts};
pub use tally::{Awaits, Cause, Cut, Ended, Outcome, Tally, TallyOptions};

use crate::pace::SECOND_NS;
