//! What HTTP/1.1 and HTTP/2 share: encodings of bodies, cookies, redirects, URLs.

pub mod cookie;
mod decode;
mod redirect;
mod url;

pub use cookie::Jar;
pub use decode::{ACCEPTED, DecodeError, decode};
pub use redirect::{Follow, Role, follow};
pub use url::{HttpUrl, UrlError, resolve};
