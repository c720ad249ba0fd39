//! What HTTP/1.1 and HTTP/2 share: encodings of bodies, cookies, redirects, URLs.

pub mod cookie;
mod decode;
mod percent;
mod redirect;
mod url;

pub use cookie::Jar;
pub use decode::{DecodeError, decode};
pub use percent::push_encoded;
pub use redirect::{Follow, Role, follow};
pub use url::{HttpUrl, UrlError, resolve};
