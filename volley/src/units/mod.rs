//! How people write times and sizes.

pub mod duration;
pub mod size;

pub use duration::GoDuration;
