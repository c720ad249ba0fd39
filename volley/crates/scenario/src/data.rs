//! Feeds: the rows that iterations draw their values from.
//!
//! [`Store::open`] reads every file once: it counts and checks the rows, and keeps either all of them or, of a large file,
//! where every so many rows begin. A row therefore has a number, and all orders are ways to choose the next number. Each
//! thread has its own [`Feeds`]; where all threads share a position, a thread takes the numbers of several rows at a time.

mod error;
mod feeds;
mod file;
mod made;
mod record;
mod rows;
mod store;

pub use error::{DataError, Undrawn};
pub use feeds::Feeds;
pub use store::{Crowd, Room, Store};

#[cfg(test)]
mod tests;
