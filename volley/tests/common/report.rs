//! A run's JSON report, as a reader sees it.

use std::fmt::Display;

use serde_json::Value;

/// The report, and the exit status that came with it.
#[derive(Debug)]
pub struct Report {
    pub json: Value,
    pub exit: i32,
    pub stderr: String,
}

impl Report {
    pub fn parse(stdout: &str, exit: i32, stderr: &str) -> Self {
        let json = serde_json::from_str(stdout)
            .unwrap_or_else(|error| panic!("{error}: exit {exit}, `{stdout}`, `{stderr}`"));
        Self {
            json,
            exit,
            stderr: stderr.to_owned(),
        }
    }

    /// A member of volley's own part, such as `/latency_ns/p99`.
    pub fn own(&self, pointer: &str) -> &Value {
        let own = &self.json["volley"];
        own.pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer} in {own:#}"))
    }

    pub fn number(&self, pointer: &str) -> u64 {
        let value = self.own(pointer);
        value
            .as_u64()
            .unwrap_or_else(|| panic!("{pointer} is {value}"))
    }

    pub fn numbers(&self, pointer: &str) -> Vec<u64> {
        let list = self.own(pointer).as_array().unwrap();
        list.iter().map(|value| value.as_u64().unwrap()).collect()
    }

    /// What went to an address: `calls`, `lost_calls`, `connections` or `lost_connections`.
    pub fn used(&self, address: impl Display, what: &str) -> u64 {
        let used = &self.own("/addresses")[&address.to_string()][what];
        used.as_u64()
            .unwrap_or_else(|| panic!("no {address}/{what} in {}", self.own("/addresses")))
    }

    pub fn messages(&self) -> u64 {
        self.number("/messages")
    }

    pub fn ok(&self) -> u64 {
        self.number("/calls/ok")
    }

    pub fn cut(&self) -> u64 {
        self.number("/calls/cut")
    }

    pub fn sent(&self) -> u64 {
        self.number("/sent")
    }

    /// Failed calls by code.
    pub fn failed(&self) -> Vec<(String, u64)> {
        let codes = self.own("/calls/failed").as_object().unwrap();
        codes
            .iter()
            .map(|(code, count)| (code.clone(), count.as_u64().unwrap()))
            .collect()
    }

    pub fn failed_total(&self) -> u64 {
        self.failed().iter().map(|(_, count)| count).sum()
    }

    /// Error texts with their number of calls, the most frequent first.
    pub fn errors(&self) -> Vec<(String, u64)> {
        let texts = self.json["errorDistribution"].as_object().unwrap();
        let mut all: Vec<_> = texts
            .iter()
            .map(|(text, count)| (text.clone(), count.as_u64().unwrap()))
            .collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }

    pub fn warnings(&self) -> Vec<&str> {
        let list = self.own("/warnings").as_array().unwrap();
        list.iter().map(|text| text.as_str().unwrap()).collect()
    }

    pub fn warns_of(&self, words: &str) -> bool {
        self.warnings().iter().any(|text| text.contains(words))
    }

    #[track_caller]
    pub fn warned_of(&self, words: &str) {
        assert!(self.warns_of(words), "{words}: {:?}", self.warnings());
    }

    pub fn samples(&self) -> Vec<&str> {
        let list = self.own("/checks/samples").as_array().unwrap();
        list.iter().map(|text| text.as_str().unwrap()).collect()
    }

    /// Every call succeeded and none was cut; returns their number.
    #[track_caller]
    pub fn all_ok(&self) -> u64 {
        let told = (self.exit, self.failed(), self.cut(), self.errors());
        assert_eq!(told, (0, vec![], 0, vec![]), "{:#}", self.json["volley"]);
        self.ok()
    }

    /// Every call failed with this code; returns their number.
    #[track_caller]
    pub fn all_failed(&self, code: &str) -> u64 {
        let count = self.failed_total();
        let told = (self.exit, self.ok(), self.cut(), self.failed());
        let wanted = (1, 0, 0, vec![(code.to_owned(), count)]);
        assert_eq!(told, wanted, "{:#}", self.json);
        count
    }
}
