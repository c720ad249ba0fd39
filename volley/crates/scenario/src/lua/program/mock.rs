//! Servers of a program: they answer by rules, or by functions of the program.

mod config;
mod reply;
mod rule;
mod serve;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::thread::JoinHandle;

use tokio::sync::Notify;

use super::answer::Registered;
use super::worker::Postbox;
use config::Config;
use rule::Rule;
use volley_base::budget::Budget;
use volley_base::input;

/// All servers of a program.
#[derive(Default)]
pub struct Servers {
    running: Mutex<Vec<Running>>,
    started: AtomicUsize,
    /// What the user must know of their files.
    warnings: Mutex<Vec<String>>,
    budget: Arc<Budget>,
}

/// A server that runs.
struct Running {
    file: PathBuf,
    id: String,
    mock: Arc<Mock>,
    thread: JoinHandle<()>,
}

/// What a server's connections share.
struct Mock {
    rules: Vec<Rule>,
    /// By the names of rules: the functions that answer, and where these are.
    handlers: RwLock<HashMap<String, Vec<Handler>>>,
    turn: AtomicUsize,
    stop: Notify,
    /// For the bodies of requests.
    budget: Arc<Budget>,
}

/// A function that answers, and its thread.
#[derive(Clone)]
struct Handler {
    function: Arc<Registered>,
    postbox: Postbox,
}

impl Servers {
    /// None yet. Bodies of requests have memory of `budget`.
    pub fn new(budget: &Arc<Budget>) -> Self {
        Self {
            budget: Arc::clone(budget),
            ..Self::default()
        }
    }

    /// Starts a server, and returns its number. A file that a server has been started from has one already.
    ///
    /// # Errors
    ///
    /// What is wrong with its file, or with its address.
    pub fn start(&self, file: &Path) -> Result<String, String> {
        let mut all = self.all();
        if let Some(running) = all.iter().find(|running| running.file == file) {
            return Ok(running.id.clone());
        }
        let text = input::text(file, input::TEXT).map_err(|error| error.to_string())?;
        let config = Config::parse(&text)?;
        let mock = Arc::new(Mock {
            rules: config.rules()?,
            handlers: RwLock::default(),
            turn: AtomicUsize::new(0),
            stop: Notify::new(),
            budget: Arc::clone(&self.budget),
        });
        let thread = serve::start(&config, file.parent().unwrap_or(Path::new("")), &mock)?;
        let id = self.started.fetch_add(1, Ordering::Relaxed).to_string();
        let name = file.display();
        let unknown = config.unknown().into_iter();
        let unknown = unknown.map(|key| format!("{name}: the key `{key}` means nothing"));
        self.warnings_mut().extend(unknown);
        all.push(Running {
            file: file.to_owned(),
            id: id.clone(),
            mock,
            thread,
        });
        Ok(id)
    }

    /// Stops a server, if there is one with this number.
    pub fn stop(&self, id: &str) {
        let mut all = self.all();
        if let Some(at) = all.iter().position(|running| running.id == id) {
            all.swap_remove(at).stop();
        }
    }

    pub fn stop_all(&self) {
        self.all().drain(..).for_each(Running::stop);
    }

    /// Whether any server runs.
    pub fn any(&self) -> bool {
        !self.all().is_empty()
    }

    /// What the user must know, each thing once.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = std::mem::take(&mut *self.warnings_mut());
        all.sort();
        all.dedup();
        all
    }

    pub fn any_was_started(&self) -> bool {
        self.started.load(Ordering::Relaxed) > 0
    }

    /// Lets a function of a thread answer the requests of a rule. Several threads take turns.
    ///
    /// # Errors
    ///
    /// There is no such server, or no such rule.
    pub fn register(
        &self,
        id: &str,
        service: &str,
        function: Registered,
        postbox: &Postbox,
    ) -> Result<(), String> {
        let all = self.all();
        let running = all.iter().find(|running| running.id == id);
        let mock = &running.ok_or_else(|| format!("no server `{id}`"))?.mock;
        if !mock.rules.iter().any(|rule| rule.name == service) {
            return Err(format!("the server has no request `{service}`"));
        }
        let mut handlers = mock.handlers_mut();
        let handlers = handlers.entry(service.to_owned()).or_default();
        // Each coroutine of a thread does the same.
        handlers.retain(|known| !known.postbox.is(postbox));
        handlers.push(Handler {
            function: Arc::new(function),
            postbox: postbox.clone(),
        });
        Ok(())
    }

    /// Lets the rules alone answer, until a thread registers a function again.
    pub fn forget_handlers(&self) {
        for running in self.all().iter() {
            running.mock.handlers_mut().clear();
        }
    }

    fn warnings_mut(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Returns when its socket is closed, and the address is free again.
    fn stop(self) {
        self.mock.stop.notify_one();
        // It has nothing to say.
        let _ = self.thread.join();
    }
}

impl Mock {
    fn handlers_mut(&self) -> RwLockWriteGuard<'_, HashMap<String, Vec<Handler>>> {
        self.handlers
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The function that is next to answer a rule's request.
    fn handler(&self, rule: &Rule) -> Option<Handler> {
        let handlers = self.handlers.read().unwrap_or_else(PoisonError::into_inner);
        let handlers = handlers.get(&rule.name)?;
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        handlers.get(turn % handlers.len().max(1)).cloned()
    }
}
