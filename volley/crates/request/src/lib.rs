//! Makes requests, and knows what their replies must be.
//!
//! [`schema::find`] finds the method, a [`Spec`](volley_load::spec::Spec) says what to send to it, and a [`Source`]
//! turns both into one [`Request`] per call: the headers, the length-prefixed messages, and the
//! [`Expected`] replies. Parts that do not change between calls are built once and shared; only
//! templates are rendered for every call.
//!
//! Words:
//!
//! - *schema*: what is known of a service: from `.proto` files, from a descriptor set, or from the server (reflection).
//! - *method*: what is called. *Shape*: whether its requests, or its replies, are one or a stream.
//! - *data*: what the user says that is sent, as JSON or as rows of CSV. *Payload*: the same as messages.
//! - *message*: of the request; behind its prefix of five bytes it is a part of the *body*.
//! - *metadata*: header fields of the user's own. *Head*: all fields of a request.
//! - *template*: text with `{{actions}}`, rendered for every call. *Sprig*: its more common functions.
//! - *mold*: an encoded message with holes, which the values of actions fill.
//! - *rule*: of `--expect`; what a field of each reply must be. *Expected*: the rules for one call's replies.
//! - *reply run*: replies that differ in one field, each by the same step, so that most of their bytes are compared.
//! - *mismatch*: how a reply is not what it must be.

pub mod body;
mod error;
pub mod expect;
pub mod head;
mod marked;
pub mod messages;
mod metadata;
mod misfit;
pub mod mold;
mod payload;
mod rows;
pub mod schema;
mod source;
pub mod template;

pub use body::Body;
pub use error::RequestError;
pub use expect::{ExpectError, Expected, Mismatch, ReplyRun, Rules};
pub use head::USER_AGENT;
pub use metadata::MetadataError;
pub use metadata::Name as MetadataName;
pub use schema::{Ask, Method, ReflectError, SchemaError, Shape};
pub use source::{CallNumber, Request, Source};
pub use template::{TemplateError, function_groups};
