//! Stand-ins.
use super::Values;
use super::engine::flight::Fault;
use super::tally::Reason;

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
    ) -> Result<(), Fault> {
        let good = match &step.expect.status[..] {
            [] => (200..400).contains(&status),
            all => all.iter().any(|(a, b)| (*a..=*b).contains(&status)),
        };
        if !good {
            return Err(Fault::new(Reason::Status, format!("status {status}")));
        }
        for (at, save) in step.saves.iter().enumerate() {
            if let Part::Header(name) = &save.part {
                match fields.get(name.as_bytes()) {
                    Some(v) => values.set(save.slot, v),
                    None => return Err(Fault::new(Reason::Save(at as u16), format!("no {name}"))),
                }
            }
        }
        Ok(())
    }
    pub fn at_end(step: &Step, body: &[u8], values: &mut Values) -> Result<(), Fault> {
        for save in &step.saves {
            if let Part::Field(_) = &save.part {
                values.set(save.slot, &body[..body.len().min(10)]);
            }
        }
        Ok(())
    }
}
