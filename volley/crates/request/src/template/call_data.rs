//! The fields of a call: those that are the same in all calls of a method, and the others.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use volley_base::excerpt::excerpt;
use volley_base::uuid::Uuid;
use volley_base::words;

use super::ActionError;
use super::function::Action;
use crate::CallNumber;
use crate::schema::Method;

/// One call's data. The clock is read and the UUID drawn only if a template needs them, and then
/// once.
#[derive(Debug)]
pub struct CallData<'a> {
    call: CallNumber,
    name: &'a str,
    connections: u32,
    random: &'a mut Rng,
    now: Option<Duration>,
    uuid: Option<Uuid>,
}

impl<'a> CallData<'a> {
    /// `name` is the run's name; `connections` is the number of connections to which workers are
    /// dealt out. Both are parts of ghz's worker ids.
    pub fn new(call: CallNumber, name: &'a str, connections: u32, random: &'a mut Rng) -> Self {
        Self {
            call,
            name,
            connections,
            random,
            now: None,
            uuid: None,
        }
    }

    pub(super) fn random(&mut self) -> &mut Rng {
        self.random
    }

    /// Another message of the call has a time and a UUID of its own.
    pub fn begin_again(&mut self) {
        self.now = None;
        self.uuid = None;
    }

    /// The random numbers that will be drawn.
    #[must_use]
    pub fn random_state(&self) -> Rng {
        self.random.clone()
    }

    /// Draws the numbers again that followed a state.
    pub fn restore_random(&mut self, state: Rng) {
        *self.random = state;
    }

    pub(super) fn number(&self) -> u64 {
        self.call.number
    }

    /// `g<worker>c<connection>`, preceded by the run's name and a colon if it has one.
    pub(super) fn worker_id(&self, out: &mut String) {
        if !self.name.is_empty() {
            out.push_str(self.name);
            out.push(':');
        }
        let connection = self.call.worker % self.connections.max(1);
        let mut digits = itoa::Buffer::new();
        out.push('g');
        out.push_str(digits.format(self.call.worker));
        out.push('c');
        out.push_str(digits.format(connection));
    }

    /// Since the Unix epoch.
    pub(super) fn now(&mut self) -> Duration {
        *self.now.get_or_insert_with(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
        })
    }

    /// RFC 3339, to the second, in UTC.
    pub(super) fn timestamp(&mut self) -> String {
        let seconds = i64::try_from(self.now().as_secs()).unwrap_or(i64::MAX);
        jiff::Timestamp::from_second(seconds)
            .unwrap_or_default()
            .to_string()
    }

    /// The call's UUID: the same everywhere in its templates.
    pub(super) fn uuid(&mut self) -> Uuid {
        *self.uuid.get_or_insert_with(|| Uuid::new(self.random))
    }
}

/// The fields that templates may name.
pub(super) const FIELDS: [&str; 14] = words! {
    WorkerID RequestNumber FullyQualifiedName MethodName ServiceName InputName OutputName
    IsClientStreaming IsServerStreaming Timestamp TimestampUnix TimestampUnixMilli
    TimestampUnixNano UUID
};

/// The action for the field `.name` of calls of a method: text, if it is the same for all calls.
pub(super) fn field(method: &Method, name: &str) -> Result<Action, ActionError> {
    Ok(match name {
        "WorkerID" => Action::WorkerId,
        "RequestNumber" => Action::RequestNumber,
        "FullyQualifiedName" => Action::Text(method.full_name.clone()),
        "MethodName" => Action::Text(method.name().to_owned()),
        "ServiceName" => Action::Text(method.service_name().to_owned()),
        "InputName" => Action::Text(method.input.name().to_owned()),
        "OutputName" => Action::Text(method.output.name().to_owned()),
        "IsClientStreaming" => Action::Text(method.shape.streams_requests().to_string()),
        "IsServerStreaming" => Action::Text(method.shape.streams_replies().to_string()),
        "Timestamp" => Action::Timestamp,
        "TimestampUnix" => Action::TimestampUnix,
        "TimestampUnixMilli" => Action::TimestampUnixMilli,
        "TimestampUnixNano" => Action::TimestampUnixNano,
        "UUID" => Action::Uuid,
        _ => {
            return Err(ActionError::UnknownField {
                name: excerpt(name, 40),
                fields: FIELDS.join(", "),
            });
        }
    })
}
