//! A thread of a program: its state, its coroutines, its connections and its counters.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};

use mio::Waker;
use mlua::{Function, Table};
use slab::Slab;

use super::answer::{Answer, Received, Registered};
use super::kept::Kept;
use super::links::{Link, Net, Pool};
use super::open_request::{Base, OpenRequest};
use super::shared::{Group, Shared};
use super::task::{Task, Waiter};
use super::{MEMORY, offers, rows};
use crate::engine::RunError;
use crate::engine::site::Site;
use crate::lua::state::{Limit, State};
use crate::report::EndedBy;
use crate::script::Trouble;
use crate::tally::Tally;
use volley_http::http2::Head;
use volley_net::Sockets;
use volley_net::timers::{Deadlines, Timers};
use volley_report::measure::{Failures, process};

/// What other threads send to a worker.
pub enum Mail {
    /// A request, and the function that answers it.
    Request(Arc<Registered>, Box<Received>),
    /// A host that was looked up.
    Site(usize, Box<Result<Site, String>>),
    Addresses(String, Vec<String>),
}

/// Where mail is sent to.
#[derive(Clone)]
pub struct Postbox {
    sender: Sender<Mail>,
    waker: Arc<Waker>,
}

impl Postbox {
    /// Whether both are of the same thread.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.waker, &other.waker)
    }

    /// Whether the worker is still there.
    pub fn send(&self, mail: Mail) -> bool {
        let is_sent = self.sender.send(mail).is_ok();
        // If it cannot be woken, it looks for mail soon by itself.
        let _ = self.waker.wake();
        is_sent
    }
}

/// The addresses of a name.
#[derive(Default)]
pub struct Resolved {
    pub addresses: Vec<String>,
    /// They are good until then.
    pub until_ns: u64,
    /// Who waits for them, and for how long they are to be good.
    pub waiters: Vec<(Waiter, u64)>,
}

/// What came of a thread.
pub struct Harvest {
    pub tally: Tally,
    pub ended_by: EndedBy,
    pub elapsed_ns: u64,
    pub cpu_s: f64,
    pub failure: Option<Trouble>,
    /// Coroutines that say that they failed, and why.
    pub fails: Failures,
    /// Where it has sent requests.
    pub hosts: BTreeSet<String>,
}

/// A thread.
pub struct Worker {
    pub shared: Arc<Shared>,
    pub group: Group,
    /// The program has not asked for threads yet.
    pub is_first: bool,
    index: u32,
    pub state: State,
    pub starter: Function,
    pub chunk: Function,
    pub names: Table,
    /// Why the coroutine that goes on has failed, as it says.
    pub why: Rc<RefCell<Option<String>>>,
    pub fails: Failures,
    pub failure: Option<Trouble>,
    pub set_up: Option<Group>,
    pub tasks: Slab<Task>,
    /// Their coroutines, by their keys from 1 on. mlua has room for 8,000 values of Lua that Rust holds itself.
    pub threads: Table,
    /// The program's own ones.
    pub open: usize,
    pub ready: VecDeque<(Waiter, Answer)>,
    pub serial: u64,
    /// Coroutines that go on at a moment.
    pub timers: Timers<Waiter>,
    pub deadlines: Deadlines,
    pub net: Net,
    /// When connections are looked at again, whatever they bring.
    pub next_glance_ns: u64,
    pub mail: Receiver<Mail>,
    pub postbox: Postbox,
    pub pools: Slab<Pool>,
    pub pool_of: HashMap<Base, usize>,
    pub links: Slab<Link>,
    pub calls: Slab<OpenRequest>,
    /// The bytes of those, and of their responses.
    pub held: usize,
    /// Requests that were sent and are not awaited, by their numbers: those that are open, and responses.
    pub sent: HashMap<(u64, u64), usize>,
    pub kept: Kept,
    pub resolved: HashMap<String, Resolved>,
    pub heads: HashMap<(String, bool, String), Arc<Head>>,
    pub rows: HashMap<(String, bool), usize>,
    pub tally: Tally,
    cpu_s: f64,
}

impl Worker {
    /// A thread whose coroutines have not begun. `group`: what the program has asked for, if it has.
    ///
    /// # Errors
    ///
    /// The host refused something, or the program cannot be compiled.
    pub fn new(shared: &Arc<Shared>, index: u32, group: Option<Group>) -> Result<Self, RunError> {
        let cpu_s = process::thread_cpu_s();
        let net = Sockets::new(shared.clock)?;
        let (sender, mail) = channel();
        let postbox = Postbox {
            sender,
            waker: net.waker(),
        };
        let broken = |error: mlua::Error| RunError::Script(format!("Lua: {error}"));
        let io = shared.options.allow_io.then_some(&*shared.folder);
        let limit = Limit {
            bytes: MEMORY,
            key: None,
        };
        let names = vec![shared.script.name.clone()];
        let state = State::new(limit, io, names).map_err(broken)?;
        let (chunk, names) = state.compile(&shared.script)?;
        let threads = state.lua.create_table().map_err(broken)?;
        let why = Rc::default();
        let starter = offers::install(&state, shared, &postbox, &why).map_err(broken)?;
        Ok(Self {
            shared: Arc::clone(shared),
            group: group.unwrap_or(Group::single()),
            is_first: group.is_none(),
            index,
            state,
            starter,
            chunk,
            names,
            why,
            fails: Failures::default(),
            failure: None,
            set_up: None,
            tasks: Slab::new(),
            threads,
            open: 0,
            ready: VecDeque::new(),
            serial: 0,
            timers: Timers::default(),
            deadlines: Deadlines::default(),
            net,
            next_glance_ns: 0,
            mail,
            postbox,
            pools: Slab::new(),
            pool_of: HashMap::new(),
            links: Slab::new(),
            calls: Slab::new(),
            held: 0,
            sent: HashMap::new(),
            kept: Kept::default(),
            resolved: HashMap::new(),
            heads: HashMap::new(),
            rows: HashMap::new(),
            tally: Tally::new(1, rows::MOST, 0),
            cpu_s,
        })
    }

    /// Runs until the thread has nothing to do any more. The second: the threads that the program has asked for.
    ///
    /// # Errors
    ///
    /// What the host refused.
    pub fn run(mut self) -> Result<(Harvest, Option<Group>), RunError> {
        self.tally.reset(0);
        if let Err(trouble) = self.begin(self.group.of(self.index)) {
            self.fail(trouble);
        }
        let ended_by = loop {
            if let Some(ended_by) = self.turn()? {
                break ended_by;
            }
        };
        let elapsed_ns = self.now_ns();
        let set_up = self.set_up.take();
        // The coroutine that has asked for threads is none of the load's.
        match set_up {
            None => self.leave_open(elapsed_ns),
            Some(_) => self.tally.reset(elapsed_ns),
        }
        self.shared.ended(self.open);
        self.net.close_all();
        let harvest = Harvest {
            tally: self.tally,
            ended_by,
            elapsed_ns,
            cpu_s: process::thread_cpu_s() - self.cpu_s,
            failure: self.failure,
            fails: self.fails,
            hosts: self.pool_of.keys().map(Base::url).collect(),
        };
        Ok((harvest, set_up))
    }

    /// Counts what is open at the end.
    fn leave_open(&mut self, now_ns: u64) {
        for (_, call) in &self.calls {
            let was_sent = call.sent_ns.is_some();
            self.tally
                .left_open(call.row, &call.timing(now_ns), was_sent);
        }
        for (_, task) in &self.tasks {
            if task.number.is_some() {
                self.tally
                    .iteration_left_open(0, (0, task.began_ns, now_ns));
            }
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.shared.clock.now_ns()
    }

    /// Whether no coroutine may go on any more.
    pub fn is_ending(&self) -> bool {
        self.failure.is_some()
            || self.set_up.is_some()
            || self.shared.failed.load(Ordering::Relaxed)
            || self.shared.signal.load(Ordering::Relaxed)
    }

    /// What ends the thread, if anything does by now.
    pub fn end(&self, now_ns: u64) -> Option<EndedBy> {
        if self.failure.is_some() || self.shared.failed.load(Ordering::Relaxed) {
            Some(EndedBy::Failure)
        } else if self.set_up.is_some() {
            Some(EndedBy::Finished)
        } else if self.shared.signal.load(Ordering::Relaxed) {
            Some(EndedBy::Signal)
        } else if now_ns >= self.shared.ends_ns {
            Some(EndedBy::Time)
        } else {
            // A server may hand requests to this thread, whatever has become of its own coroutines.
            let is_over = self.open == 0 && self.shared.is_over();
            is_over.then_some(EndedBy::Finished)
        }
    }

    pub fn trouble_of(&self, error: &mlua::Error) -> Trouble {
        self.state.trouble(error, &self.shared.script, None)
    }
}
