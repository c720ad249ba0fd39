//! The stages of a run.

/// The stages of a run, in order. A sweep of blasts has only [`Stage::Setup`] and [`Stage::Salvo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being opened; nothing is sent.
    Setup,
    /// The load runs, uncounted.
    Warmup,
    /// The load runs and is counted.
    Window,
    /// No new calls start; open ones may end.
    Drain,
    /// Calls are prepared and released together (`volley blast`); no others start.
    Salvo,
    /// Nothing is counted any more.
    Over,
}

impl Stage {
    /// Whether new calls start.
    pub fn sends(self) -> bool {
        matches!(self, Self::Warmup | Self::Window)
    }

    /// Whether the load loop continues.
    pub fn goes_on(self) -> bool {
        self != Self::Over
    }
}
