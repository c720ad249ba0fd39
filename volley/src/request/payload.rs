//! The messages of a call, and the expectations that depend on them.

use std::sync::Arc;

use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::Value;

use super::body::{Body, PREFIX_LEN, close_frame};
use super::expect::{Expected, Rules};
use super::marked::Marked;
use super::messages::{self, Message, is_array};
use super::mold::{Filling, Misfit, Mold};
use super::schema::Method;
use super::template::{CallData, Labels, Template, TemplateError};
use super::{Request, RequestError};
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
    /// What the replies of all calls must be, if that does not depend on their requests.
    expected: Option<Arc<Expected>>,
    messages: Messages,
}

#[derive(Clone, Debug)]
enum Messages {
    /// The same data for every call, or, in a unary call, each element in turn.
    Fixed(Vec<Payload>),
    /// Templates of the data, or of its elements in turn.
    Rendered(Vec<Rendered>),
}

#[derive(Clone, Debug)]
struct Rendered {
    json: Template,
    mold: Option<Mold>,
}

/// Memory that is kept from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    pub text: String,
    framed: Vec<u8>,
    filling: Filling,
}

impl PayloadPlan {
    /// # Errors
    ///
    /// If the data does not fit the method, its templates are invalid, or an expectation cannot be
    /// checked.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let rules = Rules::new(&spec.checks.expect, spec.checks.replies, method)?;
        let bind = || Arc::new(rules.bind::<DynamicMessage>(&[], 1));
        let mut plan = Self {
            input: method.input.clone(),
            streams: method.shape.streams_requests(),
            stream_call_count: spec.request.stream.count,
            compress: spec.request.compress,
            expected: (!rules.name_requests()).then(bind),
            rules,
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
                    let rendered = templates.into_iter().map(|json| Rendered {
                        mold: Mold::new(&json, &plan.input),
                        json,
                    });
                    plan.messages = Messages::Rendered(rendered.collect());
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
            Messages::Rendered(_) => None,
        }
    }

    /// The number of different payloads before the first one repeats.
    #[must_use]
    pub fn variants(&self) -> u64 {
        match &self.messages {
            Messages::Fixed(payloads) => payloads.len() as u64,
            Messages::Rendered(templates) => templates.len() as u64,
        }
    }

    /// Puts the payload of one call into its request.
    ///
    /// # Errors
    ///
    /// If the output of the templates does not fit the method.
    pub fn payload(
        &self,
        number: u64,
        call: &mut CallData,
        scratch: &mut Scratch,
        request: &mut Request,
    ) -> Result<(), RequestError> {
        let payload = match &self.messages {
            Messages::Fixed(payloads) => in_turn(payloads, number).cloned(),
            Messages::Rendered(templates) => {
                let rendered = in_turn(templates, number).ok_or_else(|| self.no_data())?;
                if let Some(mold) = &rendered.mold
                    && self.fill(mold, call, scratch, request)?
                {
                    return Ok(());
                }
                let payloads = self.parse(&rendered.json, call, &mut scratch.text)?;
                in_turn(&payloads, number).cloned()
            }
        };
        (request.body, request.expected) = payload.ok_or_else(|| self.no_data())?;
        Ok(())
    }

    /// Makes a message in its mold. Returns whether it fits.
    fn fill(
        &self,
        mold: &Mold,
        call: &mut CallData,
        scratch: &mut Scratch,
        request: &mut Request,
    ) -> Result<bool, RequestError> {
        let Scratch {
            framed, filling, ..
        } = scratch;
        framed.clear();
        framed.resize(PREFIX_LEN, 0);
        let state = call.random_state();
        match mold.fill(call, filling, framed) {
            Ok(()) => {}
            Err(Misfit::Template(error)) => return Err(wrong(error)),
            Err(Misfit::Odd) => {
                call.restore_random(state);
                return Ok(false);
            }
        }
        let sent = self.sent(1);
        if sent == 1 && !self.compress {
            close_frame(framed, false)?;
            match Arc::get_mut(&mut request.body) {
                Some(body) => body.replace(framed),
                None => {
                    let mut body = Body::default();
                    body.replace(framed);
                    request.body = Arc::new(body);
                }
            }
        } else {
            let message = framed.get(PREFIX_LEN..).unwrap_or_default();
            request.body = Arc::new(Body::new(&[message], sent, self.compress)?);
        }
        request.expected = match &self.expected {
            Some(expected) => Arc::clone(expected),
            None => Arc::new(self.rules.bind(&[&mold.fields(filling)], sent)),
        };
        Ok(true)
    }

    /// The payloads that JSON gives in one call.
    fn parse(
        &self,
        template: &Template,
        call: &mut CallData,
        json: &mut String,
    ) -> Result<Vec<Payload>, RequestError> {
        json.clear();
        template.render(call, json).map_err(wrong)?;
        let messages =
            messages::from_json(json, &self.input).map_err(|error| error.rendered(json))?;
        self.payloads(&messages)
    }

    /// How many messages a call sends of so many that are given.
    fn sent(&self, given: u64) -> u64 {
        match self.stream_call_count {
            count if count > 0 && given > 0 && self.streams => count,
            _ => given,
        }
    }

    /// A streaming client sends all messages in one call; otherwise each message is one call.
    fn payloads(&self, messages: &[Message]) -> Result<Vec<Payload>, RequestError> {
        if self.streams {
            return Ok(vec![self.one(messages, self.sent(messages.len() as u64))?]);
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
        let expected = self.expected.clone().unwrap_or_else(|| {
            let fields: Vec<_> = messages.iter().map(|message| &message.fields).collect();
            Arc::new(self.rules.bind(&fields, sent))
        });
        Ok((Arc::new(body), expected))
    }

    fn no_data(&self) -> RequestError {
        RequestError::NoData {
            input: self.input.full_name().to_owned(),
        }
    }
}

fn wrong(error: TemplateError) -> RequestError {
    RequestError::Template {
        place: "the data".to_owned(),
        error,
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
        Template::parse(text, &labels, spec.request.templates == Templates::All).map_err(wrong)
    };
    let whole = parse(json)?;
    if whole.constant().is_some() || method.shape.streams_requests() || !is_array(json) {
        return Ok(vec![whole]);
    }
    // An array that becomes JSON only through its templates must be rendered as a whole.
    Ok(elements(&whole).unwrap_or_else(|| vec![whole]))
}

/// Those of an array. One that is no object may give several.
fn elements(whole: &Template) -> Option<Vec<Template>> {
    let marked = Marked::new(whole)?;
    let elements = marked.json.as_array()?;
    if elements.is_empty() || !elements.iter().all(Value::is_object) {
        return None;
    }
    let template = |element| Some(marked.template(element)?.0);
    elements.iter().map(template).collect()
}
