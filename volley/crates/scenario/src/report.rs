//! A finished run of scenarios as plain data, and every output format.
//!
//! Each format is a pure function of a [`Report`], and writes in small pieces: give it a `BufWriter`.

pub mod csv;
mod events;
mod figures;
pub mod html;
pub mod json;
pub mod live;
mod model;
mod names;
mod overload;
pub mod prometheus;
pub mod summary;

#[cfg(test)]
mod samples;

pub use events::{EndedBy, Event, decimal};
pub use figures::{judge, value_of};
pub use model::{
    CheckReport, Facts, FailureReport, Point, Report, ScenarioReport, Series, StepReport,
};
pub use names::{Names, StepNames};
pub use overload::overload;
