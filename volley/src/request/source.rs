//! Makes one request after another.

use std::sync::Arc;

use fastrand::Rng;

use super::RequestError;
use super::call::{CallNumber, Request};
use super::head::HeadPlan;
use super::payload::PayloadPlan;
use super::schema::Method;
use super::spec::RequestSpec;
use super::template::CallData;

/// Makes the requests of a run. Each thread has its own, with its own random numbers.
#[derive(Debug)]
pub struct Source {
    requests: Requests,
    random: Rng,
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
}

impl Source {
    /// Builds everything that does not change between calls, and tries every template once, so that
    /// mistakes show before the load starts.
    ///
    /// # Errors
    ///
    /// Whatever prevents the requests.
    pub fn new(spec: &RequestSpec, method: &Method) -> Result<Self, RequestError> {
        let mut plan = Plan {
            head: HeadPlan::new(spec, method)?,
            constant: None,
            payload: PayloadPlan::new(spec, method)?,
            name: spec.name.clone(),
            connections: spec.connections,
        };
        let mut random = Rng::new();
        let mut nothing = CallData::new(CallNumber::default(), "", 1, &mut random);
        if plan.head.is_constant() {
            plan.constant = Some(plan.head.head(&mut nothing)?);
        }
        for number in 0..plan.payload.variants() {
            plan.request(0, number, &mut random)?;
        }
        Ok(Self {
            requests: Requests::new(plan),
            random,
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
    pub fn next(&mut self, worker: u32, number: u64) -> Result<Request, RequestError> {
        match &self.requests {
            Requests::One(request) => Ok(request.clone()),
            Requests::Several(requests) => {
                let turn = usize::try_from(number % requests.len() as u64).unwrap_or(0);
                requests
                    .get(turn)
                    .cloned()
                    .ok_or_else(|| RequestError::NoData {
                        input: String::new(),
                    })
            }
            Requests::Rendered(plan) => plan.request(worker, number, &mut self.random),
        }
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
        Ok(Request {
            head,
            body,
            expected,
        })
    }
}
