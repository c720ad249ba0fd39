#![doc = include_str!("../README.md")]

mod alarm;
mod backoff;
mod certificate;
mod error;
mod host;
mod http;
mod lost;
pub mod names;
pub mod pem;
mod place;
pub mod proxy;
pub mod queue;
mod sockets;
pub mod timers;
pub mod tls_config;
pub mod transport;
mod trust;
mod wire;

pub use alarm::Alarm;
pub use error::NetError;
pub use host::{Clock, allow_sockets, remove_stale, spare_cpus, watch, watch_twice};
pub use http::AnyHttp;
pub use lost::{Lost, MUTE, PROXY_CLOSED, Remedies, Rule, connect_words, refuses_http2, tls_words};
pub use place::{Place, Way};
pub use sockets::{Event, Sockets};
pub use wire::{Phase, Wire};
