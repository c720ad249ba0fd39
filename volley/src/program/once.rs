//! `volley check --once`: one iteration of each scenario, with each request and response.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::status::success_if;
use super::{Failure, to_stdout};
use crate::net;
use crate::scenario::engine::control::Control;
use crate::scenario::engine::{self as load, Options};
use crate::scenario::lua::open_scripts;
use crate::scenario::plan::{Load, Phase, Phases, Plan};
use crate::scenario::record::{Contents, Keeps, Record, Records, page};
use crate::watch::Writer;

/// Runs each scenario once, one user each, and prints all that was sent and received. Succeeds if no step failed.
///
/// # Errors
///
/// Whatever prevented the load or the output, or broke the load off.
pub fn once(plan: Plan, allow_io: bool) -> Result<ExitCode, Failure> {
    let shown = Once::new(plan, allow_io, net::watch()?).run()?;
    to_stdout(|out| {
        let mut pages = shown.pages.iter();
        pages.try_for_each(|page| out.write_all(page.as_bytes()))
    })?;
    Ok(success_if(shown.done?))
}

/// One iteration of each scenario, with one user each.
pub struct Once {
    plan: Plan,
    allow_io: bool,
    signal: Arc<AtomicBool>,
    control: Arc<Control>,
}

/// Ends it.
#[cfg(feature = "edit")]
#[derive(Clone)]
pub struct Brake {
    signal: Arc<AtomicBool>,
    control: Arc<Control>,
}

/// What it showed.
pub struct Shown {
    /// A text for each request, in order.
    pub pages: Vec<String>,
    /// Whether no step failed; or what prevented the load, or broke it off.
    pub done: Result<bool, Failure>,
}

#[cfg(feature = "edit")]
impl Brake {
    /// No request begins any more, and those that are open end.
    pub fn pull(&self) {
        self.signal
            .store(true, std::sync::atomic::Ordering::Relaxed);
        self.control.cut();
    }
}

impl Once {
    /// `allow_io`: its scripts may use files. It ends early if `signal` is set.
    pub fn new(mut plan: Plan, allow_io: bool, signal: Arc<AtomicBool>) -> Self {
        let one = |scenario| Load {
            scenarios: vec![(scenario, 1)],
            shares_requests: false,
            phases: Phases::Users(vec![Phase::constant(1)]),
            iterations: Some(1),
            start_after_ns: 0,
            pace_ns: 0,
        };
        plan.loads = (0..plan.scenarios.len()).map(one).collect();
        plan.thresholds.clear();
        plan.control = None;
        let control = Arc::new(Control::new(&plan, Arc::clone(&signal)));
        Self {
            plan,
            allow_io,
            signal,
            control,
        }
    }

    /// What ends it while it runs.
    #[cfg(feature = "edit")]
    pub fn brake(&self) -> Brake {
        Brake {
            signal: Arc::clone(&self.signal),
            control: Arc::clone(&self.control),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If what was sent cannot be shown.
    pub fn run(self) -> Result<Shown, Failure> {
        let plan = &self.plan;
        let keeps = Keeps {
            outcomes: true,
            contents: Contents::Everything,
        };
        let (groups, shown) = (groups(plan), Arc::new(Mutex::new(Vec::new())));
        let pages = Arc::clone(&shown);
        let writer = Writer::start(
            Records::new(plan, keeps),
            Records::outbox,
            move |records: &Records, new: &[Record]| {
                let pages_of = new.iter().map(|record| {
                    let group = groups.get(record.step).copied().unwrap_or_default();
                    let order = (group, record.timing.sent_ns);
                    (order, !record.faults.is_empty(), page(records, record))
                });
                let mut pages = pages.lock().unwrap_or_else(PoisonError::into_inner);
                pages.extend(pages_of);
                Ok(())
            },
        );
        let options = Options {
            threads: Some(1),
            scripts: Some(open_scripts),
            allow_io: self.allow_io,
            control: Some(self.control),
            records: Some(Arc::clone(writer.source())),
            ..Options::default()
        };
        let finished = load::run(plan, &options, &self.signal, &mut |_, _| ());
        writer.finish().done?;
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.sort_by_key(|(order, ..)| *order);
        let any_failed = shown.iter().any(|(_, has_failed, _)| *has_failed);
        let done = finished.and_then(|finished| {
            let iterations = finished.report.iterations();
            let is_ok = !any_failed && iterations.ok == iterations.begun;
            finished.failure.map_or(Ok(is_ok), Err)
        });
        Ok(Shown {
            pages: shown.drain(..).map(|(.., page)| page).collect(),
            done: done.map_err(Failure::from),
        })
    }
}

/// By step: the number of its scenario, so that what belongs together is shown together.
fn groups(plan: &Plan) -> Vec<usize> {
    let mut group = 0;
    let steps = plan.steps.iter().enumerate().map(|(at, step)| {
        let before = at.checked_sub(1).and_then(|before| plan.steps.get(before));
        group += usize::from(before.is_some_and(|before| before.scenario != step.scenario));
        group
    });
    steps.collect()
}
