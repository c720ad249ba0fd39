//! Makes requests, and knows what their replies must be.
//!
//! [`schema::find`] finds the method, a [`Spec`](crate::spec::Spec) says what to send to it, and a [`Source`]
//! turns both into one [`Request`] per call: the headers, the length-prefixed messages, and the
//! [`Expected`] replies. Parts that do not change between calls are built once and shared; only
//! templates are rendered for every call.

pub mod body;
mod error;
pub(crate) use crate::excerpt;
pub mod expect;
pub mod head;
mod marked;
pub mod messages;
mod metadata;
pub(crate) mod mold;
mod payload;
mod place;
mod rows;
pub mod schema;
mod source;
pub(crate) mod template;

pub use body::Body;
pub use error::RequestError;
pub use expect::{ExpectError, Expected, Mismatch, Rules, Run};
pub use head::USER_AGENT;
pub use metadata::MetadataError;
pub(crate) use metadata::Name as MetadataName;
pub use schema::{Ask, Method, ReflectError, SchemaError, Shape};
pub use source::{CallNumber, Request, Source};
pub use template::{TemplateError, function_groups};
