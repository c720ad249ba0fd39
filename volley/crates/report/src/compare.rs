//! Two runs compared: which figures differ by more than their own scatter explains.
//!
//! Each run is cut into at most 20 batches of whole seconds. What a figure becomes when one batch is left out shows how
//! much it scatters, and the next batch shows how long a disturbance lasts: see [`estimate`]. The ratio of a figure, new
//! over old, then has a 95 % interval. Only what one run can show is in it: not what changes from start to start.

pub mod condition;
mod figures;
pub mod json;
mod mismatch;
mod run;
mod scatter;
#[cfg(test)]
mod simulation;
pub mod table;

use figures::LEAST_SAMPLES;
use scatter::LEAST_BATCHES;

pub use condition::{Condition, Judged};
pub use figures::{Change, Row, Rows, Verdict};
pub use mismatch::MismatchError;
pub use run::{ReadError, Run, is_of_scenarios};
pub use scatter::t_quantile;

/// Two runs, and what is known of their difference.
#[derive(Debug)]
pub struct Comparison {
    /// The run before the change.
    pub old: Run,
    /// The run after it.
    pub new: Run,
    /// The figures of both.
    pub rows: Rows,
    /// What became of the conditions.
    pub thresholds: Vec<Judged>,
    /// What a reader of the figures must know.
    pub warnings: Vec<String>,
}

impl Comparison {
    /// Compares two runs, and the difference with its conditions.
    ///
    /// # Errors
    ///
    /// If the latencies of these runs do not mean the same.
    pub fn of(old: Run, new: Run, conditions: &[Condition]) -> Result<Self, MismatchError> {
        let mut warnings = mismatch::warnings(&old, &new)?;
        let rows = Rows::of(&old, &new);
        let judge = |condition: &Condition| condition.judge(&old, &new);
        let thresholds: Vec<Judged> = conditions.iter().map(judge).collect();
        let undecided = thresholds.iter().filter(|judged| judged.is_undecided());
        warnings.extend(undecided.map(|judged| {
            format!(
                "not decided: {}; a ratio needs {LEAST_BATCHES} whole seconds of each run and {LEAST_SAMPLES} calls, and a \
                 percentile so many on each side of it: run longer",
                judged.line()
            )
        }));
        Ok(Self {
            thresholds,
            rows,
            warnings,
            old,
            new,
        })
    }

    /// The verdict in one line, such as `slower: rate, p50; no difference shown: p99`.
    #[must_use]
    pub fn headline(&self) -> String {
        let mut parts = Vec::new();
        for verdict in Verdict::ALL {
            let rows = self.rows.all();
            let rows = rows.filter(|row| row.change.verdict() == verdict);
            let names: Vec<&str> = rows.map(|row| row.name.as_str()).collect();
            if !names.is_empty() {
                parts.push(format!("{}: {}", verdict.name(), names.join(", ")));
            }
        }
        parts.join("; ")
    }
}
