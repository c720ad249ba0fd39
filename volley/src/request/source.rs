//! Makes one request after another.

use std::sync::Arc;

use fastrand::Rng;

use super::RequestError;
use super::body::{Body, MAX_LEN};
use super::expect::Expected;
use super::head::HeadPlan;
use super::payload::PayloadPlan;
use super::schema::Method;
use super::template::CallData;
use crate::http2::Head;
use crate::spec::Spec;

/// How often a template is tried before it counts as a mistake.
const TRIALS: u32 = 16;

/// Makes the requests of a run. Each thread has its own, with its own random numbers.
#[derive(Debug)]
pub struct Source {
    requests: Requests,
    random: Rng,
    /// The last request that was rendered.
    rendered: Option<Request>,
}

#[derive(Debug)]
enum Requests {
    /// All calls are the same.
    One(Request),
    /// Calls take these in turn.
    Several(Box<[Request]>),
    /// Something must be rendered for each call.
    Rendered(Box<Plan>),
}

#[derive(Debug)]
struct Plan {
    head: HeadPlan,
    /// The head, if all calls share it.
    constant: Option<Arc<crate::http2::Head>>,
    payload: PayloadPlan,
    name: String,
    connections: u32,
    /// The longest message that may be sent, in bytes.
    max_send: usize,
}

impl Source {
    /// Builds everything that does not change between calls, and tries every template once, so that
    /// mistakes show before the load starts.
    ///
    /// # Errors
    ///
    /// Whatever prevents the requests.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let mut plan = Plan {
            head: HeadPlan::new(spec, method)?,
            constant: None,
            payload: PayloadPlan::new(spec, method)?,
            name: spec.name.clone(),
            connections: spec.load.connections,
            max_send: spec.request.max_send as usize,
        };
        let mut random = Rng::new();
        let mut nothing = CallData::new(CallNumber::default(), "", 1, &mut random);
        if plan.head.is_constant() {
            plan.constant = Some(plan.head.head(&mut nothing)?);
        }
        for number in 0..plan.payload.variants() {
            // A template may fail for some calls and not for others.
            let mut trials = (0..TRIALS).map(|_| plan.request(0, number, &mut random));
            if trials.by_ref().all(|trial| trial.is_err()) {
                plan.request(0, number, &mut random)?;
            }
        }
        Ok(Self {
            requests: Requests::new(plan),
            random,
            rendered: None,
        })
    }

    /// Whether nothing must be rendered for each call.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        !matches!(self.requests, Requests::Rendered(_))
    }

    /// The request of one call. Templates show `worker` and `number` (unique in the run, from 0);
    /// `number` also selects among messages that take turns.
    ///
    /// # Errors
    ///
    /// If the output of a template cannot be sent.
    #[inline]
    pub fn next(&mut self, worker: u32, number: u64) -> Result<&Request, RequestError> {
        match &self.requests {
            Requests::One(request) => Ok(request),
            Requests::Several(requests) => {
                let turn = usize::try_from(number % requests.len() as u64).unwrap_or(0);
                requests.get(turn).ok_or_else(nothing)
            }
            Requests::Rendered(plan) => {
                self.rendered = Some(plan.request(worker, number, &mut self.random)?);
                self.rendered.as_ref().ok_or_else(nothing)
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
    fn new(plan: Plan) -> Self {
        let (Some(head), Some(payloads)) = (&plan.constant, plan.payload.fixed()) else {
            return Self::Rendered(Box::new(plan));
        };
        let request = |(body, expected): &(_, _)| Request {
            head: Arc::clone(head),
            body: Arc::clone(body),
            expected: Arc::clone(expected),
        };
        match payloads {
            [payload] => Self::One(request(payload)),
            payloads => Self::Several(payloads.iter().map(request).collect()),
        }
    }
}

impl Plan {
    fn request(&self, worker: u32, number: u64, random: &mut Rng) -> Result<Request, RequestError> {
        let mut call = CallData::new(
            CallNumber { worker, number },
            &self.name,
            self.connections,
            random,
        );
        let head = match &self.constant {
            Some(head) => Arc::clone(head),
            None => self.head.head(&mut call)?,
        };
        let (body, expected) = self.payload.payload(number, &mut call)?;
        if self.max_send < MAX_LEN {
            body.check(self.max_send)?;
        }
        Ok(Request {
            head,
            body,
            expected,
        })
    }
}

/// Everything that one call needs. Cheap to clone: three counted references.
#[derive(Clone, Debug)]
pub struct Request {
    /// Pseudo-header and header fields.
    pub head: Arc<Head>,
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
