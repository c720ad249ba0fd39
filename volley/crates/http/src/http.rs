//! What HTTP/1.1 and HTTP/2 share: encodings of bodies, cookies, redirects, URLs.

pub mod cookie;
mod decode;
mod percent;
mod redirect;
mod url;

pub use cookie::Jar;
pub use decode::{DecodeError, decode, offers};
pub use percent::push_encoded;
pub use redirect::{Follow, Role, follow};
pub use url::{HttpUrl, UrlError, resolve};

/// Whether a request with this method can be repeated without harm (RFC 9110 section 9.2.2).
pub fn is_idempotent(method: &str) -> bool {
    matches!(
        method,
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
    )
}
