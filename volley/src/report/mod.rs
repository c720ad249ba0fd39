//! Output formats: pure functions of a finished [`Report`].
//!
//! Each output module has one `write(&Report, &mut impl Write)`. They write in small pieces: give
//! them a `BufWriter`.

pub mod blast;
pub mod csv;
pub(crate) mod escape;
pub(crate) mod estimate;
mod ghz;
pub mod ghz_options;
pub mod html;
pub mod influx;
pub mod json;
pub mod latency;
pub mod live;
pub mod model;
pub(crate) mod numbers;
pub mod own_section;
pub mod prometheus;
pub mod summary;
pub(crate) mod timestamp;
pub mod trial;
pub mod verdict;
pub mod warning;

#[cfg(test)]
pub(crate) mod samples;

#[cfg(feature = "lua")]
pub(crate) use escape::write_visible;
pub(crate) use escape::{label_value, visible, write_json, write_pretty_json};
pub use latency::{Bar, Latency, LatencyKind, Percentile};
pub use model::{
    Calls, Checks, Cost, Detail, DetailOutcome, EndedBy, Report, Second, Sends, Series, Use,
};
pub use verdict::Verdict;
pub use warning::Warning;
