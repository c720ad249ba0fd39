//! A run of one call, as others see and change it.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::shown::{Asked, Refused, Shown};
use super::stats::Stats;
use super::text;
use crate::plain::{Handle, Refusal};
use crate::report::json_line;
use crate::spec::Command;

/// A run of one call.
pub struct Calls {
    /// What is known of it.
    pub stats: Arc<Mutex<Stats>>,
    /// How to change it.
    pub control: Handle,
}

impl Calls {
    fn now(&self) -> Stats {
        // They are whole at any moment.
        let stats = self.stats.lock();
        stats.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shown for Calls {
    fn stats(&self) -> Vec<u8> {
        json_line(&self.now())
    }

    fn metrics(&self) -> String {
        text::metrics(&self.now())
    }

    fn obey(&self, order: Asked) -> Result<(), Refused> {
        let command = match order {
            Asked::Load(body) => change(&body).map_err(Refused::Wrong)?,
            Asked::Pause => Command::Pause,
            Asked::Resume => Command::Resume,
            Asked::Stop => Command::Stop,
        };
        self.control.ask(command).map_err(|refusal| match refusal {
            Refusal::Rate | Refusal::Workers { .. } => Refused::Wrong(refusal.to_string()),
            _ => Refused::Conflict(refusal.to_string()),
        })
    }
}

/// The change that a `PATCH /v1/load` asks for.
fn change(body: &Value) -> Result<Command, String> {
    let needed = "a JSON object with `rps` or `concurrency` is needed, such as {\"rps\": 1000}";
    if body.get("rps").is_some() && body.get("concurrency").is_some() {
        return Err("give one of `rps` and `concurrency`, not both".to_owned());
    }
    let members = body.as_object().filter(|members| members.len() == 1);
    let member = members.and_then(|members| members.iter().next());
    let (key, value) = member.ok_or_else(|| needed.to_owned())?;
    let range = || format!("`{key}` must be a whole number from 1 to {}", u32::MAX);
    let number = whole(value).ok_or_else(range)?;
    match key.as_str() {
        "rps" => Ok(Command::Rate(number)),
        "concurrency" => Ok(Command::Workers(number)),
        _ => Err(needed.to_owned()),
    }
}

/// A whole number of 32 bits.
pub(super) fn whole(value: &Value) -> Option<u32> {
    value.as_u64()?.try_into().ok()
}
