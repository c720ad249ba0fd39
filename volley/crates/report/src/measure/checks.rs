//! Wrong replies.

use serde::{Deserialize, Serialize};

use super::errors::capped;

/// How many wrong replies are quoted.
const MOST_SAMPLES: usize = 10;

/// Calls with a wrong reply: their number, and the first ones in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    pub calls: u64,
    /// (time of the first, what), sorted. The earliest are kept, whatever the order in which
    /// threads are merged.
    samples: Vec<(u64, String)>,
}

impl Failures {
    pub fn count(&mut self, now_ns: u64, what: &str) {
        self.calls += 1;
        let what = capped(what);
        let known = |(ns, text): &(u64, String)| *ns <= now_ns && *text == *what;
        let last = self.samples.last();
        let too_late = last.is_some_and(|(last_ns, _)| *last_ns < now_ns);
        if self.samples.iter().any(known) || (self.samples.len() >= MOST_SAMPLES && too_late) {
            return;
        }
        self.samples.push((now_ns, what.into_owned()));
        self.trim();
    }

    pub fn merge(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.samples.extend(other.samples);
        self.trim();
    }

    /// The same, with times since a moment.
    pub fn since(mut self, start_ns: u64) -> Self {
        for (ns, _) in &mut self.samples {
            *ns = ns.saturating_sub(start_ns);
        }
        self
    }

    /// The earliest sample; empty if there is none.
    pub fn first_sample(&self) -> String {
        let first = self.samples.first();
        first.map_or_else(String::new, |(_, what)| what.clone())
    }

    pub fn into_samples(self) -> Vec<String> {
        self.samples.into_iter().map(|(_, what)| what).collect()
    }

    fn trim(&mut self) {
        self.samples
            .sort_unstable_by(|(ns, text), (other_ns, other)| (text, ns).cmp(&(other, other_ns)));
        self.samples.dedup_by(|(_, text), (_, kept)| text == kept);
        self.samples.sort_unstable();
        self.samples.truncate(MOST_SAMPLES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_every_call_is_told_once() {
        let thread = |offset: u64| {
            let mut failures = Failures::default();
            for n in 0..50 {
                failures.count(2 * n + offset, "reply 17 is wrong");
            }
            failures.count(200, "2 replies");
            failures
        };
        let mut failures = thread(1);
        failures.merge(thread(0));
        assert_eq!(failures.calls, 102);
        assert_eq!(failures.into_samples(), ["reply 17 is wrong", "2 replies"]);
    }

    #[test]
    fn the_earliest_ten_are_kept_whichever_thread_is_merged_first() {
        let thread = |offset: u64| {
            let mut failures = Failures::default();
            for n in 0..50 {
                failures.count(2 * n + offset, &format!("{}", 2 * n + offset));
            }
            failures
        };
        let (mut even, mut odd) = (thread(0), thread(1));
        even.merge(thread(1));
        odd.merge(thread(0));
        assert_eq!(even, odd);
        assert_eq!(even.calls, 100);
        let first_ten: Vec<_> = (0..10).map(|n| n.to_string()).collect();
        assert_eq!(even.into_samples(), first_ten);
    }
}
