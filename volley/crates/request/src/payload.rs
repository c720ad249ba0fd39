//! The messages of a call, and the expectations that depend on them.

use std::sync::Arc;

use serde_json::Value;
use volley_load::spec::{Data, Spec, Templates};
use volley_protobuf as protobuf;
use volley_protobuf::DynamicMessage;

use super::body::{Body, MAX_LEN, PREFIX_LEN, close_frame};
use super::error::DATA;
use super::expect::{Expected, Rules, Spent};
use super::marked::Marked;
use super::messages::{self, Message, is_array};
use super::mold::{Filling, Mold, Unfillable};
use super::schema::Method;
use super::template::{CallData, Template, TemplateError};
use super::{Request, RequestError, rows};

/// A call's body, and what its replies must be.
pub type Payload = (Arc<Body>, Arc<Expected>);

/// How payloads are made.
#[derive(Clone, Debug)]
pub struct PayloadPlan {
    input: protobuf::Message,
    streams: bool,
    stream_call_count: u64,
    /// A stream that lives repeats its messages.
    least_sent: u64,
    /// A stream's messages are rendered one by one.
    dynamic: bool,
    /// If messages are made when they are sent: a body of as many empty ones, and what replies must be.
    later: Option<Payload>,
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
    /// Rows of a file, which unary calls take in turn: together they need little memory.
    Rows(Arc<SentRows>),
    /// Templates of the data, or of its elements in turn.
    Rendered(Vec<Rendered>),
}

/// Rows as they are sent. `plain` are the same without compression, if what replies must be depends on them.
#[derive(Debug)]
struct SentRows {
    sent: Rows,
    plain: Option<Rows>,
}

/// Framed messages, one after another.
#[derive(Clone, Debug, Default)]
struct Rows {
    framed: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
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
    spent: Spent,
}

impl PayloadPlan {
    /// The rows of a file are those of the `first` plan, if there is one.
    ///
    /// # Errors
    ///
    /// If the data does not fit the method, its templates are invalid, or an expectation cannot be
    /// checked.
    pub fn new(spec: &Spec, method: &Method, first: Option<&Self>) -> Result<Self, RequestError> {
        let rules = Rules::new(&spec.checks.expect, spec.checks.replies, method)?;
        let bind = || Arc::new(rules.bind::<DynamicMessage>(&[], 1));
        let mut plan = Self {
            input: method.input.clone(),
            streams: method.shape.streams_requests(),
            stream_call_count: spec.request.stream.count,
            least_sent: if spec.request.stream.rate > 0 {
                u64::MAX
            } else {
                0
            },
            dynamic: spec.request.stream.dynamic && method.shape.streams_requests(),
            compress: spec.request.compress,
            expected: (!rules.name_requests()).then(bind),
            later: None,
            rules,
            messages: Messages::Fixed(Vec::new()),
        };
        let templates = spec.request.templates;
        let parse = Parse { method, templates };
        let data = &spec.request.data;
        let messages = match data {
            Data::Binary(data) => messages::from_binary(data, &plan.input)?,
            Data::Json(json) => {
                let templates = parse.data(json, plan.streams && !plan.dynamic)?;
                let is_constant = |template: &Template| template.constant().is_some();
                if !templates.iter().all(is_constant) {
                    return plan.rendered(templates, spec);
                }
                let json = templates.iter().filter_map(Template::constant);
                let several = json.map(|json| messages::from_json(json, &plan.input));
                several.collect::<Result<Vec<_>, _>>()?.concat()
            }
            Data::JsonLines(text) | Data::Csv(text) if parse.has_actions(text) => {
                let mut templates = Vec::new();
                rows::each(data, &plan.input, true, |row| {
                    templates.push(parse.template(row)?);
                    Ok(())
                })?;
                return match plan.streams && !plan.dynamic {
                    true => plan.rendered(vec![Template::list(&templates)], spec),
                    false => plan.rendered(templates, spec),
                };
            }
            Data::JsonLines(_) | Data::Csv(_) if !plan.streams => {
                plan.messages = Messages::Rows(match first.map(|first| &first.messages) {
                    Some(Messages::Rows(rows)) => Arc::clone(rows),
                    _ => Arc::new(plan.sent_rows(data)?),
                });
                return Ok(plan);
            }
            Data::JsonLines(_) | Data::Csv(_) => {
                let mut messages = Vec::new();
                rows::each(data, &plan.input, false, |row| {
                    messages.extend(messages::from_json(row, &plan.input)?);
                    Ok(())
                })?;
                messages
            }
        };
        plan.messages = Messages::Fixed(plan.payloads(&messages)?);
        Ok(plan)
    }

    fn rendered(mut self, templates: Vec<Template>, spec: &Spec) -> Result<Self, RequestError> {
        if self.dynamic && spec.request.stream.is_paced() {
            let expected = self.expected.clone();
            let expected = expected.ok_or(RequestError::DynamicExpect)?;
            let body = Body::new(&[&[]], self.sent(templates.len() as u64), false)?;
            self.later = Some((Arc::new(body), expected));
        }
        let rendered = templates.into_iter().map(|json| Rendered {
            mold: Mold::new(&json, &self.input),
            json,
        });
        self.messages = Messages::Rendered(rendered.collect());
        Ok(self)
    }

    fn sent_rows(&self, data: &Data) -> Result<SentRows, RequestError> {
        let is_asked_for = self.compress && self.expected.is_none();
        Ok(SentRows {
            sent: self.rows(data, self.compress)?,
            plain: is_asked_for.then(|| self.rows(data, false)).transpose()?,
        })
    }

    fn rows(&self, data: &Data, compress: bool) -> Result<Rows, RequestError> {
        let mut rows = Rows::default();
        rows::each(data, &self.input, false, |row| {
            for message in messages::from_json(row, &self.input)? {
                let body = Body::new(&[&message.bytes], 1, compress)?;
                rows.framed.extend_from_slice(&body.bytes);
                rows.ends.push(rows.framed.len());
            }
            Ok(())
        })?;
        match rows.ends.is_empty() {
            true if matches!(data, Data::Csv(_)) => Err(RequestError::Csv {
                reason: "it has a header and no rows: add one for each message".to_owned(),
            }),
            true => Err(self.no_data()),
            false => Ok(rows),
        }
    }

    /// The payloads that calls take in turn, if none has a template.
    #[must_use]
    pub fn fixed(&self) -> Option<&[Payload]> {
        match &self.messages {
            Messages::Fixed(payloads) => Some(payloads),
            Messages::Rows(_) | Messages::Rendered(_) => None,
        }
    }

    /// Whether no payload has a template.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        !matches!(self.messages, Messages::Rendered(_))
    }

    /// The number of different payloads before the first one repeats.
    #[must_use]
    pub fn variants(&self) -> u64 {
        match &self.messages {
            Messages::Fixed(payloads) => payloads.len() as u64,
            // They are checked already.
            Messages::Rows(_) => 1,
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
            Messages::Rows(rows) => {
                let plain = rows.plain.as_ref().unwrap_or(&rows.sent).row(number);
                let (Some(sent), Some(plain)) = (rows.sent.row(number), plain) else {
                    return Err(self.no_data());
                };
                put(sent, request);
                request.expected = self.expected_of(plain)?;
                return Ok(());
            }
            Messages::Rendered(_) if self.later.is_some() => self.later.clone(),
            Messages::Rendered(templates) if self.dynamic => {
                Some(self.dynamic(templates, call, &mut scratch.text)?)
            }
            Messages::Rendered(templates) => {
                let rendered = in_turn(templates, number).ok_or_else(|| self.no_data())?;
                if let Some(mold) = &rendered.mold
                    && self.fill(mold, call, scratch, request)?
                {
                    return Ok(());
                }
                let messages = self.read(&rendered.json, call, &mut scratch.text)?;
                in_turn(&self.payloads(&messages)?, number).cloned()
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
        let Scratch { filling, spent, .. } = scratch;
        let Body { bytes, ends } = Arc::make_mut(&mut request.body);
        let framed = Arc::make_mut(bytes);
        framed.clear();
        framed.extend_from_slice(&[0; PREFIX_LEN]);
        let state = call.random_state();
        match mold.fill(call, filling, framed) {
            Ok(()) => {}
            Err(Unfillable::Template(error)) => return Err(wrong(error)),
            Err(Unfillable::Odd) => {
                call.restore_random(state);
                return Ok(false);
            }
        }
        let sent = self.sent(1);
        if sent == 1 && !self.compress {
            close_frame(framed, false)?;
            ends.clear();
            ends.push(framed.len());
        } else {
            let message = framed.get(PREFIX_LEN..).unwrap_or_default();
            request.body = Arc::new(Body::new(&[message], sent, self.compress)?);
        }
        match &self.expected {
            Some(expected) => request.expected = Arc::clone(expected),
            None => {
                let fields = mold.fields(filling);
                spent.bind(&self.rules, &[&fields], sent, &mut request.expected);
            }
        }
        Ok(true)
    }

    /// What the replies to a row must be.
    fn expected_of(&self, framed: &[u8]) -> Result<Arc<Expected>, RequestError> {
        if let Some(expected) = &self.expected {
            return Ok(Arc::clone(expected));
        }
        let message = framed.get(PREFIX_LEN..).unwrap_or_default();
        let message = messages::from_bytes(message, &self.input)?;
        Ok(Arc::new(self.rules.bind(&[&message.fields], 1)))
    }

    /// The messages of a stream, each rendered on its own.
    fn dynamic(
        &self,
        templates: &[Rendered],
        call: &mut CallData,
        json: &mut String,
    ) -> Result<Payload, RequestError> {
        let mut messages = Vec::new();
        let mut length = 0;
        for number in 0..self.sent(templates.len() as u64) {
            let message = self.render_one(templates, number, call, json)?;
            length += message.bytes.len() + PREFIX_LEN;
            if length > MAX_LEN {
                return Err(RequestError::TooLarge { limit: MAX_LEN });
            }
            messages.push(message);
        }
        self.one(&messages, messages.len() as u64)
    }

    fn render_one(
        &self,
        templates: &[Rendered],
        number: u64,
        call: &mut CallData,
        json: &mut String,
    ) -> Result<Message, RequestError> {
        let rendered = in_turn(templates, number).ok_or_else(|| self.no_data())?;
        call.begin_again();
        let messages = self.read(&rendered.json, call, json)?;
        // A template that gives several messages is a list: they take turns.
        in_turn(&messages, number)
            .cloned()
            .ok_or_else(|| self.no_data())
    }

    /// Message `number` of a stream, framed, if it is rendered when it is sent.
    ///
    /// # Errors
    ///
    /// As [`payload`](Self::payload), or if it has more than `max_send` bytes.
    pub fn message<'s>(
        &self,
        number: u64,
        call: &mut CallData,
        scratch: &'s mut Scratch,
        max_send: usize,
    ) -> Result<Option<&'s [u8]>, RequestError> {
        let (Messages::Rendered(templates), Some(_)) = (&self.messages, &self.later) else {
            return Ok(None);
        };
        let message = self.render_one(templates, number, call, &mut scratch.text)?;
        let body = Body::new(&[&message.bytes], 1, self.compress)?;
        body.check(max_send)?;
        scratch.framed.clear();
        scratch.framed.extend_from_slice(&body.bytes);
        Ok(Some(&scratch.framed))
    }

    /// The messages that JSON gives in one call.
    fn read(
        &self,
        template: &Template,
        call: &mut CallData,
        json: &mut String,
    ) -> Result<Vec<Message>, RequestError> {
        json.clear();
        template.render(call, json).map_err(wrong)?;
        messages::from_json(json, &self.input).map_err(|error| error.rendered(json))
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
            Arc::new(self.rules.bind(&fields, sent.max(self.least_sent)))
        });
        Ok((Arc::new(body), expected))
    }

    fn no_data(&self) -> RequestError {
        RequestError::NoData {
            input: self.input.full_name().to_owned(),
        }
    }
}

impl Rows {
    fn row(&self, number: u64) -> Option<&[u8]> {
        let end = in_turn(&self.ends, number)?;
        let turn = number.checked_rem(self.ends.len() as u64)?;
        let before = usize::try_from(turn).ok()?.checked_sub(1);
        let begin = before.and_then(|before| self.ends.get(before));
        self.framed.get(begin.copied().unwrap_or(0)..*end)
    }
}

/// Makes a framed message the request's body, in the memory of the one before if it can.
fn put(framed: &[u8], request: &mut Request) {
    if let Some(body) = Arc::get_mut(&mut request.body) {
        body.replace(framed);
    } else {
        let mut body = Body::default();
        body.replace(framed);
        request.body = Arc::new(body);
    }
}

fn wrong(error: TemplateError) -> RequestError {
    RequestError::Template {
        place: DATA.to_owned(),
        error,
    }
}

fn in_turn<T>(items: &[T], number: u64) -> Option<&T> {
    if let [only] = items {
        return Some(only);
    }
    let count = items.len() as u64;
    items.get(usize::try_from(number.checked_rem(count)?).ok()?)
}

/// How the text of templates is read.
struct Parse<'a> {
    method: &'a Method,
    templates: Templates,
}

impl Parse<'_> {
    fn has_actions(&self, text: &str) -> bool {
        self.templates != Templates::Off && text.contains("{{")
    }

    fn template(&self, text: &str) -> Result<Template, RequestError> {
        if !self.has_actions(text) {
            return Ok(Template::literal(text));
        }
        let functions = self.templates == Templates::All;
        Template::parse(text, self.method, functions).map_err(wrong)
    }

    /// One template for the whole data. If its elements are rendered on their own, one for each element of a list.
    fn data(&self, json: &str, as_one: bool) -> Result<Vec<Template>, RequestError> {
        let whole = self.template(json)?;
        if whole.constant().is_some() || as_one || !is_array(json) {
            return Ok(vec![whole]);
        }
        // An array that becomes JSON only through its templates must be rendered as a whole.
        Ok(elements(&whole).unwrap_or_else(|| vec![whole]))
    }
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
