//! How people write times, sizes and other numbers.

pub mod duration;
pub(crate) mod numbers;
pub mod size;
pub(crate) mod timestamp;

pub use duration::GoDuration;
