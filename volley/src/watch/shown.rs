//! What a run shows to others, and what they may ask of it.

use std::sync::Arc;

use serde_json::Value;

/// What an address offers.
#[derive(Clone)]
pub struct Shows {
    pub run: Arc<dyn Shown>,
    /// It can be changed, and not only be seen.
    pub takes_orders: bool,
    /// What a client must know, if any.
    pub token: Option<Arc<str>>,
}

/// A run that others see, and may change.
pub trait Shown: Send + Sync {
    /// What is known of it, as JSON.
    fn stats(&self) -> Vec<u8>;

    /// The same in Prometheus' text format.
    fn metrics(&self) -> String;

    /// Obeys. This may take a moment.
    ///
    /// # Errors
    ///
    /// Why it does not.
    fn obey(&self, order: Asked) -> Result<(), Refused>;
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// `PATCH /v1/load` with this body; `Null`: no JSON.
    Load(Value),
    Pause,
    Resume,
    Stop,
}

/// Why a run does not do what a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is wrong.
    Wrong(String),
    /// The run is not one that could.
    Conflict(String),
}
