//! Making requests, and knowing what their replies must be.
//!
//! [`schema::load`] finds the method, a [`RequestSpec`] says what to send to it, and a [`Source`]
//! turns both into one [`Request`] per call: the header fields, the length-prefixed messages, and
//! the [`Expected`] replies. Whatever does not change between calls is built once and shared; only
//! what holds a template is rendered for every call.

pub mod body;
mod call;
mod error;
mod excerpt;
pub mod expect;
mod head;
mod messages;
mod metadata;
mod payload;
pub mod schema;
mod source;
mod spec;
mod template;

pub use body::Body;
pub use call::{CallNumber, Request};
pub use error::RequestError;
pub use expect::{ExpectError, Expected, Mismatch};
pub use metadata::MetadataError;
pub use schema::{Method, SchemaError, SchemaSource, Shape};
pub use source::Source;
pub use spec::{Data, RequestSpec};
pub use template::TemplateError;
