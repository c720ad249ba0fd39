//! A whole search.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use super::report::Found;
use super::search::{self, Step};
use super::window;
use volley_base::units::timestamp::unix_ns;
use volley_load::spec::Spec;
use volley_net as net;
use volley_plain::LoadError;

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct FindSpec {
    /// The call and the connections. Of its load, a search uses only `threads` and `connections`.
    pub run: Spec,
    /// What 99 % of the calls may take.
    pub limit: Duration,
    /// The share of calls that may fail.
    pub failed: f64,
    /// How long load is made, waits not included.
    pub budget: Duration,
}

/// Makes the search; one that a load's failure has ended comes with that failure.
///
/// # Errors
///
/// [`LoadError`] if the first load could not be started.
pub fn run(
    spec: &FindSpec,
    on_step: &mut dyn FnMut(&Step),
) -> Result<(Found, Option<LoadError>), LoadError> {
    let stop = net::watch()?;
    let (started, wall_start) = (Instant::now(), SystemTime::now());
    let mut steps: Vec<Step> = Vec::new();
    let mut seed = 0;
    let mut measure = |order: &search::Order| {
        seed += 1;
        let counts = window::measure(
            &window::spec(&spec.run, order, spec.limit, seed),
            spec.limit,
        )?;
        let is_stopped = stop.load(Ordering::Relaxed);
        Ok::<_, LoadError>(counts.filter(|_| !is_stopped))
    };
    let (answer, error) = search::search(spec.failed, spec.budget, &mut measure, &mut |step| {
        steps.push(*step);
        on_step(step);
    })?;
    let found = Found {
        name: spec.run.name.clone(),
        target: spec.run.target.host.clone(),
        call: spec.run.request.call.clone(),
        limit: spec.limit,
        failed: spec.failed,
        started_unix_ns: unix_ns(wall_start),
        elapsed: started.elapsed(),
        answer,
        steps,
    };
    Ok((found, error))
}
