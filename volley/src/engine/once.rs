//! Single calls over one connection, without a load loop: to ask for a schema, and to try a method.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};
use thiserror::Error;

use super::EngineError;
use super::call::{Call, Ticket};
use super::words::words;
use crate::budget::{Budget, Buffer};
use crate::grpc::encoding::Encoding;
use crate::grpc::{Code, SplitError, Status, status};
use crate::http2::hpack::HeaderList;
use crate::http2::{self, Closed, Connection, ErrorCode, Handler, Head, Next, Own};
use crate::measure::Warning;
use crate::net::names::{self, Route};
use crate::net::proxy::Proxies;
use crate::net::transport::{TlsClient, agreed};
use crate::net::{self, NetError, Phase, Wire, connect_words, tls};
use crate::request::Expected;
use crate::spec::{SpecError, TargetSpec};

/// The size of one read.
const READ_BYTES: usize = 64 * 1024;

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

/// A connection for one call at a time.
pub struct Caller {
    wire: Wire<Connection<Call<Fields>>, ()>,
    poll: Poll,
    buffer: Vec<u8>,
    came: VecDeque<(Event, Instant)>,
    /// Why nothing more will come.
    lost: Option<Lost>,
    /// The call under way.
    stream: Option<u32>,
    replies: Wanted,
    budget: Arc<Budget>,
    without_alpn: bool,
    signal: Arc<AtomicBool>,
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
    ) -> Result<Self, EngineError> {
        let budget = Arc::new(budget);
        Self::connect_by(target, &Proxies::of_process(), &budget, signal, until)
    }

    fn connect_by(
        spec: &TargetSpec,
        proxies: &Proxies,
        budget: &Arc<Budget>,
        signal: &Arc<AtomicBool>,
        until: Instant,
    ) -> Result<Self, EngineError> {
        let target = spec.target().map_err(SpecError::from)?;
        let tls = tls::client(spec, &target).map_err(NetError::from)?;
        let routes = names::routes(&target, proxies)?;
        let shown = names::words(&target, &routes);
        let each = until.saturating_duration_since(Instant::now())
            / u32::try_from(routes.len()).unwrap_or(u32::MAX).max(1);
        let mut reason = String::new();
        for route in &routes {
            let mut caller = match Self::new(route, tls.as_ref(), spec.window, budget, signal) {
                Ok(caller) => caller,
                Err(error) => {
                    reason = connect_words(&error);
                    continue;
                }
            };
            match caller.open(until.min(Instant::now() + each)) {
                Ok(()) => return Ok(caller),
                Err(Lost::Interrupted) => return Err(NetError::Interrupted.into()),
                Err(Lost::Broken(words)) => reason = words,
                Err(Lost::TimedOut) => {
                    let seconds = spec.connect_timeout.as_secs_f64();
                    let words = caller.wire.transport.wait_words();
                    reason = format!("{words} within {seconds} s (`--connect-timeout`)");
                }
            }
        }
        let target = shown;
        Err(NetError::Connect { target, reason }.into())
    }

    /// Starts to connect.
    fn new(
        route: &Arc<Route>,
        tls: Option<&TlsClient>,
        window: u32,
        budget: &Arc<Budget>,
        signal: &Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let config = http2::Config {
            window,
            ..http2::Config::default()
        };
        let wire = Wire::open(route, tls, Connection::new(&config), (), 0)?;
        let poll = Poll::new()?;
        wire.join(poll.registry(), Token(0))?;
        Ok(Self {
            wire,
            poll,
            buffer: vec![0; READ_BYTES],
            came: VecDeque::new(),
            lost: None,
            stream: None,
            replies: Wanted::anything(0),
            budget: Arc::clone(budget),
            without_alpn: false,
            signal: Arc::clone(signal),
        })
    }

    /// Waits until calls can be made.
    fn open(&mut self, until: Instant) -> Result<(), Lost> {
        while !self.wire.connected().map_err(broken)? {
            self.rest(until)?;
        }
        while !(self.wire.transport.is_open() && self.wire.http.is_ready()) {
            self.turn(until)?;
        }
        self.wire.phase = Phase::Ready;
        let transport = &self.wire.transport;
        let is_agreed = agreed(transport.alpn()).map_err(broken)?;
        self.without_alpn = transport.is_tls() && !is_agreed;
        Ok(())
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
        if let Some(stream) = self.stream.take() {
            self.wire.http.cancel(stream, ErrorCode::Cancel);
        }
        self.came.clear();
        if self.wire.http.capacity() == 0 {
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
        self.stream = Some(self.wire.http.open_with(call, head, own, false));
        self.replies = replies;
        Ok(())
    }

    /// Sends length-prefixed messages; `is_last`: the client has no more.
    pub fn send(&mut self, bytes: &[u8], is_last: bool) {
        if let Some(stream) = self.stream {
            self.wire.http.send(stream, bytes, is_last);
        }
    }

    /// Ends the call, without its trailers. Says what was wrong with its replies so far.
    pub fn cancel(&mut self) -> Option<Status> {
        let call = self
            .wire
            .http
            .cancel(self.stream.take()?, ErrorCode::Cancel);
        self.flush();
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

    /// Writes what waits, and reads what is there. Rests if that is nothing.
    fn turn(&mut self, until: Instant) -> Result<(), Lost> {
        self.left(until)?;
        if self.wire.transport.is_over() {
            return Err(self.ended(None));
        }
        self.flush();
        let length = match self.wire.transport.fill(&mut self.buffer) {
            Ok(0) => return Err(self.ended(None)),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return self.rest(until),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(self.ended(Some(net::Lost::Io(error)))),
        };
        let mut listener = Listener {
            now: Instant::now(),
            came: &mut self.came,
            longest: self.replies.longest,
            enough: self.replies.enough,
            budget: &self.budget,
        };
        let bytes = self.buffer.get(..length).unwrap_or_default();
        let taken = self.wire.take(bytes, |_, _| Ok(()), &mut listener);
        // Perhaps its last bytes: a GOAWAY, or a TLS alert.
        self.flush();
        taken.map_err(broken)
    }

    fn ended(&mut self, lost: Option<net::Lost>) -> Lost {
        broken(self.wire.ended(lost))
    }

    /// Writes as much as the socket takes. An error is left to the next read: what the server sent before says more.
    fn flush(&mut self) {
        self.wire.unblock();
        let _ = self.wire.flush();
    }

    /// Waits until the socket is ready, or a little.
    fn rest(&mut self, until: Instant) -> Result<(), Lost> {
        let left = self.left(until)?;
        let mut events = Events::with_capacity(4);
        match self.poll.poll(&mut events, Some(left.min(LOOK))) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                Err(Lost::Broken(error.to_string()))
            }
            _ => Ok(()),
        }
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
        self.wire.unblock();
        self.wire.close();
    }
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
