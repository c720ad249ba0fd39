//! Counting: one [`Tally`] per thread, nothing shared. They are merged at the end and turned into a
//! `Report`.
//!
//! Means, minima and maxima are exact. Percentiles come from HdrHistograms with three significant
//! digits, which represent times from 1 ns to 1 h within 0.1 %. The reported value is the highest
//! of its bucket, but never outside the exact minimum and maximum.

mod bucket;
mod checks;
mod count;
mod details;
mod distribution;
mod ended;
mod errors;
mod into_report;
mod merge;
mod options;
pub mod process;
#[cfg(test)]
mod samples;
mod seconds;
mod series;
mod tally;
mod warnings;

pub(crate) use checks::Failures;
pub use count::LATE_NS;
pub use ended::{Ended, Outcome};
pub(crate) use errors::Errors;
pub use into_report::RunFacts;
pub use options::TallyOptions;
pub use tally::{Progress, Tally};

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;
