//! Makes requests, and knows what their replies must be.
//!
//! [`schema::load`] finds the method, a [`RequestSpec`] says what to send to it, and a [`Source`]
//! turns both into one [`Request`] per call: the headers, the length-prefixed messages, and the
//! [`Expected`] replies. Parts that do not change between calls are built once and shared; only
//! templates are rendered for every call.

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
