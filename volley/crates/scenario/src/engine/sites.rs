//! The sites of a run: those of the file's targets, and those that URLs have led to (`route: authority`).

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use super::site::Site;
use crate::plan::{Route, Target, TlsFiles};
use volley_http::http::HttpUrl;
use volley_load::spec::{Endpoint, address};
use volley_net::NetError;

/// The most authorities that are no targets.
pub const MOST_FOUND: usize = 64;

/// All sites, as all threads share them. Their numbers are those of the targets; the sites that were found follow.
pub struct Sites<'a> {
    targets: &'a [Target],
    pub named: Vec<Site>,
    found: Vec<OnceLock<Arc<Found>>>,
    adding: Mutex<()>,
}

/// An authority that is no target.
struct Found {
    /// The target that led there. Its `http` and `tls` count for this, too.
    like: usize,
    is_tls: bool,
    host: Vec<u8>,
    port: u16,
    /// Empty while its name is looked up; or why it cannot be used.
    site: OnceLock<Result<Site, String>>,
}

impl<'a> Sites<'a> {
    /// The sites of the targets.
    ///
    /// # Errors
    ///
    /// A name has no address, or TLS cannot be set up.
    pub fn new(targets: &'a [Target]) -> Result<Self, NetError> {
        let routes = targets.iter().any(|one| one.route == Route::Authority);
        Ok(Self {
            targets,
            named: targets.iter().map(Site::new).collect::<Result<_, _>>()?,
            found: (0..if routes { MOST_FOUND } else { 0 })
                .map(|_| OnceLock::new())
                .collect(),
            adding: Mutex::default(),
        })
    }

    /// The most connections that may be open over all threads.
    pub fn connections(&self) -> u32 {
        let all = self.named.iter().map(|site| site.connections);
        let most = all.clone().max().unwrap_or_default();
        let found = most.saturating_mul(u32::try_from(self.found.len()).unwrap_or(u32::MAX));
        all.fold(found, u32::saturating_add)
    }

    /// A site that can be connected.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&Site> {
        match self.named.get(at) {
            Some(site) => Some(site),
            None => self.looked_up(at)?.ok(),
        }
    }

    /// Whether it is no target of the file.
    #[inline]
    pub fn is_found(&self, at: usize) -> bool {
        at >= self.named.len()
    }

    /// A site that was found; `None`: its name is being looked up.
    pub fn looked_up(&self, at: usize) -> Option<Result<&Site, &str>> {
        let site = self.found(at)?.site.get()?;
        Some(site.as_ref().map_err(String::as_str))
    }

    fn found(&self, at: usize) -> Option<&Arc<Found>> {
        self.found.get(at.checked_sub(self.named.len())?)?.get()
    }

    /// The site that a URL leads to, in a request or a redirect of `own`: of several targets with the same host, this one.
    ///
    /// # Errors
    ///
    /// It leads to no target, and cannot be routed by its authority.
    pub fn of(&self, url: &HttpUrl<'_>, own: usize) -> Result<usize, String> {
        let is_of = |site: &Site| site.hosts.iter().any(|host| host.is_of(url));
        if self.get(own).is_some_and(is_of) {
            return Ok(own);
        }
        if let Some(at) = self.named.iter().position(is_of) {
            return Ok(at);
        }
        let like = self.found(own).map_or(own, |found| found.like);
        match self.targets.get(like) {
            Some(target) if target.route == Route::Authority => {
                let known = self.known(url, like);
                known.map_or_else(|| self.add(url, like, target), Ok)
            }
            _ => {
                let remedy = "name it in `targets`, or set `http.route: authority`";
                Err(format!("leads to no target of this file: {remedy}"))
            }
        }
    }

    fn known(&self, url: &HttpUrl<'_>, like: usize) -> Option<usize> {
        let is_of = |found: &Arc<Found>| {
            (found.like, found.is_tls, found.port) == (like, url.is_tls, url.port)
                && found.host.eq_ignore_ascii_case(url.host)
        };
        let mut all = self.found.iter().map_while(OnceLock::get);
        all.position(is_of).map(|at| self.named.len() + at)
    }

    /// Adds the site of a URL. A thread of its own looks its name up, which may take long.
    #[cold]
    fn add(&self, url: &HttpUrl<'_>, like: usize, target: &Target) -> Result<usize, String> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = self.known(url, like) {
            return Ok(at);
        }
        let free = self.found.iter().position(|place| place.get().is_none());
        let Some((at, place)) = free.and_then(|at| Some((at, self.found.get(at)?))) else {
            return Err(format!(
                "leads to one more authority than the {MOST_FOUND} that `route: authority` opens connections to: \
                 name those that you need in `targets`"
            ));
        };
        let authority = String::from_utf8_lossy(url.authority).into_owned();
        let endpoint = address(&authority, Some(url.port)).map_err(|error| error.to_string())?;
        let target = Target {
            name: authority,
            hosts: vec![Endpoint::Name(endpoint)],
            is_tls: url.is_tls,
            authority: None,
            tls: TlsFiles {
                server_name: None,
                ..target.tls.clone()
            },
            ..target.clone()
        };
        let found = Arc::new(Found {
            like,
            is_tls: url.is_tls,
            host: url.host.to_vec(),
            port: url.port,
            site: OnceLock::new(),
        });
        let looking = Arc::clone(&found);
        let look = move || {
            let site = Site::new(&target).map_err(|error| error.to_string());
            // Nobody else sets it.
            let _ = looking.site.set(site);
        };
        let started = thread::Builder::new().name("route".to_owned()).spawn(look);
        started.map_err(|error| format!("cannot be looked up: {error}"))?;
        let _ = place.set(found);
        Ok(self.named.len() + at)
    }
}
