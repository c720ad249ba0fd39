//! Names of hosts that the program looks up.

use std::thread;

use super::answer::Answer;
use super::links::make_room;
use super::task::Waiter;
use super::worker::{Mail, Resolved, Worker};
use volley_load::spec::address;
use volley_net::names::system;

impl Worker {
    /// A coroutine wants the addresses of a name.
    pub(super) fn resolve(&mut self, waiter: Waiter, name: String, ttl_ns: u64, now_ns: u64) {
        make_room(&mut self.resolved, |known| !known.waiters.is_empty());
        let known = self.resolved.entry(name.clone()).or_default();
        if known.until_ns > now_ns {
            let addresses = known.addresses.clone();
            return self.wake(waiter, Answer::Addresses(addresses));
        }
        known.waiters.push((waiter, ttl_ns));
        if known.waiters.len() > 1 {
            return;
        }
        let (postbox, asked) = (self.postbox.clone(), name.clone());
        let look = move || {
            let found = address(&name, Some(0))
                .ok()
                .and_then(|address| system(&address).ok());
            let mut addresses = Vec::new();
            for address in found.unwrap_or_default() {
                let ip = address.ip().to_string();
                if !addresses.contains(&ip) {
                    addresses.push(ip);
                }
            }
            postbox.send(Mail::Addresses(name, addresses));
        };
        let started = thread::Builder::new().name("names".to_owned()).spawn(look);
        if started.is_err() {
            self.resolved(asked, Vec::new(), now_ns);
        }
    }

    pub(super) fn resolved(&mut self, name: String, addresses: Vec<String>, now_ns: u64) {
        let Some(known) = self.resolved.get_mut(&name) else {
            return;
        };
        let waiters = std::mem::take(&mut known.waiters);
        let ttl_ns = waiters.iter().map(|(_, ttl_ns)| *ttl_ns).min();
        *known = Resolved {
            addresses: addresses.clone(),
            until_ns: now_ns.saturating_add(ttl_ns.unwrap_or_default()),
            waiters: Vec::new(),
        };
        for (waiter, _) in waiters {
            self.wake(waiter, Answer::Addresses(addresses.clone()));
        }
    }
}
