//! What an HTTP step sends, from the constant bytes and slots of its [`Text`](super::Text)s: heads of HTTP/1.1, and bodies
//! with several parts; and messages of gRPC.

mod field;
mod head;
mod message;
mod multipart;

pub use field::{RESERVED, is_token, name_fault, value_fault};
pub use head::{Ask, Head};
pub use message::Molds;
pub use multipart::{Part, multipart};
