//! Coroutines: they go on with an answer, until they ask for the next one.

use mlua::{MultiValue, Thread, Value};

use super::MOST_COROUTINES;
use super::answer::{Answer, Received, Registered};
use super::ask::{Ask, Refusal};
use super::shared::Group;
use super::worker::Worker;
use crate::script::Trouble;
use crate::tally::{End, Failure, Reason, Timing};

/// A coroutine that waits: its key, and its serial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiter {
    pub task: usize,
    pub serial: u64,
}

/// A coroutine.
pub struct Task {
    pub serial: u64,
    pub began_ns: u64,
    /// Of the program itself, by its number; `None`: it answers a request.
    pub number: Option<u64>,
}

impl Worker {
    /// Begins a coroutine of the program for each number.
    pub(super) fn begin(&mut self, numbers: impl Iterator<Item = u64>) -> Result<(), Trouble> {
        for number in numbers {
            let begun = self.starter.call::<Thread>(&self.chunk);
            let thread = begun.map_err(|error| self.trouble_of(&error))?;
            self.open += 1;
            self.shared.began(1);
            self.add(&thread, Some(number), Answer::Nothing)?;
        }
        Ok(())
    }

    /// Calls the function that answers a request.
    pub(super) fn answer(
        &mut self,
        function: &Registered,
        request: Box<Received>,
    ) -> Result<(), Trouble> {
        // Without its address, the server says that there is no response.
        if self.tasks.len() as u64 >= 2 * MOST_COROUTINES {
            return Ok(());
        }
        let Registered { name, place } = function;
        let Ok(found) = self.names.get::<mlua::Function>(name.as_str()) else {
            let words = format!("{place}register_service_handler: there is no function `{name}`");
            return Err(Trouble::Error(words));
        };
        let begun = self.starter.call::<Thread>(found);
        let thread = begun.map_err(|error| self.trouble_of(&error))?;
        self.add(&thread, None, Answer::Request(request))
    }

    fn add(&mut self, thread: &Thread, number: Option<u64>, answer: Answer) -> Result<(), Trouble> {
        self.serial += 1;
        let began_ns = self.now_ns();
        if number.is_some() {
            self.tally.iteration_began(0, None, began_ns);
        }
        let task = self.tasks.insert(Task {
            serial: self.serial,
            began_ns,
            number,
        });
        let waiter = Waiter {
            task,
            serial: self.serial,
        };
        self.ready.push_back((waiter, answer));
        let added = self.threads.raw_set(task + 1, thread);
        added.map_err(|error| self.trouble_of(&error))
    }

    /// A coroutine that waits can go on.
    pub(super) fn wake(&mut self, waiter: Waiter, answer: Answer) {
        self.ready.push_back((waiter, answer));
    }

    /// Lets all coroutines go on that can.
    pub(super) fn go_on(&mut self) {
        // What these make ready has its turn after the sockets.
        for _ in 0..self.ready.len() {
            if self.is_ending() {
                return;
            }
            let Some((waiter, answer)) = self.ready.pop_front() else {
                return;
            };
            let task = self.tasks.get(waiter.task);
            if task.is_some_and(|task| task.serial == waiter.serial) {
                self.resume(waiter, answer);
            }
        }
    }

    fn resume(&mut self, waiter: Waiter, answer: Answer) {
        let thread = match self.threads.raw_get::<Thread>(waiter.task + 1) {
            Ok(thread) => thread,
            Err(error) => return self.fail(self.trouble_of(&error)),
        };
        self.why.borrow_mut().take();
        let resumed = answer
            .into_values(&self.state.lua)
            .map_err(|error| self.trouble_of(&error))
            .and_then(|values| {
                self.state
                    .resume::<MultiValue>(&thread, values, &self.shared.script)
            });
        let why = self.why.borrow_mut().take();
        match (why, resumed) {
            (_, Err(trouble @ Trouble::Broken(_))) => self.fail(trouble),
            (Some(why), _) => self.over(waiter.task, Err(&why)),
            (None, Err(trouble)) => self.fail(trouble),
            (None, Ok(_)) if thread.is_finished() => self.over(waiter.task, Ok(())),
            (None, Ok(values)) => match Ask::parse(&self.state.lua, values) {
                Ok(ask) => self.ask(waiter, ask),
                Err(error) => self.fail(self.trouble_of(&error)),
            },
        }
    }

    /// A coroutine is over. `Err`: it says that something was not as it should be.
    fn over(&mut self, key: usize, end: Result<(), &str>) {
        let Some(task) = self.tasks.try_remove(key) else {
            return;
        };
        // A place that was filled before takes no more memory.
        let _ = self.threads.raw_set(key + 1, Value::Nil);
        if let Err(words) = end {
            let now_ns = self.now_ns();
            self.fails.count(now_ns, words);
        }
        if task.number.is_none() {
            return;
        }
        let now_ns = self.now_ns();
        self.open -= 1;
        self.shared.ended(1);
        self.tally.iteration_ended(
            0,
            (0, task.began_ns, now_ns),
            match end {
                Ok(()) => End::Ok,
                Err(_) => End::Failed,
            },
        );
    }

    fn ask(&mut self, waiter: Waiter, ask: Ask) {
        let now_ns = self.now_ns();
        match ask {
            Ask::SetUp(group) => self.set_up(waiter, group),
            Ask::Connect(base) => self.connect(waiter, base, now_ns),
            Ask::Send { draft, waits } => self.send_new(waiter, draft, waits, now_ns),
            Ask::Await(client, stream) => self.await_response(waiter, (client, stream)),
            Ask::Sleep { ns: 0 } => self.wake(waiter, Answer::Nothing),
            Ask::Sleep { ns } => self.timers.set(now_ns.saturating_add(ns), waiter),
            Ask::Resolve { name, ttl_ns } => self.resolve(waiter, name, ttl_ns, now_ns),
            Ask::Forever => {}
            Ask::Nonsense(refusal, words) => self.refuse(waiter, refusal, words, now_ns),
        }
    }

    /// The first call of all begins the threads; each coroutine of these gets its number.
    fn set_up(&mut self, waiter: Waiter, group: Group) {
        if self.is_first {
            self.set_up = Some(group);
            return;
        }
        let task = self.tasks.get(waiter.task);
        let number = task.and_then(|task| task.number).unwrap_or_default();
        self.wake(waiter, Answer::Number(number));
    }

    fn refuse(&mut self, waiter: Waiter, refusal: Refusal, words: String, now_ns: u64) {
        let row = self.shared.rows.of("requests that cannot be sent", false);
        let answer = match refusal {
            Refusal::Client => return self.wake(waiter, Answer::Client(None)),
            Refusal::Sent => Answer::Sent(None),
            Refusal::Response => Answer::Response(None),
        };
        let failure = Failure {
            reason: Reason::Unrendered,
            what: &words,
        };
        self.tally.unsent(row, &Timing::at(now_ns), &failure);
        self.wake(waiter, answer);
    }

    /// Ends the run: the program has an error.
    pub(super) fn fail(&mut self, trouble: Trouble) {
        self.shared
            .failed
            .store(true, std::sync::atomic::Ordering::Relaxed);
        self.failure.get_or_insert(trouble);
    }
}
