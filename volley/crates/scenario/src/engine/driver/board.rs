//! What setup leaves to the load, and the load to teardown.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Values;
use crate::engine::RunError;
use crate::engine::flight::Fault;
use crate::plan::Plan;
use crate::tally::{Passed, Tally};

/// The values of setup, which belong to everybody.
#[derive(Debug, Default)]
pub struct Board {
    values: Mutex<Arc<Values>>,
    version: AtomicU64,
    is_halted: AtomicBool,
    /// What setup knew at its end.
    setup: Known,
}

/// What setup knows at its end.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// All its values, rows that it drew included.
    pub values: Values,
    /// By step: when its last good response came, in ns.
    pub came_ns: Vec<u64>,
}

impl Board {
    /// After a setup; `common`: the number of slots that belong to everybody.
    pub fn new(setup: Known, common: u16) -> Self {
        Self {
            values: Mutex::new(Arc::new(setup.values.first(common.into()))),
            setup,
            ..Self::default()
        }
    }

    /// The same without its halt.
    pub fn again(&self) -> Self {
        Self {
            values: Mutex::new(self.get()),
            setup: self.setup.clone(),
            ..Self::default()
        }
    }

    /// Changes the values.
    pub fn change(&self, change: impl FnOnce(&mut Values)) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut values));
        self.version.fetch_add(1, Ordering::Release);
    }

    pub fn get(&self) -> Arc<Values> {
        Arc::clone(&self.values.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// It rises with each change of the values.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Something that happened ends the run.
    pub fn halt(&self) {
        self.is_halted.store(true, Ordering::Relaxed);
    }

    pub fn is_halted(&self) -> bool {
        self.is_halted.load(Ordering::Relaxed)
    }

    pub fn setup(&self) -> &Known {
        &self.setup
    }
}

/// An iteration of setup or teardown that is over.
pub struct Done {
    pub known: Known,
    /// What it counted, and the same as a thread of the load reports it.
    pub tally: Tally,
    pub passed: Passed,
    /// The step that failed first, and why.
    pub fault: Option<(usize, Fault)>,
    /// A feed had nothing for it.
    pub undrawn: Option<RunError>,
}

impl Done {
    /// Why it failed; `of_step` names the step.
    pub fn failure(
        &mut self,
        plan: &Plan,
        of_step: impl Fn(usize, String) -> RunError,
    ) -> Option<RunError> {
        let of_step = self
            .fault
            .take()
            .map(|(step, fault)| of_step(step, fault.named(plan, step)));
        self.undrawn.take().or(of_step)
    }
}
