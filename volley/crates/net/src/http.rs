//! HTTP/1.1 and HTTP/2 on connections.

use super::lost::{Lost, Rule};
use super::wire::{Http, Phase, Wire};
use volley_http::http2::{ErrorCode, Handler};
use volley_http::{http1, http2};

impl<C> Http for http2::Connection<C> {
    type Call = C;

    #[inline]
    fn output(&self) -> &[u8] {
        self.output()
    }

    #[inline]
    fn consume_output(&mut self, n: usize) {
        self.consume_output(n);
    }

    #[inline]
    fn receive(&mut self, bytes: &[u8], handler: &mut impl Handler<C>) -> Result<(), Rule> {
        self.receive(bytes, handler).map_err(Rule::Http2)
    }

    fn shut_down(&mut self) {
        self.shut_down(ErrorCode::NoError);
    }

    fn ping(&mut self, payload: [u8; 8]) -> bool {
        self.ping(payload);
        true
    }

    fn expect_end(&mut self) {
        self.expect_end();
    }
}

/// One of both.
pub enum AnyHttp<C> {
    One(Box<http1::Connection<C>>),
    Two(Box<http2::Connection<C>>),
}

impl<C> Http for AnyHttp<C> {
    type Call = C;

    fn output(&self) -> &[u8] {
        match self {
            Self::One(http) => http.output(),
            Self::Two(http) => http.output(),
        }
    }

    fn consume_output(&mut self, n: usize) {
        match self {
            Self::One(http) => http.consume_output(n),
            Self::Two(http) => http.consume_output(n),
        }
    }

    #[inline]
    fn receive(&mut self, bytes: &[u8], handler: &mut impl Handler<C>) -> Result<(), Rule> {
        match self {
            Self::One(http) => http.receive(bytes, handler).map_err(Rule::Http1),
            Self::Two(http) => http.receive(bytes, handler).map_err(Rule::Http2),
        }
    }

    fn shut_down(&mut self) {
        if let Self::Two(http) = self {
            http.shut_down(ErrorCode::NoError);
        }
    }

    fn ping(&mut self, payload: [u8; 8]) -> bool {
        match self {
            // A request that takes too long costs the connection anyway.
            Self::One(_) => false,
            Self::Two(http) => Http::ping(&mut **http, payload),
        }
    }

    #[cold]
    fn expect_end(&mut self) {
        match self {
            Self::One(http) => http.expect_end(),
            Self::Two(http) => http.expect_end(),
        }
    }
}

impl<C> AnyHttp<C> {
    /// How many requests may be opened now.
    pub fn capacity(&self) -> usize {
        match self {
            Self::One(http) => http.capacity(),
            Self::Two(http) => http.capacity(),
        }
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        match self {
            Self::One(http) => usize::from(http.is_busy()),
            Self::Two(http) => http.open_streams(),
        }
    }

    /// No request can ever be opened again.
    pub fn is_draining(&self) -> bool {
        match self {
            Self::One(http) => !http.is_reusable(),
            Self::Two(http) => http.is_draining(),
        }
    }

    /// Whether the server has agreed to take requests.
    pub fn is_ready(&self) -> bool {
        match self {
            Self::One(_) => true,
            Self::Two(http) => http.is_ready(),
        }
    }

    /// Whether the server may have closed the connection because it was idle, before it saw the open request.
    pub fn was_idle(&self) -> bool {
        match self {
            Self::One(http) => http.opened() > 1 && !http.has_begun(),
            Self::Two(_) => false,
        }
    }

    /// Removes all open requests: the socket is gone.
    pub fn take(&mut self) -> Vec<C> {
        match self {
            Self::One(http) => http.take_call().into_iter().collect(),
            Self::Two(http) => http.take_calls(),
        }
    }

    /// Gives a request up.
    pub fn cancel(&mut self, stream: u32) {
        match self {
            // What follows could not be told apart from the next response: the connection is of no more use.
            Self::One(http) => drop(http.take_call()),
            Self::Two(http) => drop(http.cancel(stream, ErrorCode::Cancel)),
        }
    }

    /// The server has closed the connection.
    ///
    /// # Errors
    ///
    /// It closed before the end of a response.
    fn end(&mut self, handler: &mut impl Handler<C>) -> Result<(), Lost> {
        match self {
            Self::One(http) => http.end_of_stream(handler).map_err(|violation| Lost::Rule {
                rule: Rule::Http1(violation),
                is_greeting: false,
            }),
            Self::Two(http) => Err(Lost::Closed(http.go_away().cloned())),
        }
    }

    /// The bytes of HTTP that wait to be sent, those of a request that flow control holds back included.
    #[inline]
    pub fn unsent(&self, stream: u32) -> usize {
        match self {
            Self::One(http) => http.output().len(),
            Self::Two(http) if stream == 0 => http.output().len(),
            Self::Two(http) => http.output().len() + http.queued(stream),
        }
    }
}

impl<C, X> Wire<AnyHttp<C>, X> {
    /// How many requests may be opened now, of `most` at a time.
    #[inline]
    pub fn room(&self, most: usize) -> usize {
        match self.phase {
            Phase::Ready => self
                .http
                .capacity()
                .min(most.saturating_sub(self.http.open())),
            _ => 0,
        }
    }

    /// As [`ended`](Self::ended), and a body without a length is complete: the server has closed the connection, or reset
    /// it because it had enough of what is sent.
    pub fn end(&mut self, lost: Option<Lost>, handler: &mut impl Handler<C>) -> Lost {
        let is_by_server = match &lost {
            None => !self.is_attempt(),
            Some(lost) => self.is_mute() && matches!(lost, Lost::Io(_)),
        };
        let lost = self.ended(lost);
        if !is_by_server {
            return lost;
        }
        match self.http.end(handler) {
            Ok(()) => Lost::Closed(None),
            Err(_) if matches!(lost, Lost::Io(_)) => lost,
            Err(why) => why,
        }
    }
}
