//! What every load needs of its host and of the network: names and the ways to servers, sockets, TLS, proxies, timers,
//! signals. It knows no requests.

pub(crate) mod alarm;
mod certificate;
mod error;
mod host;
pub(crate) mod names;
pub(crate) mod proxy;
pub(crate) mod tls;
pub(crate) mod transport;
mod trust;

pub use error::NetError;
pub(crate) use host::{Clock, allow_sockets, remove_stale, spare_cpus, watch, watch_twice};
