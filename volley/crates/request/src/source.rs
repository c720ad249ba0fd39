//! Makes one request after another.

use std::sync::Arc;

use fastrand::Rng;
use volley_http::http2::Head;
use volley_load::spec::Spec;

use super::RequestError;
use super::body::{Body, MAX_LEN};
use super::expect::Expected;
use super::head::HeadPlan;
use super::payload::{PayloadPlan, Scratch};
use super::schema::Method;
use super::template::CallData;

/// How often a template is tried before it counts as a mistake.
const TRIALS: u32 = 16;

/// Makes the requests of a run. Each thread has its own, with its own random numbers.
#[derive(Debug)]
pub struct Source {
    requests: Requests,
}

#[derive(Debug)]
enum Requests {
    /// All calls are the same.
    One(Request),
    /// Calls take these in turn.
    Several(Box<[Request]>),
    /// Something must be rendered for each call.
    Rendered(Box<Renderer>),
}

impl Source {
    /// Builds everything that does not change between calls, and tries every template once, so that
    /// mistakes show before the load starts.
    ///
    /// # Errors
    ///
    /// Whatever prevents the requests.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let file = spec.request.data_file.as_deref();
        Self::tried(spec, method).map_err(|error| error.in_file(file, &spec.request.data))
    }

    fn tried(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let mut renderer = Renderer::new(spec, method, None)?;
        for number in 0..renderer.payload.variants() {
            // A template may fail for some calls and not for others.
            let mut trials = (0..TRIALS).map(|_| renderer.try_out(number));
            if trials.by_ref().all(|trial| trial.is_err()) {
                renderer.try_out(number)?;
            }
        }
        Ok(Self {
            requests: Requests::new(renderer),
        })
    }

    /// The same for another thread. They share the rows of a file. Of what calls hold, each has its own: counting
    /// references from several threads is slow.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn again(&self, spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let first = match &self.requests {
            Requests::Rendered(renderer) => Some(&renderer.payload),
            Requests::One(_) | Requests::Several(_) => None,
        };
        Ok(Self {
            requests: Requests::new(Renderer::new(spec, method, first)?),
        })
    }

    /// Whether nothing must be rendered for each call.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match &self.requests {
            Requests::One(_) | Requests::Several(_) => true,
            Requests::Rendered(renderer) => {
                renderer.head.is_constant() && renderer.payload.is_fixed()
            }
        }
    }

    /// Message `message` of a stream, framed, if it is rendered when it is sent; `None`: it is in the request's body.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub fn message(
        &mut self,
        worker: u32,
        number: u64,
        message: u64,
    ) -> Result<Option<&[u8]>, RequestError> {
        match &mut self.requests {
            Requests::Rendered(renderer) => renderer.message(worker, number, message),
            Requests::One(_) | Requests::Several(_) => Ok(None),
        }
    }

    /// The request of one call. Templates show `worker` and `number` (unique in the run, from 0);
    /// `number` also selects among messages that take turns.
    ///
    /// # Errors
    ///
    /// If the output of a template cannot be sent.
    #[inline]
    pub fn next(&mut self, worker: u32, number: u64) -> Result<&Request, RequestError> {
        match &mut self.requests {
            Requests::One(request) => Ok(request),
            Requests::Several(requests) => {
                let turn = usize::try_from(number % requests.len() as u64).unwrap_or(0);
                requests.get(turn).ok_or_else(nothing)
            }
            Requests::Rendered(renderer) => {
                renderer.render(worker, number)?;
                Ok(&renderer.request)
            }
        }
    }
}

#[cold]
fn nothing() -> RequestError {
    RequestError::NoData {
        input: String::new(),
    }
}

impl Requests {
    fn new(renderer: Renderer) -> Self {
        let payloads = renderer.payload.fixed();
        let Some(payloads) = payloads.filter(|_| renderer.head.is_constant()) else {
            return Self::Rendered(Box::new(renderer));
        };
        let request = |(body, expected): &(_, _)| Request {
            head: Arc::clone(renderer.head.constant()),
            literals: Vec::new(),
            body: Arc::clone(body),
            expected: Arc::clone(expected),
        };
        match payloads {
            [payload] => Self::One(request(payload)),
            payloads => Self::Several(payloads.iter().map(request).collect()),
        }
    }
}

/// Renders one request after another, in the same memory.
#[derive(Debug)]
struct Renderer {
    request: Request,
    random: Rng,
    scratch: Scratch,
    head: HeadPlan,
    payload: PayloadPlan,
    name: String,
    connections: u32,
    /// The longest message that may be sent, in bytes.
    max_send: usize,
}

impl Renderer {
    fn new(
        spec: &Spec,
        method: &Method,
        first: Option<&PayloadPlan>,
    ) -> Result<Self, RequestError> {
        let head = HeadPlan::new(spec, method)?;
        Ok(Self {
            request: Request {
                head: Arc::clone(head.constant()),
                ..Request::default()
            },
            random: Rng::new(),
            scratch: Scratch::default(),
            head,
            payload: PayloadPlan::new(spec, method, first)?,
            name: spec.name.clone(),
            connections: spec.load.connections,
            max_send: spec.request.max_send as usize,
        })
    }

    /// Makes call `number`, and the message of that number if it is made when it is sent.
    fn try_out(&mut self, number: u64) -> Result<(), RequestError> {
        self.render(0, number)?;
        self.message(0, number, number).map(drop)
    }

    fn message(
        &mut self,
        worker: u32,
        number: u64,
        message: u64,
    ) -> Result<Option<&[u8]>, RequestError> {
        let call = CallNumber { worker, number };
        let mut call = CallData::new(call, &self.name, self.connections, &mut self.random);
        self.payload
            .message(message, &mut call, &mut self.scratch, self.max_send)
    }

    fn render(&mut self, worker: u32, number: u64) -> Result<(), RequestError> {
        let call = CallNumber { worker, number };
        let mut call = CallData::new(call, &self.name, self.connections, &mut self.random);
        let Request { literals, .. } = &mut self.request;
        if !self.head.is_constant() {
            self.head
                .varying(&mut call, &mut self.scratch.text, literals)?;
        }
        self.payload
            .payload(number, &mut call, &mut self.scratch, &mut self.request)?;
        if self.max_send < MAX_LEN {
            self.request.body.check(self.max_send)?;
        }
        Ok(())
    }
}

/// Everything that one call needs.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Pseudo-header and header fields that all calls share.
    pub head: Arc<Head>,
    /// The encoded header fields that only this call has.
    pub literals: Vec<u8>,
    /// The messages to send.
    pub body: Arc<Body>,
    /// What its replies must be.
    pub expected: Arc<Expected>,
}

/// Which call this is, for templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallNumber {
    /// Which worker makes it, from 0.
    pub worker: u32,
    /// Unique in the run, from 0: `{{.RequestNumber}}`.
    pub number: u64,
}
