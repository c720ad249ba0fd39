//! Tools that every crate uses. They know no requests, no connections and no reports. The modules, none of which uses
//! another:
//!
//! - [`budget`]: a limit on the memory of messages.
//! - `declare`: macros that declare types, so that nothing of them is written twice.
//! - [`excerpt`]: what is long, cut for a line of text.
//! - [`input`]: the files that a user names.
//! - `lacks`: a part that a build leaves out.
//! - [`outbox`]: items on their way from a load to their reader.
//! - [`units`]: how people write times, sizes and other numbers.
//! - [`uuid`]: random UUIDs.
//!
//! Words:
//!
//! - *budget*: the bytes that all messages of a process may take together.
//! - *lease*: a part of the budget, held as long as its memory is.
//! - *buffer*: bytes in memory; all but the first few are charged to a lease.
//! - *excerpt*: the beginning of a user's text, on one line of an error.
//! - *input*: a plain file or a pipe, with a limit on its length.
//! - *table*: an input of rows, whose first row names the columns.
//! - *outbox*: where a load leaves items, and a reader takes them; a slow reader holds up the load, or loses items.
//! - *duration*: a length of time, as Go writes it (`1h2m3.5s`).
//! - *size*: a number of bytes, as people write it (`4MiB`).

pub mod budget;
mod declare;
pub mod excerpt;
pub mod input;
mod lacks;
pub mod outbox;
pub mod units;
pub mod uuid;

pub use lacks::Lacks;
