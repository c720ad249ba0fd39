//! What each call sends, and what is made of its replies.

use super::call::Ticket;
use volley_http::grpc::{Code, Status};
use volley_http::http2::hpack::HeaderList;
use volley_load::spec::Spec;
use volley_report::measure::Outcome;
use volley_request::{Method, Request, RequestError, Source};

/// Decides what a thread's calls send, and learns what comes back. Each thread owns one.
///
/// The methods are called for every call and every reply, and are compiled into the load loop: a script that does
/// nothing in one of them costs nothing there.
pub trait Script: Sized {
    /// Whether it wants to see headers and replies. If not, they are not passed on.
    const READS: bool;

    /// What a call carries for its script until it ends.
    type Mark: Copy;

    /// The same for another thread.
    ///
    /// # Errors
    ///
    /// As for the first.
    fn again(&self, spec: &Spec, method: &Method) -> Result<Self, RequestError>;

    /// What a call sends.
    ///
    /// # Errors
    ///
    /// Why it cannot be sent: it then counts as failed with this status, and the run goes on.
    fn request(&mut self, ticket: &Ticket) -> Result<(&Request, Self::Mark), Status>;

    /// Message `n` of a call's stream, if it is made when it is sent; `None`: it is in the request's body.
    ///
    /// # Errors
    ///
    /// Why it cannot be made: the call then ends with this status.
    fn message(&mut self, _ticket: &Ticket, _n: u64) -> Result<Option<&[u8]>, Status> {
        Ok(None)
    }

    /// A call's headers or trailers came.
    fn head(&mut self, _mark: Self::Mark, _fields: &HeaderList) {}

    /// A call's reply came; `index` counts from 0.
    fn reply(&mut self, _mark: Self::Mark, _index: u64, _message: &[u8]) {}

    /// A call ended, perhaps before it was sent. Those that are cut do not.
    fn ended(&mut self, _ticket: &Ticket, _outcome: &Outcome) {}
}

/// The same request for every call, or what its templates make of it. It looks at no reply.
pub struct Plain {
    source: Source,
}

impl Plain {
    /// The script of one thread.
    ///
    /// # Errors
    ///
    /// If no request can be made.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        Ok(Self {
            source: Source::new(spec, method)?,
        })
    }

    /// Whether nothing must be rendered for each call.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.source.is_fixed()
    }
}

impl Script for Plain {
    const READS: bool = false;

    type Mark = ();

    fn again(&self, spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let source = self.source.again(spec, method)?;
        Ok(Self { source })
    }

    #[inline]
    fn request(&mut self, ticket: &Ticket) -> Result<(&Request, ()), Status> {
        match self.source.next(ticket.worker, ticket.number) {
            Ok(request) => Ok((request, ())),
            Err(error) => Err(unsent(&error)),
        }
    }

    fn message(&mut self, ticket: &Ticket, n: u64) -> Result<Option<&[u8]>, Status> {
        self.source
            .message(ticket.worker, ticket.number, n)
            .map_err(|error| unsent(&error))
    }
}

#[cold]
fn unsent(error: &RequestError) -> Status {
    let code = match error {
        RequestError::TooLong { .. } => Code::ResourceExhausted,
        _ => Code::Internal,
    };
    Status::new(code, format!("the request cannot be made: {error}"))
}
