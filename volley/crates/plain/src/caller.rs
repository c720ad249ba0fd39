//! Single calls over one connection, without a load loop: to ask for a schema, and to try a method.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::LoadError;
use super::call::{Call, Ticket};
use super::lost::{not_in_time, words};
use volley_base::budget::{Budget, Buffer};
use volley_http::grpc::encoding::Encoding;
use volley_http::grpc::{Code, SplitError, Status, status};
use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{self, Closed, Connection, ErrorCode, Handler, Head, Next, Own};
use volley_load::pace::whole_ns;
use volley_load::spec::{SpecError, TargetSpec};
use volley_net as net;
use volley_net::names;
use volley_net::proxy::Proxies;
use volley_net::tls_config;
use volley_net::transport::agreed;
use volley_net::{Clock, Event as Came, NetError, Phase, Place, Sockets, Way, connect_words};
use volley_report::measure::Warning;
use volley_request::Expected;

/// A signal is noticed within this time.
const LOOK: Duration = Duration::from_millis(50);

/// Headers or trailers, without pseudo-headers, in the order of the server.
pub type Fields = Vec<(String, Vec<u8>)>;

/// What comes back from a call, in this order.
#[derive(Debug)]
pub enum Event {
    /// The response's headers. A call that fails at once has none.
    Headers(Fields),
    /// A reply, decompressed.
    Reply(Buffer),
    /// The end.
    Ended { trailers: Fields, status: Status },
}

/// Why nothing comes back.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lost {
    #[error("it was not answered in time")]
    TimedOut,
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Broken(String),
}

/// What is asked of a call's replies.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What they must be.
    pub expected: Arc<Expected>,
    /// The longest one accepted, in bytes.
    pub longest: usize,
    /// The client ends the call after this many; 0: never.
    pub enough: u64,
}

impl Wanted {
    /// Any number of any replies, of at most this many bytes each.
    pub fn anything(longest: usize) -> Self {
        Self {
            expected: Arc::new(Expected::anything()),
            longest,
            enough: 0,
        }
    }
}

/// Its sockets: one, or several while it is connecting.
type Net = Sockets<Connection<Call<Fields>>, ()>;

/// A connection for one call at a time.
pub struct Caller {
    net: Net,
    /// The connection's key.
    key: usize,
    clock: Moments,
    came: VecDeque<(Event, Instant)>,
    /// Why nothing more will come.
    lost: Option<Lost>,
    /// What the server has not done yet, if no connection is ready in time.
    waits_for: &'static str,
    /// The call under way.
    stream: Option<u32>,
    replies: Wanted,
    budget: Arc<Budget>,
    without_alpn: bool,
    signal: Arc<AtomicBool>,
}

/// Moments of callers as sockets know them: in ns since this one.
struct Moments(Instant);

impl Moments {
    fn ns(&self, moment: Instant) -> u64 {
        whole_ns(moment.saturating_duration_since(self.0))
    }

    fn now_ns(&self) -> u64 {
        self.ns(Instant::now())
    }

    fn at(&self, ns: u64) -> Instant {
        self.0 + Duration::from_nanos(ns)
    }
}

impl Caller {
    /// Connects to the first of the target's addresses that answers, and waits for its SETTINGS. Replies have memory of
    /// `budget`.
    ///
    /// # Errors
    ///
    /// If none does until `until`, or `signal` is set.
    pub fn connect(
        target: &TargetSpec,
        budget: Budget,
        signal: &Arc<AtomicBool>,
        until: Instant,
    ) -> Result<Self, LoadError> {
        let budget = Arc::new(budget);
        Self::connect_by(target, &Proxies::of_process(), &budget, signal, until)
    }

    fn connect_by(
        spec: &TargetSpec,
        proxies: &Proxies,
        budget: &Arc<Budget>,
        signal: &Arc<AtomicBool>,
        until: Instant,
    ) -> Result<Self, LoadError> {
        let target = spec.target().map_err(SpecError::from)?;
        let tls = tls_config::client(spec, &target).map_err(NetError::from)?;
        let routes = names::routes(&target, proxies)?;
        let shown = names::words(&target, &routes);
        let mut caller = Self {
            net: Sockets::new(Clock::start())?,
            key: usize::MAX,
            clock: Moments(Instant::now()),
            came: VecDeque::new(),
            lost: None,
            waits_for: "nothing answered",
            stream: None,
            replies: Wanted::anything(0),
            budget: Arc::clone(budget),
            without_alpn: false,
            signal: Arc::clone(signal),
        };
        let config = http2::Config {
            window: spec.window,
            ..http2::Config::default()
        };
        let way = |tried: usize| {
            Some(Way {
                route: Arc::clone(routes.get(tried)?),
                tls: tls.as_ref(),
                http: Connection::new(&config),
                owner: (),
            })
        };
        let reason = match caller.open(way, routes.len(), until) {
            Ok(()) => return Ok(caller),
            Err(Lost::Interrupted) => return Err(NetError::Interrupted.into()),
            Err(Lost::Broken(words)) => words,
            Err(Lost::TimedOut) => {
                not_in_time(caller.waits_for, spec.connect_timeout.as_secs_f64())
            }
        };
        let target = shown;
        Err(NetError::Connect { target, reason }.into())
    }

    /// Tries the ways to the server until calls can be made on a connection. Each may take its share of the time.
    fn open<'w>(
        &mut self,
        way: impl Fn(usize) -> Option<Way<'w, Connection<Call<Fields>>, ()>>,
        ways: usize,
        until: Instant,
    ) -> Result<(), Lost> {
        let share_ns = self.clock.ns(until) / (ways as u64).max(1);
        let mut place = Place::default();
        let mut why = Lost::TimedOut;
        loop {
            let now_ns = self.clock.now_ns();
            if !place.is_trying() {
                match self.net.try_next(&mut place, now_ns, &way) {
                    Ok(()) => {}
                    Err(Some(error)) => return Err(Lost::Broken(connect_words(&error))),
                    Err(None) => return Err(why),
                }
            }
            let rested = self.rest(until);
            if let Some((_, wire)) = self.net.wires.iter().next() {
                self.waits_for = wire.transport.wait_words();
            }
            rested?;
            while let Some(event) = self.net.next_event() {
                let (key, result) = match event {
                    Came::Bytes { key, length, at_ns } => (key, self.greet(key, length, at_ns)),
                    Came::Ended { key, lost, .. } => (key, Err(self.ended(key, lost))),
                    _ => continue,
                };
                match result {
                    Ok(false) => {}
                    Ok(true) => return Ok(()),
                    Err(lost) => {
                        why = lost;
                        place.failed(key);
                        self.net.remove(key);
                    }
                }
            }
            let limit_ns = |_, _: &_| match place.tried < ways {
                true => share_ns,
                false => u64::MAX,
            };
            let now_ns = self.clock.now_ns();
            let (overdue, slow) = self.net.late(now_ns, limit_ns, |()| place.attempt());
            for key in overdue {
                why = Lost::TimedOut;
                place.failed(key);
                self.net.remove(key);
            }
            if !slow.is_empty() {
                // Without another way, the wait goes on.
                let _ = self.net.try_next(&mut place, now_ns, &way);
            }
        }
    }

    /// Takes the bytes of a connection that is not ready. Returns whether it is now.
    fn greet(&mut self, key: usize, length: usize, at_ns: u64) -> Result<bool, Lost> {
        let fed = self.feed(key, length, at_ns);
        fed.map_err(|lost| self.ended(key, lost))?;
        let wire = self.net.wires.get_mut(key).ok_or_else(gone)?;
        if !(wire.transport.is_open() && wire.http.is_ready()) {
            return Ok(false);
        }
        let is_agreed = agreed(wire.transport.alpn()).map_err(broken)?;
        self.without_alpn = wire.transport.is_tls() && !is_agreed;
        wire.phase = Phase::Ready;
        self.key = key;
        // Those that were tried beside it are closed.
        let others: Vec<_> = self.net.wires.iter().map(|(key, _)| key).collect();
        for other in others.into_iter().filter(|other| *other != key) {
            self.net.remove(other);
        }
        Ok(true)
    }

    /// How many calls the server allows at a time.
    pub fn capacity(&self) -> usize {
        let wire = self.net.wires.get(self.key);
        wire.map_or(0, |wire| wire.http.capacity())
    }

    /// What must be known of the server.
    pub fn warning(&self) -> Option<Warning> {
        self.without_alpn.then_some(Warning::NoAlpn)
    }

    /// Starts a call with this head, and `literals`: encoded fields of its own. Any call before it is cancelled.
    ///
    /// # Errors
    ///
    /// If the server allows no calls.
    pub fn begin(
        &mut self,
        head: &Arc<Head>,
        literals: &[u8],
        replies: Wanted,
    ) -> Result<(), Lost> {
        let stream = self.stream.take();
        self.came.clear();
        let Some(wire) = self.net.wires.get_mut(self.key) else {
            return Err(gone());
        };
        if let Some(stream) = stream {
            wire.http.cancel(stream, ErrorCode::Cancel);
        }
        if wire.is_ending {
            return Err(gone());
        }
        if wire.http.capacity() == 0 {
            let words = "the server allows no calls on this connection";
            return Err(Lost::Broken(words.to_owned()));
        }
        let call = Call::new(
            Ticket::default(),
            Fields::new(),
            Arc::clone(&replies.expected),
        );
        let own = Own {
            last: literals,
            ..Own::default()
        };
        self.stream = Some(wire.http.open_with(call, head, own, false));
        self.replies = replies;
        Ok(())
    }

    /// Sends length-prefixed messages; `is_last`: the client has no more.
    pub fn send(&mut self, bytes: &[u8], is_last: bool) {
        if let (Some(stream), Some(wire)) = (self.stream, self.net.wires.get_mut(self.key)) {
            wire.http.send(stream, bytes, is_last);
        }
    }

    /// Ends the call, without its trailers. Says what was wrong with its replies so far.
    pub fn cancel(&mut self) -> Option<Status> {
        let (stream, wire) = (self.stream.take()?, self.net.wires.get_mut(self.key)?);
        let call = wire.http.cancel(stream, ErrorCode::Cancel);
        self.net.flush(self.key);
        call?.fault.map(|fault| *fault)
    }

    /// Waits for what comes next, and says when it came.
    ///
    /// # Errors
    ///
    /// If nothing comes in time. What is read later is too late.
    pub fn next(&mut self, until: Instant) -> Result<(Event, Instant), Lost> {
        loop {
            if let Some((event, at)) = self.came.pop_front() {
                return if at < until {
                    Ok((event, at))
                } else {
                    Err(Lost::TimedOut)
                };
            }
            if let Some(lost) = self.lost.take() {
                return Err(lost);
            }
            match self.turn(until) {
                // What came before counts.
                Err(lost) if !self.came.is_empty() => self.lost = Some(lost),
                turned => turned?,
            }
        }
    }

    /// Takes what has come, or else waits a little for it.
    fn turn(&mut self, until: Instant) -> Result<(), Lost> {
        self.left(until)?;
        if !self.net.wires.contains(self.key) {
            return Err(gone());
        }
        self.net.flush(self.key);
        let ended = match self.net.next_event() {
            None => return self.rest(until),
            Some(Came::Bytes { length, at_ns, .. }) => self.feed(self.key, length, at_ns),
            Some(Came::Ended { lost, .. }) => Err(lost),
            Some(_) => Ok(()),
        };
        ended.map_err(|lost| {
            let lost = self.ended(self.key, lost);
            self.net.remove(self.key);
            lost
        })
    }

    /// Takes the bytes of a read.
    fn feed(&mut self, key: usize, length: usize, at_ns: u64) -> Result<(), Option<net::Lost>> {
        let mut listener = Listener {
            now: self.clock.at(at_ns),
            came: &mut self.came,
            longest: self.replies.longest,
            enough: self.replies.enough,
            budget: &self.budget,
        };
        let taken = self.net.feed(key, length, |_, _| Ok(()), &mut listener);
        // Perhaps its last bytes: a GOAWAY, or a TLS alert.
        self.net.flush(key);
        taken
    }

    fn ended(&mut self, key: usize, lost: Option<net::Lost>) -> Lost {
        let wire = self.net.wires.get_mut(key);
        wire.map_or_else(gone, |wire| broken(wire.ended(lost)))
    }

    /// Waits until a socket is ready, or a little.
    fn rest(&mut self, until: Instant) -> Result<(), Lost> {
        let rest = self.left(until)?.min(LOOK);
        let until_ns = self.clock.ns(Instant::now() + rest);
        let waited = self.net.wait(until_ns, false);
        waited.map_err(|error| Lost::Broken(error.to_string()))
    }

    /// The time that is left, unless a signal has come.
    fn left(&self, until: Instant) -> Result<Duration, Lost> {
        let left = until.saturating_duration_since(Instant::now());
        match self.signal.load(Ordering::Relaxed) {
            true => Err(Lost::Interrupted),
            false if left.is_zero() => Err(Lost::TimedOut),
            false => Ok(left),
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.net.close_all();
    }
}

fn gone() -> Lost {
    Lost::Broken("the server closed the connection".to_owned())
}

fn broken(lost: net::Lost) -> Lost {
    Lost::Broken(words(&lost))
}

/// Handles the events of one read.
struct Listener<'a> {
    now: Instant,
    came: &'a mut VecDeque<(Event, Instant)>,
    longest: usize,
    enough: u64,
    budget: &'a Arc<Budget>,
}

impl Handler<Call<Fields>> for Listener<'_> {
    fn on_headers(&mut self, call: &mut Call<Fields>, list: &HeaderList, end_stream: bool) -> Next {
        let fields = list.iter().filter(|(name, _)| !name.starts_with(b":"));
        let fields: Fields = fields
            .map(|(name, value)| {
                let value = status::shown(name, value).into_owned();
                (String::from_utf8_lossy(name).into_owned(), value)
            })
            .collect();
        let is_first = !std::mem::replace(&mut call.answered, true);
        if is_first {
            call.encoding = Encoding::of(list);
        }
        call.status = match is_first {
            true => Status::from_headers(list, end_stream)
                .filter(|status| end_stream || !status.is_ok()),
            false => Some(Status::from_trailers(list)),
        };
        if end_stream || !is_first {
            call.mark = fields;
        } else {
            self.came.push_back((Event::Headers(fields), self.now));
        }
        let goes_on = end_stream || !is_first || status::has_grpc(list);
        match call.status.is_some() && !goes_on {
            true => Next::Cancel(ErrorCode::Cancel), // what follows is not gRPC
            false => Next::Continue,
        }
    }

    fn on_data(&mut self, call: &mut Call<Fields>, data: &[u8], _end_stream: bool) -> Next {
        let mut problem = None;
        let mut splitter = std::mem::take(&mut call.splitter);
        let (encoding, most, budget) = (call.encoding, self.longest, self.budget);
        let mut take = |is_compressed: bool, message: &[u8]| {
            let mut reply = Buffer::default();
            let taken = match is_compressed {
                false => reply
                    .extend(message, message.len(), budget)
                    .map_err(|error| SplitError::from(error).into()),
                true => encoding
                    .decode(message, most, &mut reply, budget)
                    .map_err(Status::from),
            };
            if let Err(status) = taken {
                problem = Some(status);
                return ControlFlow::Break(());
            }
            if let Err(mismatch) = call.expected.check(call.replies, &reply) {
                call.wrong(&mismatch);
            }
            self.came.push_back((Event::Reply(reply), self.now));
            call.replies += 1;
            call.enough = call.replies == self.enough;
            match call.enough {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let split = splitter.push(data, most, budget, &mut take);
        call.splitter = splitter;
        if let Err(error) = split {
            problem = Some(error.into());
        }
        match problem {
            Some(problem) => call.blame(problem.code, problem.message),
            None if call.enough => {}
            None => return Next::Continue,
        }
        Next::Cancel(ErrorCode::Cancel)
    }

    fn on_closed(&mut self, call: &mut Call<Fields>, why: Closed) {
        call.judge(why);
        let status = match (call.fault.take(), call.status.take()) {
            (Some(fault), _) => *fault,
            (None, Some(status)) => status,
            (None, None) => Status::new(Code::Ok, ""),
        };
        let trailers = std::mem::take(&mut call.mark);
        self.came
            .push_back((Event::Ended { trailers, status }, self.now));
    }
}

#[cfg(test)]
mod tests;
