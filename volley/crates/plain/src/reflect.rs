//! The method to call: from the files of a schema, or by asking the server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::LoadError;
use super::caller::{Caller, Event, Lost, Wanted};
use volley_http::grpc::Code;
use volley_load::spec::Spec;
use volley_net::NetError;
use volley_protobuf::reflection::{Answer, METHOD, Question, SERVICES};
use volley_protobuf::{Pool, Service};
use volley_report::measure::Warning;
use volley_request::schema::any;
use volley_request::schema::reflect::{self, MOST_BYTES, Weight};
use volley_request::{Ask, Body, Method, ReflectError, RequestError, head, schema};

/// An answer up to this length, in bytes, still counts as too much; a longer one breaks the call.
const LONGEST_ANSWER: usize = 4 * MOST_BYTES;

/// The method of a run.
///
/// # Errors
///
/// If the schema cannot be had, or has no such method.
pub fn method(spec: &Spec, signal: &Arc<AtomicBool>) -> Result<Method, LoadError> {
    match schema::read(&spec.request.schema)? {
        Some(pool) => Ok(schema::find(&pool, &spec.request.call)?),
        None => Asked::connect(spec, signal)?.method(),
    }
}

/// A server that is asked for its schema. All questions go over one stream.
pub struct Asked<'a> {
    spec: &'a Spec,
    caller: Caller,
    /// The server has answered.
    is_open: bool,
    /// All its answers.
    weight: Weight,
    until: Instant,
}

impl<'a> Asked<'a> {
    /// Connects. What follows has the rest of the time that connecting may take.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    pub fn connect(spec: &'a Spec, signal: &Arc<AtomicBool>) -> Result<Self, LoadError> {
        let until = Instant::now() + spec.target.connect_timeout;
        let caller = Caller::connect(&spec.target, spec.request.budget(), signal, until)?;
        let asked = Self::over(spec, caller);
        Ok(Self { until, ..asked })
    }

    /// Asks over a connection that there is. What follows has as much time as connecting may take.
    #[must_use]
    pub fn over(spec: &'a Spec, caller: Caller) -> Self {
        Self {
            spec,
            caller,
            is_open: false,
            weight: Weight::default(),
            until: Instant::now() + spec.target.connect_timeout,
        }
    }

    /// The method of the run, and the types that its data names.
    ///
    /// # Errors
    ///
    /// If the server does not say it, or has no such method.
    pub fn method(&mut self) -> Result<Method, LoadError> {
        self.method_with(&BTreeSet::new())
    }

    /// The same, and more types that an `Any` may hold.
    ///
    /// # Errors
    ///
    /// If the server does not say the method, or has no such one.
    pub fn method_with(&mut self, types: &BTreeSet<String>) -> Result<Method, LoadError> {
        let mut all = any::types_of(&self.spec.request.data);
        all.extend(types.iter().cloned());
        schema::ask(self, &self.spec.request.call, &all)
    }

    /// The names of all services.
    ///
    /// # Errors
    ///
    /// If the server does not say them.
    pub fn services(&mut self) -> Result<Vec<String>, LoadError> {
        reflect::services(self)
    }

    /// What declares these symbols, as far as the server knows them.
    ///
    /// # Errors
    ///
    /// If the server's answers make no schema.
    pub fn pool(&mut self, symbols: &[String]) -> Result<Pool, LoadError> {
        reflect::pool(self, symbols)
    }

    /// A service by its name.
    ///
    /// # Errors
    ///
    /// If the server does not describe it.
    pub fn service(&mut self, name: &str) -> Result<Service, LoadError> {
        schema::ask_service(self, name)
    }

    /// What must be known of the server.
    pub fn warning(&self) -> Option<Warning> {
        self.caller.warning()
    }

    /// The connection, for a call.
    pub fn into_caller(self) -> Caller {
        self.caller
    }

    /// Starts the stream of a version.
    fn open(&mut self, service: &str) -> Result<(), LoadError> {
        let head = head::of_reflection(self.spec, &format!("/{service}/{METHOD}"))
            .map_err(RequestError::from)?;
        self.caller
            .begin(&head, &[], Wanted::anything(LONGEST_ANSWER))
            .map_err(|lost| self.lost(&lost))?;
        Ok(())
    }

    /// `None`: the server does not have this version.
    fn try_ask(&mut self, questions: &[Question]) -> Result<Option<Vec<Answer>>, LoadError> {
        let messages: Vec<Vec<u8>> = questions.iter().map(Question::encode).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let body = Body::new(&messages, messages.len() as u64, false)?;
        self.caller.send(&body.bytes, false);
        let mut answers = Vec::new();
        while answers.len() < questions.len() {
            match self.caller.next(self.until) {
                Err(lost) => return Err(self.lost(&lost)),
                Ok((Event::Headers(_), _)) => {}
                Ok((Event::Reply(reply), _)) => {
                    self.weight.add(reply.len())?;
                    let answer = Answer::decode(&reply);
                    answers.push(answer.ok_or(ReflectError::WrongAnswer)?);
                }
                Ok((Event::Ended { status, .. }, _)) => {
                    return match status.code {
                        Code::Unimplemented => Ok(None),
                        Code::Ok => Err(ReflectError::Ended.into()),
                        _ => Err(ReflectError::refused(&status).into()),
                    };
                }
            }
        }
        Ok(Some(answers))
    }

    fn lost(&self, lost: &Lost) -> LoadError {
        match lost {
            Lost::Interrupted => NetError::Interrupted.into(),
            Lost::TimedOut => ReflectError::TooLate(self.spec.target.connect_timeout).into(),
            Lost::Broken(reason) => ReflectError::Lost(reason.clone()).into(),
        }
    }
}

impl Ask for Asked<'_> {
    type Error = LoadError;

    fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, LoadError> {
        if self.is_open {
            return self
                .try_ask(questions)?
                .ok_or(ReflectError::NotOffered.into());
        }
        for service in SERVICES {
            self.open(service)?;
            if let Some(answers) = self.try_ask(questions)? {
                self.is_open = true;
                return Ok(answers);
            }
        }
        Err(ReflectError::NotOffered.into())
    }
}
