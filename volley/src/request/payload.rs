//! The messages of a call, and the expectations that depend on them.

use std::sync::Arc;

use prost_reflect::MessageDescriptor;

use super::RequestError;
use super::body::Body;
use super::expect::{Expected, Rules};
use super::messages::{self, Message, is_array};
use super::schema::Method;
use super::template::{CallData, Labels, Template};
use crate::spec::{Data, Spec, Templates};

/// A call's body, and what its replies must be.
pub type Payload = (Arc<Body>, Arc<Expected>);

/// How payloads are made.
#[derive(Clone, Debug)]
pub struct PayloadPlan {
    input: MessageDescriptor,
    streams: bool,
    stream_call_count: u64,
    compress: bool,
    rules: Rules,
    messages: Messages,
}

#[derive(Clone, Debug)]
enum Messages {
    /// The same data for every call, or, in a unary call, each element in turn.
    Fixed(Vec<Payload>),
    /// Templates of the data, or of its elements in turn.
    Templates(Vec<Template>),
}

impl PayloadPlan {
    /// # Errors
    ///
    /// If the data does not fit the method, its templates are invalid, or an expectation cannot be
    /// checked.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let mut plan = Self {
            input: method.input.clone(),
            streams: method.shape.streams_requests(),
            stream_call_count: spec.request.stream.count,
            compress: spec.request.compress,
            rules: Rules::new(&spec.checks.expect, spec.checks.replies, method)?,
            messages: Messages::Fixed(Vec::new()),
        };
        let messages = match &spec.request.data {
            Data::Binary(data) => messages::from_binary(data, &plan.input)?,
            Data::Json(json) => {
                let templates = templates(json, spec, method)?;
                if templates
                    .iter()
                    .any(|template| template.constant().is_none())
                {
                    plan.messages = Messages::Templates(templates);
                    return Ok(plan);
                }
                let json: Vec<&str> = templates.iter().filter_map(Template::constant).collect();
                let several = json
                    .iter()
                    .map(|json| messages::from_json(json, &plan.input));
                several.collect::<Result<Vec<_>, _>>()?.concat()
            }
        };
        plan.messages = Messages::Fixed(plan.payloads(&messages)?);
        Ok(plan)
    }

    /// The payloads that calls take in turn, if none has a template.
    #[must_use]
    pub fn fixed(&self) -> Option<&[Payload]> {
        match &self.messages {
            Messages::Fixed(payloads) => Some(payloads),
            Messages::Templates(_) => None,
        }
    }

    /// The number of different payloads before the first one repeats.
    #[must_use]
    pub fn variants(&self) -> u64 {
        match &self.messages {
            Messages::Fixed(payloads) => payloads.len() as u64,
            Messages::Templates(templates) => templates.len() as u64,
        }
    }

    /// The payload of one call.
    ///
    /// # Errors
    ///
    /// If the output of the templates does not fit the method.
    pub fn payload(&self, number: u64, call: &mut CallData) -> Result<Payload, RequestError> {
        match &self.messages {
            Messages::Fixed(payloads) => in_turn(payloads, number)
                .cloned()
                .ok_or_else(|| self.no_data()),
            Messages::Templates(templates) => {
                let mut json = String::new();
                let template = in_turn(templates, number).ok_or_else(|| self.no_data())?;
                let wrong = |error| RequestError::Template {
                    place: "the data".to_owned(),
                    error,
                };
                template.render(call, &mut json).map_err(wrong)?;
                let messages = messages::from_json(&json, &self.input)
                    .map_err(|error| error.rendered(&json))?;
                let payloads = self.payloads(&messages)?;
                in_turn(&payloads, number)
                    .cloned()
                    .ok_or_else(|| self.no_data())
            }
        }
    }

    /// A streaming client sends all messages in one call; otherwise each message is one call.
    fn payloads(&self, messages: &[Message]) -> Result<Vec<Payload>, RequestError> {
        if self.streams {
            let sent = if self.stream_call_count == 0 {
                messages.len() as u64
            } else {
                self.stream_call_count
            };
            return Ok(vec![
                self.one(messages, if messages.is_empty() { 0 } else { sent })?,
            ]);
        }
        if messages.is_empty() {
            return Err(self.no_data());
        }
        messages
            .iter()
            .map(|message| self.one(std::slice::from_ref(message), 1))
            .collect()
    }

    fn one(&self, messages: &[Message], sent: u64) -> Result<Payload, RequestError> {
        let bytes: Vec<&[u8]> = messages
            .iter()
            .map(|message| message.bytes.as_slice())
            .collect();
        let body = Body::new(&bytes, sent, self.compress)?;
        let fields: Vec<_> = messages.iter().map(|message| &message.fields).collect();
        Ok((Arc::new(body), Arc::new(self.rules.bind(&fields, sent))))
    }

    fn no_data(&self) -> RequestError {
        RequestError::NoData {
            input: self.input.full_name().to_owned(),
        }
    }
}

fn in_turn<T>(items: &[T], number: u64) -> Option<&T> {
    let count = items.len() as u64;
    items.get(usize::try_from(number.checked_rem(count)?).ok()?)
}

/// One template for the whole data. If calls take the elements of an array in turn, one template
/// for each element, so that a call renders only its own.
pub(super) fn templates(
    json: &str,
    spec: &Spec,
    method: &Method,
) -> Result<Vec<Template>, RequestError> {
    let labels = Labels::from(method);
    let parse = |text: &str| {
        if spec.request.templates == Templates::Off {
            return Ok(Template::literal(text));
        }
        Template::parse(text, &labels, spec.request.templates == Templates::All).map_err(|error| {
            RequestError::Template {
                place: "the data".to_owned(),
                error,
            }
        })
    };
    let whole = parse(json)?;
    if whole.constant().is_some() || method.shape.streams_requests() || !is_array(json) {
        return Ok(vec![whole]);
    }
    // An array that becomes JSON only through its templates must be rendered as a whole.
    match serde_json::from_str::<Vec<serde_json::Value>>(json) {
        Ok(elements) if !elements.is_empty() => elements
            .iter()
            .map(|element| parse(&element.to_string()))
            .collect(),
        _ => Ok(vec![whole]),
    }
}
