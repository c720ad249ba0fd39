//! What HTTP/1.1 and HTTP/2 share: encodings of bodies, cookies, redirects, URLs.

mod content_encoding;
pub mod cookie;
mod percent;
mod redirect;
mod url;

pub use content_encoding::{DecodeError, decode, offers};
pub use cookie::Jar;
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
