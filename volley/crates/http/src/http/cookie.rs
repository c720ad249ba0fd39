//! Cookies (RFC 6265), without a list of public suffixes.

mod date;
mod jar;
mod set;

pub use jar::Jar;
pub use set::SetCookie;
