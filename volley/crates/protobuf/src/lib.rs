//! Protobuf at run time: what files declare, messages of those types, and their JSON.
//!
//! The descriptors and the codec are buffa's. Its pool is strict and knows indices only: here files are made fit for it, and
//! types and fields are handles that are cheap to clone.
//!
//! Words:
//!
//! - *file*: a `.proto` file, as text or as its descriptor. *Set*: a file and those that it imports.
//! - *descriptor*: a declaration as a message of protobuf, as protoc writes it.
//! - *pool*: all types that some files declare, by name. *Type*: a message type or an enum.
//! - *message*: a type with fields, or a value of it. *Field*: a member, with a name, a number and a kind.
//! - *oneof*: fields of which a message has one at most. *Extension*: a field that is declared outside of its message.
//! - *service*, *method*: what is called, with the types of its requests and replies.
//! - *seed*: reads JSON as a message of one type. *Zeros*: whether JSON shows fields that are zero or empty.
//! - *adapt*: to make files fit for buffa's pool, as names that it does not take. *Lossy*: shown with replacement characters.
//! - *wire*: the encoding, and its pieces: a key and a value each.
//! - *reflection*: a service that tells which files a server knows; here are its messages.

mod adapt;
pub mod compile;
mod dynamic;
mod field;
pub mod full_name;
mod json;
mod lossy;
mod places;
mod plain;
mod pool;
mod read;
pub mod reflection;
mod strict;
#[cfg(test)]
mod tests;
mod types;
mod well_known;
pub mod wire;

pub use adapt::{FilesError, check_names};
pub use buffa_descriptor::generated::descriptor;
pub use buffa_descriptor::{DynamicMessage, Value};
pub use compile::json_name;
pub use dynamic::{Undecodable, default_value, encode};
pub use field::{Field, Kind};
pub use json::{Zeros, key_text};
pub use plain::{LENIENT, bytes_of, float_of, float_of_number};
pub use pool::Pool;
pub use read::{KnownSeed, PartSeed, Seed};
pub use types::{Enum, Message, Method, Oneof, Service};

use buffa::Message as _;
use descriptor::{FileDescriptorProto, FileDescriptorSet};

/// Decodes the files of a descriptor set, or of several behind each other, which are one set.
///
/// # Errors
///
/// The bytes are no descriptor set, or would take far more memory than their length tells.
pub fn files_of_set(bytes: &[u8]) -> Result<Vec<FileDescriptorProto>, buffa::DecodeError> {
    let set: FileDescriptorSet = options_of_files(64 << 20, bytes).decode_from_slice(bytes)?;
    Ok(set.file)
}

/// Decodes one file.
///
/// # Errors
///
/// The bytes are no file's descriptor, or would take far more memory than their length tells.
pub fn file(bytes: &[u8]) -> Result<FileDescriptorProto, buffa::DecodeError> {
    options_of_files(64 << 10, bytes).decode_from_slice(bytes)
}

/// What compilers write takes some ten times its length, and a file of short names thirty times. What is empty takes two hundred
/// times as much.
fn options_of_files(least: usize, bytes: &[u8]) -> buffa::DecodeOptions {
    let most = least + 40 * bytes.len();
    buffa::DecodeOptions::new().with_element_memory_limit(most)
}

/// The encoding of a file.
#[must_use]
pub fn encoded_file(file: &FileDescriptorProto) -> Vec<u8> {
    file.encode_to_vec()
}

/// Messages have been read whole, and have their limit where they come from.
fn options() -> buffa::DecodeOptions {
    buffa::DecodeOptions::new()
        .with_element_memory_limit(usize::MAX)
        .with_unknown_field_limit(usize::MAX)
}
