//! One iteration of what is on the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::program::once::{Brake, Once, Shown};
use crate::scenario::plan::Plan;

/// An iteration ends after this time.
pub const LONGEST: Duration = Duration::from_secs(60);

/// What is open then ends by itself in this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// The place for one iteration at a time.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    is_taken: Arc<AtomicBool>,
}

/// Frees the place at the end.
struct Place(Arc<AtomicBool>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Ends the iteration if nobody waits for it any more.
struct Unattended(Brake);

impl Drop for Unattended {
    fn drop(&mut self) {
        self.0.pull();
    }
}

impl Trial {
    /// Runs each scenario of a plan once, and returns what that showed; `None` while another one runs. If the future is
    /// dropped, the iteration ends. `allow_io`: its scripts may use files.
    pub async fn run(self, plan: Plan, allow_io: bool, longest: Duration) -> Option<Value> {
        if self.is_taken.swap(true, Ordering::Acquire) {
            return None;
        }
        let place = Place(self.is_taken);
        let once = Once::new(plan, allow_io, Arc::default());
        let brake = once.brake();
        let _unattended = Unattended(brake.clone());
        let mut run = tokio::task::spawn_blocking(move || {
            let _place = place;
            once.run()
        });
        let done = match timeout(longest, &mut run).await {
            Ok(done) => done.map(|shown| (shown, false)),
            Err(_) => {
                brake.pull();
                match timeout(PATIENCE, run).await {
                    Ok(done) => done.map(|shown| (shown, true)),
                    Err(_) => return Some(told(&[], false, Some("the iteration does not end"))),
                }
            }
        };
        Some(match done {
            Ok((Ok(Shown { pages, done }), was_stopped)) => {
                let reason = match &done {
                    _ if was_stopped => Some(format!("stopped after {} s", longest.as_secs())),
                    Err(failure) => Some(failure.line().into_owned()),
                    Ok(_) => None,
                };
                let all_ok = done.unwrap_or(false) && !was_stopped;
                told(&pages, all_ok, reason.as_deref())
            }
            Ok((Err(failure), _)) => told(&[], false, Some(&failure.line())),
            Err(_) => told(&[], false, Some("the iteration broke off")),
        })
    }
}

fn told(pages: &[String], all_ok: bool, reason: Option<&str>) -> Value {
    json!({ "ok": all_ok, "pages": pages, "reason": reason })
}
