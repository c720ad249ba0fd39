//! What an HTTP step sends, from the constant bytes and slots of its [`Text`](super::Text)s: heads of HTTP/1.1, and bodies
//! with several parts; and messages of gRPC.

mod field;
mod http1_head;
mod message;
mod multipart;

pub use field::{RESERVED, is_token, name_fault, value_fault};
pub use http1_head::{Ask, Http1Head};
pub use message::Molds;
pub use multipart::{Part, multipart};
