//! What a process counted, as data: it can be written, read, merged with the parts of other processes, and reported.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use volley_base::units::timestamp::unix_ns;
use volley_load::pace::Agenda;
use volley_load::spec::{Share, Spec, Threshold};

use super::chronicle::{Chronicle, History};
use super::tally::{Counted, Tally};
use super::{RunFacts, SECOND_NS};

/// It increases when an older reader would be misled.
const SCHEMA: u32 = 1;

/// Processes that open their windows further apart did not make one load.
pub const TOGETHER_NS: u64 = SECOND_NS;

/// All counts of a process, or of several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    schema: u32,
    pub run: RunFacts,
    /// Which parts of the load these are.
    shares: Vec<Share>,
    /// When the first process opened its window, and the last one.
    pub started_unix_ns: u64,
    pub last_started_unix_ns: u64,
    pub counted: Counted,
    pub history: History,
}

/// Why parts cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    /// Another version wrote one of them.
    #[error("it was written by another version of volley (schema {theirs}, not {SCHEMA})")]
    Schema {
        /// Its schema.
        theirs: u64,
    },
    /// Somebody has changed it.
    #[error("its counts are broken: {0}")]
    Broken(String),
    /// They are of different runs.
    #[error("it is a part of another run: {0} differs")]
    Run(&'static str),
    /// One is there twice.
    #[error("share {0} is there twice")]
    Twice(Share),
    /// Some are not there.
    #[error("share {0} is missing")]
    Missing(Share),
}

impl Tally {
    /// All counts of a run, from the merged tallies of all threads and their seconds. `agenda`: when the calls of an
    /// open loop were due; what it has before the window's opening does not count.
    #[must_use]
    pub fn into_part(self, run: RunFacts, agenda: Option<&Agenda>, chronicle: Chronicle) -> Part {
        let load = &run.spec.load;
        let (share, own) = (load.share, load.own_calls());
        let due_until = |ns: u64| agenda.map_or(0, |agenda| agenda.due_until(ns));
        let due_early = due_until(self.start_ns);
        let due_before = |ns: u64| {
            let until_ns = self.start_ns.saturating_add(ns.min(run.window_ns));
            let due = due_until(until_ns) - due_early;
            due.min(own.unwrap_or(u64::MAX))
        };
        let started_unix_ns = unix_ns(self.wall_start).saturating_add(self.start_ns);
        Part {
            schema: SCHEMA,
            shares: vec![share],
            started_unix_ns,
            last_started_unix_ns: started_unix_ns,
            history: chronicle.finish(run.elapsed_ns, run.warmup_ns, due_before),
            run,
            counted: self.counted.since(self.start_ns),
        }
    }
}

impl Part {
    /// What a process has written.
    ///
    /// # Errors
    ///
    /// If no volley of this version has written it.
    pub fn read(written: Value) -> Result<Self, MergeError> {
        let theirs = written.get("schema").and_then(Value::as_u64);
        if let Some(theirs) = theirs.filter(|theirs| *theirs != u64::from(SCHEMA)) {
            return Err(MergeError::Schema { theirs });
        }
        let part: Self = serde_json::from_value(written)
            .map_err(|error| MergeError::Broken(error.to_string()))?;
        match part.history.is_sound() {
            true => Ok(part),
            false => Err(MergeError::Broken("its time series".to_owned())),
        }
    }

    /// Adds a part of the same run.
    ///
    /// # Errors
    ///
    /// If it is no such part.
    pub fn merge(&mut self, other: Self) -> Result<(), MergeError> {
        self.check_same(&other.run.spec)?;
        let mut theirs = other.shares.iter();
        if let Some(twice) = theirs.find(|share| self.shares.contains(share)) {
            return Err(MergeError::Twice(*twice));
        }
        self.shares.extend(other.shares);
        self.started_unix_ns = self.started_unix_ns.min(other.started_unix_ns);
        self.last_started_unix_ns = self.last_started_unix_ns.max(other.last_started_unix_ns);
        self.run.merge(other.run);
        self.counted.merge(other.counted);
        self.history.merge(other.history);
        Ok(())
    }

    /// Refuses a run of which a part is missing.
    ///
    /// # Errors
    ///
    /// The first share that is missing.
    pub fn check_whole(&self) -> Result<(), MergeError> {
        let of = self.run.spec.load.share.of;
        let mut all = (1..=of).map(|number| Share { number, of });
        let missing = all.find(|share| !self.shares.contains(share));
        missing.map_or(Ok(()), |share| Err(MergeError::Missing(share)))
    }

    fn check_same(&self, other: &Spec) -> Result<(), MergeError> {
        let mine = &self.run.spec;
        let same_load = {
            let mut theirs = other.load.clone();
            theirs.share.number = mine.load.share.number;
            // Hosts have different numbers of CPUs.
            theirs.threads = mine.load.threads;
            theirs == mine.load
        };
        let parts = [
            ("`name`", mine.name == other.name),
            ("`request`", mine.request == other.request),
            ("`checks`", mine.checks == other.checks),
            ("`count`", mine.count == other.count),
            ("`load`", same_load),
        ];
        match parts.into_iter().find(|(_, is_same)| !is_same) {
            Some((what, _)) => Err(MergeError::Run(what)),
            None => Ok(()),
        }
    }

    /// Conditions under which the whole load has failed.
    #[must_use]
    pub fn fail_if(&self) -> &[Threshold] {
        &self.run.spec.checks.fail_if
    }
}
