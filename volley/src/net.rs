//! What every load needs of its host and of the network: names and the ways to servers, sockets, TLS, proxies, timers,
//! signals. It knows no requests.

pub(crate) mod alarm;
mod backoff;
mod certificate;
mod error;
mod host;
mod http;
mod lost;
pub(crate) mod names;
pub(crate) mod proxy;
pub(crate) mod tls;
pub(crate) mod transport;
mod trust;
mod wire;

pub(crate) use backoff::{LONGEST_WAIT_NS, wait_ns};
pub use error::NetError;
pub(crate) use host::{Clock, allow_sockets, remove_stale, spare_cpus, watch, watch_twice};
pub(crate) use http::AnyHttp;
pub(crate) use lost::{
    Lost, PROXY_CLOSED, Remedies, Rule, connect_words, refuses_http2, tls_words,
};
pub(crate) use wire::{Phase, Wire};
