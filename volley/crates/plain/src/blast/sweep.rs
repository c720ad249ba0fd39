//! A sweep from its options to its report.

use std::sync::Barrier;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::SystemTime;

use super::order::Shuffler;
use super::point::Gathering;
use super::results::CallResults;
use super::thread::{BlastThread, Fired};
use super::way::{Blast, pools};
use super::{BlastError, BlastSpec};
use crate::{Driver, Line, LoadError, Plain, Plan, Script, Shared, crew};
use volley_base::units::numbers::duration;
use volley_base::units::timestamp::unix_ns;
use volley_load::pace::whole_ns;
use volley_net as net;
use volley_net::Clock;
use volley_report::measure::{Cost, Errors, Failures, Warning, process};
use volley_report::report::Checks;
use volley_report::report::blast::{Moment, Sweep};
use volley_request::Shape;

/// Reports the progress of a sweep, after each blast.
pub type OnBlast<'a> = &'a mut dyn FnMut(&Moment);

/// Makes a sweep and returns its report.
///
/// # Errors
///
/// [`BlastError`] if the load could not be started. A sweep in which calls fail still gives a report.
pub fn run(spec: &BlastSpec, on_blast: OnBlast<'_>) -> Result<Sweep, BlastError> {
    let shared = Shared::new(net::watch().map_err(LoadError::from)?);
    let plan = Plan::new(&spec.run, &shared.signal)?;
    if plan.method.shape != Shape::Unary {
        return Err(BlastError::NotUnary(spec.run.request.call.clone()));
    }
    let script = Plain::new(&plan.spec, &plan.method).map_err(LoadError::from)?;
    if !script.is_fixed() {
        return Err(BlastError::Template);
    }
    net::allow_sockets(plan.connections);
    let clock = Clock::start();
    let wall_start = SystemTime::now();
    let barrier = Barrier::new(plan.threads as usize);
    let hire = |index| {
        let script = script.again(&plan.spec, &plan.method)?;
        Driver::new(&plan, index, clock, &shared, CallResults::default(), script)
    };
    let work =
        |driver: Driver<'_, CallResults, Plain>, orders: &Receiver<Blast>, done: &Sender<_>| {
            BlastThread::new(driver, &plan, &barrier).serve(orders, done);
        };
    let mut conductor = Conductor::new(spec);
    let (post, fired) = mpsc::channel();
    let cost = crew(plan.threads, &shared, &post, hire, work, |lines| {
        let cpu_at_start_s = process::cpu_s();
        conductor.sweep(clock, &shared, lines, &fired, on_blast)?;
        let cpu_total_s = process::cpu_s();
        Ok(Cost {
            cpu_s: cpu_total_s - cpu_at_start_s,
            cpu_total_s,
            busiest_thread_s: 0.0,
            peak_bytes: process::peak_bytes(),
        })
    })?;
    let started_unix_ns = unix_ns(wall_start).saturating_add(conductor.started_ns);
    let interrupted = shared.is_stopped();
    let warnings = conductor.warnings(interrupted);
    Ok(Sweep {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: spec.run.name.clone(),
        target: plan.target.clone(),
        call: plan.method.path.trim_start_matches('/').to_owned(),
        options: spec.options(),
        started_unix_ns,
        elapsed_ns: conductor.elapsed_ns,
        seed: spec.seed,
        repetitions: spec.repetitions,
        threads: plan.threads,
        reconnects: conductor.reconnects,
        cost,
        checks: Checks {
            compared: spec.run.checks.compare(),
            replies_checked: conductor.replies,
            failed: conductor.wrong.calls,
            samples: conductor.wrong.into_samples(),
        },
        errors: conductor.errors.into_counts(),
        points: conductor
            .points
            .into_iter()
            .map(Gathering::finish)
            .collect(),
        warnings,
    })
}

/// Orders one blast after another, and counts their results.
struct Conductor<'a> {
    spec: &'a BlastSpec,
    /// By way, then by requests.
    points: Vec<Gathering>,
    started_ns: u64,
    elapsed_ns: u64,
    fired: u64,
    failed: u64,
    reconnects: u64,
    replies: u64,
    wrong: Failures,
    errors: Errors,
    stream_limit: Option<u32>,
}

impl<'a> Conductor<'a> {
    fn new(spec: &'a BlastSpec) -> Self {
        let (ways, _) = pools(&spec.connections, spec.most_requests());
        let points = ways.iter().flat_map(|way| {
            let requests = spec.requests.iter();
            requests.map(|requests| Gathering::new(*way, *requests))
        });
        Self {
            spec,
            points: points.collect(),
            started_ns: 0,
            elapsed_ns: 0,
            fired: 0,
            failed: 0,
            reconnects: 0,
            replies: 0,
            wrong: Failures::default(),
            errors: Errors::default(),
            stream_limit: None,
        }
    }

    /// Goes repetition by repetition. A sweep that ends early has then measured every point about equally often, and a
    /// slow drift of the host affects all points alike.
    fn sweep(
        &mut self,
        clock: Clock,
        shared: &Shared,
        lines: &[Line<Blast>],
        fired: &Receiver<Result<Fired, LoadError>>,
        on_blast: OnBlast<'_>,
    ) -> Result<(), LoadError> {
        self.started_ns = clock.now_ns();
        let ends_ns = self
            .started_ns
            .saturating_add(whole_ns(self.spec.max_duration));
        let mut shuffler = Shuffler::new(self.spec.seed);
        'sweep: for repetition in 1..=self.spec.repetitions {
            for place in shuffler.order(self.points.len()) {
                let is_over = clock.now_ns() >= ends_ns || shared.is_stopped();
                let Some(point) = self.points.get(place).filter(|_| !is_over) else {
                    break 'sweep;
                };
                let blast = Blast {
                    way: point.way,
                    requests: point.requests,
                    ends_ns,
                };
                for line in lines {
                    line.send(blast);
                }
                let threads = fired.iter().take(lines.len()).collect::<Result<_, _>>()?;
                if !self.count(place, threads) {
                    break 'sweep;
                }
                on_blast(&Moment {
                    repetition: repetition.into(),
                    repetitions: self.spec.repetitions.into(),
                    fired: self.fired,
                    planned: self.planned(),
                    failed: self.failed,
                });
            }
        }
        self.elapsed_ns = clock.now_ns().saturating_sub(self.started_ns);
        Ok(())
    }

    /// Counts a blast. Returns false if the sweep ended first: such a blast is not a shot, because its open calls
    /// neither succeeded nor failed.
    fn count(&mut self, place: usize, threads: Vec<Fired>) -> bool {
        if threads.iter().any(|thread| thread.is_cut) {
            return false;
        }
        let released_ns = threads.iter().filter_map(|thread| thread.released_ns).min();
        let mut books = Vec::with_capacity(threads.len());
        for thread in threads {
            self.reconnects += thread.reconnects;
            let limits = [self.stream_limit, thread.stream_limit];
            self.stream_limit = limits.into_iter().flatten().min();
            let mut slots = thread.slots;
            self.replies += slots.replies;
            self.wrong.merge(std::mem::take(&mut slots.wrong));
            self.errors.merge(std::mem::take(&mut slots.errors));
            books.push(slots);
        }
        if let Some(point) = self.points.get_mut(place) {
            self.failed += point.add(self.fired, released_ns.unwrap_or_default(), &books);
        }
        self.fired += 1;
        true
    }

    fn planned(&self) -> u64 {
        self.points.len() as u64 * u64::from(self.spec.repetitions)
    }

    fn warnings(&self, interrupted: bool) -> Vec<Warning> {
        let after = duration(self.elapsed_ns);
        let (fired, planned) = (self.fired, self.planned());
        let mut warnings = Vec::new();
        let mut warn = |due: bool, warning: Warning| {
            if due {
                warnings.push(warning);
            }
        };
        if let Some(limit) = self.stream_limit {
            warn(true, Warning::StreamLimit { limit });
        }
        let cut_short = Warning::CutShort {
            fired,
            planned,
            after: after.clone(),
        };
        warn(fired < planned && !interrupted, cut_short);
        warn(interrupted, Warning::Interrupted { after });
        let ok = self.points.iter().any(Gathering::has_ok);
        let count = self.failed;
        warn(!ok && count > 0, Warning::AllFailed { count });
        let reconnects = self.reconnects;
        warn(reconnects > 0, Warning::Reconnected { reconnects });
        let wrong = self.wrong.calls;
        let sample = self.wrong.first_sample();
        warn(wrong > 0, Warning::WrongReplies { wrong, sample });
        warnings
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Recorder, Ticket};
    use volley_load::spec::Spec;
    use volley_report::measure::Outcome;

    #[test]
    fn a_thread_without_calls_does_not_say_when_the_first_was_sent() {
        let spec = BlastSpec {
            run: Spec::default(),
            requests: vec![1],
            connections: vec![1],
            repetitions: 1,
            seed: 1,
            max_duration: Duration::from_secs(1),
        };
        let mut conductor = Conductor::new(&spec);
        let fired = |released_ns, slots| Fired {
            slots,
            released_ns,
            is_cut: false,
            reconnects: 0,
            stream_limit: None,
        };
        let mut slots = CallResults::for_calls(1);
        let ticket = Ticket {
            worker: 0,
            number: 0,
            intended_ns: 0,
            sent_ns: 0,
            refusals: 0,
        };
        slots.ended(&ticket, 1500, Outcome::Ok);
        conductor.count(
            0,
            vec![
                fired(None, CallResults::for_calls(0)),
                fired(Some(1000), slots),
            ],
        );
        let points: Vec<_> = conductor
            .points
            .into_iter()
            .map(Gathering::finish)
            .collect();
        assert_eq!(points[0].shots[0].span_ns, 500);
    }
}
