//! The load loop: threads, each with its own connections, counters and histograms.

mod alarm;
mod call;
mod clock;
mod conduct;
mod driver;
mod error;
mod limits;
mod link;
mod live;
mod outcome;
mod plan;
mod signals;
mod sink;
mod stage;
mod target;
mod tls;
mod transport;
mod trust;
mod wire;

pub use conduct::{OnTick, run};
pub use error::EngineError;
