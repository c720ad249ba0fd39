//! Refuses runs that make no sense.

use std::path::Path;
use std::time::Duration;

use super::secret::{MASK, is_secret};
use super::threshold::{Figure, Threshold, Times};
use super::{
    LoadSpec, RESOLVE_LEAST, RequestSpec, SchemaSource, Spec, SpecError, TargetSpec, some,
};
use crate::pace::{Curve, Schedule, ScheduleKind, Timetable, Workers, WorkersSpec, whole_ns};

/// The longest time between two wake-ups of a thread: no reply should wait longer to be read.
pub const MOST_COALESCE: Duration = Duration::from_millis(100);

impl Spec {
    /// Refuses what makes no sense, before anything is opened.
    ///
    /// # Errors
    ///
    /// The first problem, with the flag that mends it.
    pub fn check(&self) -> Result<(), SpecError> {
        self.target.check()?;
        if let SchemaSource::Proto { file, .. } = &self.request.schema {
            check_extension(file)?;
        }
        if self.request.call.is_empty() {
            return Err(SpecError::NoCall);
        }
        self.request.check()?;
        self.load.check()?;
        if self.request.stream.rate > 0 {
            self.check_paced_streams()?;
        }
        if let Some(total) = self.load.calls() {
            let skip_first = self.count.skip_first;
            if skip_first >= total {
                return Err(SpecError::SkipAll { skip_first, total });
            }
        }
        let all = self.load.most_calls()?;
        let kept = all.saturating_sub(self.count.skip_first);
        for Threshold { figure, text, .. } in &self.checks.fail_if {
            if figure.is_of_open_loop() && !self.load.is_open_loop() {
                return Err(SpecError::OpenLoopThreshold(text.clone()));
            }
            let Figure::Time(times, statistic) = figure else {
                continue;
            };
            let most = match times {
                // A call has any number of them.
                Times::Gap => continue,
                // These are recorded before a call ends, so none is left out.
                Times::FirstMessage | Times::SendDelay => all,
                _ => kept,
            };
            if statistic.samples_needed() > most {
                return Err(SpecError::FewCalls {
                    threshold: text.clone(),
                    needed: statistic.samples_needed(),
                    most,
                });
            }
        }
        Ok(())
    }

    /// Refuses what would end paced streams, or change their number.
    fn check_paced_streams(&self) -> Result<(), SpecError> {
        let (stream, load) = (&self.request.stream, &self.load);
        if load.duration.is_zero() {
            return Err(SpecError::PacedWithoutLength);
        }
        let opposed = [
            ("--stream-interval", !stream.interval.is_zero()),
            ("--stream-call-duration", !stream.duration.is_zero()),
            ("--stream-call-count", stream.count > 0),
            ("--timeout", !self.request.timeout.is_zero()),
            ("--expect-replies", self.checks.replies.is_some()),
            ("--async", load.is_async),
            ("--rps", load.rate.rps > 0),
            ("--load-schedule", load.is_open_loop()),
            (
                "--concurrency-schedule",
                load.concurrency.schedule != ScheduleKind::Const,
            ),
            ("--skipFirst", self.count.skip_first > 0),
        ];
        match opposed.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(SpecError::PacedWith { flag }),
            None => Ok(()),
        }
    }
}

impl RequestSpec {
    /// Refuses metadata that a report has masked.
    ///
    /// # Errors
    ///
    /// The first of it.
    pub fn check(&self) -> Result<(), SpecError> {
        let mut all = self.metadata.iter().chain(&self.reflect_metadata);
        match all.find(|(name, value)| is_secret(name) && *value == MASK) {
            Some((name, _)) => Err(SpecError::Masked(name.clone())),
            None => Ok(()),
        }
    }
}

impl TargetSpec {
    /// Refuses what is no way to a server.
    ///
    /// # Errors
    ///
    /// The first problem, with the flag that mends it.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.host.is_empty() {
            return Err(SpecError::NoHost);
        }
        self.target()?;
        if some(self.resolve_every).is_some_and(|every| every < RESOLVE_LEAST) {
            return Err(SpecError::ResolveTooOften);
        }
        check_tls(self)?;
        match self.connect_timeout.is_zero() {
            true => Err(SpecError::NoConnectTimeout),
            false => Ok(()),
        }
    }
}

fn check_extension(file: &Path) -> Result<(), SpecError> {
    match file.extension() {
        Some(extension) if extension == "proto" => Ok(()),
        _ => Err(SpecError::ProtoExtension(file.to_owned())),
    }
}

fn check_tls(target: &TargetSpec) -> Result<(), SpecError> {
    let tls = &target.tls;
    if target.insecure {
        let unused = [
            ("cacert", tls.cacert.is_some()),
            ("cert", tls.cert.is_some()),
            ("key", tls.key.is_some()),
            ("cname", tls.cname.is_some()),
            ("skipTLS", tls.skip_verify),
        ];
        return match unused.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(SpecError::PlaintextWith { flag }),
            None => Ok(()),
        };
    }
    match (&tls.cert, &tls.key) {
        (Some(_), None) => Err(SpecError::CertWithoutKey),
        (None, Some(_)) => Err(SpecError::KeyWithoutCert),
        _ if tls.skip_verify && tls.cacert.is_some() => Err(SpecError::RootsUnused),
        _ => Ok(()),
    }
}

impl LoadSpec {
    /// The most calls that all shares together can make; without a limit, the greatest number.
    fn most_calls(&self) -> Result<u64, SpecError> {
        let due = match (Schedule::new(&self.rate)?, self.length()) {
            (Some(schedule), Some(length)) => schedule.count_until(whole_ns(length)),
            _ => u64::MAX,
        };
        Ok(self.calls().unwrap_or(u64::MAX).min(due))
    }

    fn check(&self) -> Result<(), SpecError> {
        if self.calls() == Some(0) {
            return Err(SpecError::NoCalls);
        }
        let (rate, workers) = (&self.rate, &self.concurrency);
        let (connections, threads) = (self.connections, self.threads.unwrap_or(1));
        for (flag, number, work) in [
            ("-c", workers.workers, "worker to make a call"),
            ("--connections", connections, "connection to send calls on"),
            ("--threads", threads, "thread to do the work"),
        ] {
            if number == 0 {
                return Err(SpecError::None { flag, work });
            }
        }
        if rate.schedule != ScheduleKind::Const && rate.rps > 0 {
            let schedule = rate.schedule.name();
            return Err(SpecError::RpsInSchedule { schedule });
        }
        refuse_unused(&rate.into())?;
        refuse_unused(&workers.into())?;
        Schedule::new(rate)?;
        if self.coalesce_sends > MOST_COALESCE {
            return Err(SpecError::CoalescedTooLong);
        }
        if self.spin && !self.is_open_loop() {
            return Err(SpecError::SpinWithoutRate);
        }
        if self.spin && !self.coalesce_sends.is_zero() {
            return Err(SpecError::SpinAsleep);
        }
        let most = Workers::new(workers)?.most();
        self.check_connections(most)?;
        self.check_opening()
    }

    /// Refuses idle connections (without a worker) and idle threads (without a connection).
    fn check_connections(&self, workers: u32) -> Result<(), SpecError> {
        let connections = self.connections;
        if connections > workers {
            return Err(SpecError::IdleConnections {
                connections,
                workers,
                flag: flag_of_most(&self.concurrency),
            });
        }
        let share = self.share;
        if share.of > connections {
            return Err(SpecError::IdleShare { share, connections });
        }
        if let Some(total) = self.calls()
            && u64::from(share.of) > total
        {
            return Err(SpecError::ShareWithoutCalls { share, total });
        }
        let connections = share.lane().count(connections.into());
        let connections = u32::try_from(connections).unwrap_or(u32::MAX);
        match self.threads {
            Some(threads) if threads > connections => Err(SpecError::IdleThreads {
                threads,
                connections,
            }),
            _ => Ok(()),
        }
    }

    fn check_opening(&self) -> Result<(), SpecError> {
        let Some(at_most) = self.told_within() else {
            return match self.warmup_at_most {
                Some(_) => Err(SpecError::NobodyOpens),
                None => Ok(()),
            };
        };
        if self.calls().is_some() {
            return Err(SpecError::OpenedWithoutLength);
        }
        if self.rate.schedule != ScheduleKind::Const {
            let drop = "`--load-schedule` (`--rps` gives a constant rate)";
            return Err(SpecError::OpenedSchedule { drop });
        }
        if self.concurrency.schedule != ScheduleKind::Const {
            let drop = "`--concurrency-schedule`";
            return Err(SpecError::OpenedSchedule { drop });
        }
        if at_most <= self.warmup {
            return Err(SpecError::NoTimeToOpen);
        }
        Ok(())
    }
}

/// Refuses a flag that a schedule of this kind would ignore.
fn refuse_unused(curve: &Curve) -> Result<(), SpecError> {
    let prefix = curve.flags;
    let given = curve.given().into_iter().filter(|(_, given)| *given);
    let mut given = given.map(|(flag, _)| flag);
    match curve.kind {
        ScheduleKind::Step => Ok(()),
        ScheduleKind::Line if given.any(|flag| flag == "step-duration") => {
            Err(SpecError::StepDurationInLine { prefix })
        }
        ScheduleKind::Line => Ok(()),
        ScheduleKind::Const => match given.next() {
            Some(flag) => Err(SpecError::NoSchedule {
                flag: format!("{prefix}-{flag}"),
                prefix,
            }),
            None => Ok(()),
        },
    }
}

/// The flag that sets the maximum number of workers.
fn flag_of_most(spec: &WorkersSpec) -> &'static str {
    match spec.schedule {
        ScheduleKind::Const => "-c",
        _ if spec.step < 0 => "--concurrency-start",
        _ => "--concurrency-end",
    }
}
