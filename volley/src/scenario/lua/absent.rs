//! In place of all this, in a volley without the feature `lua`: a script is refused before the load.

use super::{Kept, Rewritten, Sketch, Trouble};
use crate::features::Lacks;
use crate::scenario::Values;
use crate::scenario::plan::{Plan, Script};

/// There is none.
pub enum Machine {}

impl Machine {
    /// A plan has no scripts: [`check`] has refused them.
    pub fn new(_: &Plan, _: bool) -> Result<Option<Self>, Trouble> {
        Ok(None)
    }

    pub fn looks(&self, _: usize) -> bool {
        match *self {}
    }

    pub fn asks(&self, _: usize) -> bool {
        match *self {}
    }

    pub fn ask(
        &mut self,
        _: usize,
        _: Sketch<'_>,
        _: Option<&Kept>,
        _: &mut Values,
        _: &mut Rewritten,
    ) -> Result<(), Trouble> {
        match *self {}
    }

    pub fn look(&mut self, _: usize, _: &mut Kept, _: &mut Values) -> Result<(), Trouble> {
        match *self {}
    }
}

pub fn check(_: &Script) -> Result<(), String> {
    Err(Lacks("lua").to_string())
}
