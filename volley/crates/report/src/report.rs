//! Output formats: pure functions of a finished [`Report`].
//!
//! Each output module has one `write(&Report, &mut impl Write)`. They write in small pieces: give
//! them a `BufWriter`.

pub mod blast;
pub mod csv;
pub mod escape;
mod ghz;
pub mod ghz_options;
pub mod html;
pub mod influx;
pub mod json;
pub mod live;
pub mod model;
mod of_part;
pub mod own_section;
pub mod prometheus;
pub mod summary;
pub mod trial;
pub mod verdict;
mod warnings;

#[cfg(test)]
pub mod samples;

pub use escape::write_visible;
pub use escape::{json_line, label_value, visible, write_json, write_pretty_json};
pub use model::{Calls, Checks, Detail, Report, Sends, Series};
pub use verdict::Verdict;
