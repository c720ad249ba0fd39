//! Where a run stands.

/// The stages of a run, in their order; a sweep of blasts has [`Stage::Setup`] and [`Stage::Salvo`] alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being opened; nothing is sent.
    Setup,
    /// The load is on, and not counted.
    Warmup,
    /// The load is on, and counted.
    Window,
    /// No call is begun; open ones are waited for.
    Drain,
    /// Calls are laid ready and let go together (`volley blast`); no other is begun.
    Salvo,
    /// Nothing is counted any more.
    Over,
}

impl Stage {
    /// Whether new calls are begun.
    pub fn sends(self) -> bool {
        matches!(self, Self::Warmup | Self::Window)
    }

    /// Whether the load loop goes on.
    pub fn goes_on(self) -> bool {
        self != Self::Over
    }
}
