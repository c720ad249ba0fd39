//! How people write times, sizes and other numbers.

pub mod duration;
pub mod numbers;
pub mod size;
pub mod timestamp;

pub use duration::GoDuration;
