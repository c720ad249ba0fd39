//! What HTTP/1.1 and HTTP/2 share: encodings of bodies, cookies, redirects, URLs.

mod decode;

pub use decode::{ACCEPTED, DecodeError, decode};
