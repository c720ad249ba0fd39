//! The fields that are the same in all calls of a method.

use super::action::Action;
use super::error::ActionError;
use crate::request::excerpt::excerpt;
use crate::request::schema::Method;

const FIELDS: &str = "WorkerID, RequestNumber, FullyQualifiedName, MethodName, \
    ServiceName, InputName, OutputName, IsClientStreaming, IsServerStreaming, Timestamp, \
    TimestampUnix, TimestampUnixMilli, TimestampUnixNano and UUID";

/// The method's names, and which sides stream.
#[derive(Clone, Debug)]
pub struct Labels {
    full_name: String,
    method: String,
    service: String,
    input: String,
    output: String,
    client_streaming: bool,
    server_streaming: bool,
}

impl From<&Method> for Labels {
    fn from(method: &Method) -> Self {
        Self {
            full_name: method.full_name.clone(),
            method: method.name().to_owned(),
            service: method.service_name().to_owned(),
            input: method.input.name().to_owned(),
            output: method.output.name().to_owned(),
            client_streaming: method.shape.streams_requests(),
            server_streaming: method.shape.streams_replies(),
        }
    }
}

impl Labels {
    /// The action for `.name`: text, if it is the same for all calls.
    pub(super) fn field(&self, name: &str) -> Result<Action, ActionError> {
        Ok(match name {
            "WorkerID" => Action::WorkerId,
            "RequestNumber" => Action::RequestNumber,
            "FullyQualifiedName" => Action::Text(self.full_name.clone()),
            "MethodName" => Action::Text(self.method.clone()),
            "ServiceName" => Action::Text(self.service.clone()),
            "InputName" => Action::Text(self.input.clone()),
            "OutputName" => Action::Text(self.output.clone()),
            "IsClientStreaming" => Action::Text(self.client_streaming.to_string()),
            "IsServerStreaming" => Action::Text(self.server_streaming.to_string()),
            "Timestamp" => Action::Timestamp,
            "TimestampUnix" => Action::TimestampUnix,
            "TimestampUnixMilli" => Action::TimestampUnixMilli,
            "TimestampUnixNano" => Action::TimestampUnixNano,
            "UUID" => Action::Uuid,
            _ => {
                return Err(ActionError::UnknownField {
                    name: excerpt(name, 40),
                    fields: FIELDS,
                });
            }
        })
    }
}
