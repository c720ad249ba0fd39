//! Stand-ins.
use super::Values;
use super::engine::flight::Flight;
use super::plan::Plan;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Timeout,
    Connect,
    Lost,
    Reset,
    Refused,
    Status,
    Check(usize),
    Missing(usize),
    Unrendered,
    Protocol,
    TooLarge,
    Reply,
    Replies,
}

#[derive(Clone, Debug)]
pub struct Failure {
    pub reason: Reason,
    pub words: String,
}

impl Failure {
    pub fn new(reason: Reason, words: String) -> Self {
        Self { reason, words }
    }
}

#[derive(Debug)]
pub enum Drawn {
    Stop,
}

#[derive(Debug, Default)]
pub struct Feeds;
impl Feeds {
    pub fn draw(&mut self, _feed: usize, _user: u64, _values: &mut Values) -> Result<(), Drawn> {
        Ok(())
    }
}

#[derive(Debug, Default)]
pub struct Tally {
    pub sent: Vec<u64>,
    pub ok: Vec<u64>,
    pub failed: Vec<u64>,
    pub first: Vec<Failure>,
    pub began: u64,
    pub ended: u64,
    pub bad: u64,
    pub cut: u64,
    pub dropped: u64,
}
impl Tally {
    pub fn new(plan: &Plan) -> Self {
        let n = plan.steps.len();
        Self {
            sent: vec![0; n],
            ok: vec![0; n],
            failed: vec![0; n],
            ..Self::default()
        }
    }
    pub fn sent(&mut self, step: usize) {
        self.sent[step] += 1;
    }
    pub fn ended(&mut self, flight: &Flight, _now_ns: u64, verdict: Result<&(), &Failure>) {
        match verdict {
            Ok(()) => self.ok[flight.step] += 1,
            Err(f) => {
                self.failed[flight.step] += 1;
                if self.first.len() < 5 {
                    self.first.push(f.clone())
                }
            }
        }
    }
    pub fn iteration_began(&mut self, _s: usize, _d: u64, _n: u64) {
        self.began += 1;
    }
    pub fn iteration_ended(&mut self, _s: usize, _b: u64, _n: u64, failed: bool) {
        self.ended += 1;
        self.bad += u64::from(failed);
    }
    pub fn iteration_cut(&mut self, _s: usize, _n: u64) {
        self.cut += 1;
    }
    pub fn dropped(&mut self, _s: usize, n: u64) {
        self.dropped += n;
    }
}

pub mod response {
    use super::*;
    use crate::http2::hpack::HeaderList;
    use crate::scenario::plan::{Part, Step};
    pub fn reads_body(step: &Step) -> bool {
        step.saves
            .iter()
            .any(|s| matches!(s.part, Part::Field(_) | Part::Body))
            || !step.expect.checks.is_empty()
    }
    pub fn at_head(
        step: &Step,
        status: u16,
        fields: &HeaderList,
        values: &mut Values,
    ) -> Result<(), Failure> {
        let good = match &step.expect.status[..] {
            [] => (200..400).contains(&status),
            all => all.iter().any(|(a, b)| (*a..=*b).contains(&status)),
        };
        if !good {
            return Err(Failure::new(Reason::Status, format!("status {status}")));
        }
        for (at, save) in step.saves.iter().enumerate() {
            if let Part::Header(name) = &save.part {
                match fields.get(name.as_bytes()) {
                    Some(v) => values.set(save.slot, v),
                    None => return Err(Failure::new(Reason::Missing(at), format!("no {name}"))),
                }
            }
        }
        Ok(())
    }
    pub fn at_end(step: &Step, body: &[u8], values: &mut Values) -> Result<(), Failure> {
        for save in &step.saves {
            if let Part::Field(_) = &save.part {
                values.set(save.slot, &body[..body.len().min(10)]);
            }
        }
        Ok(())
    }
}
