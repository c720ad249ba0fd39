//! One action: the contents of `{{` and `}}`.

use super::CallData;
use super::error::ActionError;
use super::function::Function;

/// The meaning of an action. If it is the same for all calls, it is already text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Text(String),
    WorkerId,
    RequestNumber,
    Timestamp,
    TimestampUnix,
    TimestampUnixMilli,
    TimestampUnixNano,
    Uuid,
    Call(Function),
}

impl Action {
    pub(super) fn render(&self, call: &mut CallData, out: &mut String) -> Result<(), ActionError> {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::WorkerId => call.worker_id(out),
            Self::RequestNumber => out.push_str(&call.number().to_string()),
            Self::Timestamp => out.push_str(&call.timestamp()),
            Self::TimestampUnix => out.push_str(&call.now().as_secs().to_string()),
            Self::TimestampUnixMilli => out.push_str(&call.now().as_millis().to_string()),
            Self::TimestampUnixNano => out.push_str(&call.now().as_nanos().to_string()),
            Self::Uuid => {
                let uuid = call.uuid();
                out.push_str(uuid);
            }
            Self::Call(function) => return function.render(call, out),
        }
        Ok(())
    }
}
