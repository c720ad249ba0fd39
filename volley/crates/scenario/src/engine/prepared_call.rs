//! A step's gRPC call, ready to be rendered: whatever never changes is encoded once.

use std::sync::Arc;
use std::time::Duration;

use super::flight::FlightKey;
use super::heads::{Heads, Varying, constant, field};
use super::prepared_request::{Aim, Scratch};
use super::wire::Http;
use crate::plan::{GrpcRequest, Step};
use crate::request::Molds;
use crate::response::reads_body;
use crate::text::Unrendered;
use crate::{Text, Values};
use volley_http::grpc::timeout;
use volley_http::http2::{Content, Head, Own};
use volley_protobuf::DynamicMessage;
use volley_request::body::Body;
use volley_request::expect::Rules;
use volley_request::{Expected, RequestError, USER_AGENT, messages};

/// A call.
pub struct PreparedCall {
    request: GrpcRequest,
    timeout: Option<Duration>,
    varying: Vec<Varying>,
    /// Something of the last reply is looked at.
    pub keeps_reply: bool,
    rules: Rules,
    /// What its replies must be, if that does not depend on its messages.
    expected: Option<Arc<Expected>>,
    /// `None`: the messages must be rendered and parsed for each call.
    molds: Option<Molds>,
    /// What is sent and expected, if it never changes.
    fixed: Option<Contents>,
    heads: Heads,
}

/// What one call sends, and what its replies must be.
struct Contents {
    bytes: Arc<Vec<u8>>,
    expected: Arc<Expected>,
}

/// Why a call cannot be sent.
pub enum Unsent {
    Unrendered(Unrendered),
    /// The message is none of its type, or too long.
    Message(RequestError),
    /// The connection speaks HTTP/1.1.
    NoHttp2,
}

impl From<Unrendered> for Unsent {
    fn from(error: Unrendered) -> Self {
        Self::Unrendered(error)
    }
}

impl PreparedCall {
    /// Prepares a step's call.
    ///
    /// # Errors
    ///
    /// A rule for replies is wrong, or a message that never changes does not fit.
    pub fn new(step: &Step, request: &GrpcRequest) -> Result<Self, RequestError> {
        let rules = Rules::new(&step.expect.each, step.expect.replies, &request.method)?;
        let texts: Option<Vec<&[u8]>> = request.messages.iter().map(Text::constant).collect();
        let mut call = Self {
            request: request.clone(),
            timeout: step.timeout_ns.map(Duration::from_nanos),
            varying: Varying::of(&request.metadata),
            keeps_reply: reads_body(step),
            molds: Molds::new(request),
            expected: (!rules.name_requests())
                .then(|| Arc::new(rules.bind::<DynamicMessage>(&[], 1))),
            rules,
            fixed: None,
            heads: Heads::default(),
        };
        if let Some(texts) = texts {
            call.fixed = Some(call.contents(&texts)?);
        }
        Ok(call)
    }

    /// Sends the call on a connection with room for it. Returns its stream, and what its replies must be.
    ///
    /// # Errors
    ///
    /// It cannot be rendered: nothing was written.
    pub fn write(
        &mut self,
        http: &mut Http,
        flight: FlightKey,
        aim: Aim<'_>,
        values: &Values,
        scratch: &mut Scratch,
    ) -> Result<(u32, Arc<Expected>), Unsent> {
        let Http::Two(http) = http else {
            return Err(Unsent::NoHttp2);
        };
        scratch.last.clear();
        for varying in &self.varying {
            varying.write(values, scratch)?;
        }
        scratch.body.clear();
        let expected = match &self.fixed {
            Some(contents) => Arc::clone(&contents.expected),
            None => self.render(values, scratch)?,
        };
        let head = self.head(aim, scratch);
        let own = Own {
            first: &[],
            last: &scratch.last,
        };
        let content = match &self.fixed {
            Some(contents) => Content::Shared(&contents.bytes),
            None => Content::Own(&scratch.body),
        };
        let stream = http.open_whole(flight, &head, own, content);
        Ok((stream, expected))
    }

    /// Makes the framed messages of one call, and what its replies must be.
    fn render(&mut self, values: &Values, scratch: &mut Scratch) -> Result<Arc<Expected>, Unsent> {
        let repeat = self.request.repeat.max(1);
        let molds = self.molds.as_mut();
        if let Some(molded) = molds.and_then(|molds| molds.fill(values, repeat, &mut scratch.body))
        {
            return Ok(match &self.expected {
                Some(expected) => Arc::clone(expected),
                None => Arc::new(molded.bind(&self.rules)),
            });
        }
        let contents = self.parse(values, scratch)?;
        scratch.body.clear();
        scratch.body.extend_from_slice(&contents.bytes);
        Ok(contents.expected)
    }

    /// The same for what fits no mold.
    #[cold]
    fn parse(&self, values: &Values, scratch: &mut Scratch) -> Result<Contents, Unsent> {
        scratch.body.clear();
        let mut ends = Vec::new();
        for message in &self.request.messages {
            message.render(values, &mut scratch.body)?;
            ends.push(scratch.body.len());
        }
        let mut begin = 0;
        let texts = ends.into_iter().map(|end| {
            let text = scratch.body.get(begin..end).unwrap_or_default();
            begin = end;
            text
        });
        let texts: Vec<&[u8]> = texts.collect();
        self.contents(&texts).map_err(Unsent::Message)
    }

    /// Encodes messages of JSON.
    fn contents(&self, texts: &[&[u8]]) -> Result<Contents, RequestError> {
        let mut all = Vec::new();
        for text in texts {
            let text = String::from_utf8_lossy(text);
            all.extend(messages::from_json(&text, &self.request.method.input)?);
        }
        let bytes: Vec<&[u8]> = all.iter().map(|message| message.bytes.as_slice()).collect();
        let sent = (bytes.len() as u64).saturating_mul(self.request.repeat.max(1).into());
        let fields: Vec<_> = all.iter().map(|message| &message.fields).collect();
        Ok(Contents {
            bytes: Body::new(&bytes, sent, false)?.bytes,
            expected: match &self.expected {
                Some(expected) => Arc::clone(expected),
                None => Arc::new(self.rules.bind(&fields, sent)),
            },
        })
    }

    fn head(&mut self, aim: Aim<'_>, scratch: &mut Scratch) -> Arc<Head> {
        match self.heads.find(aim) {
            Some(head) => head,
            None => self.heads.keep(aim, self.new_head(aim), &mut scratch.heads),
        }
    }

    #[cold]
    fn new_head(&self, aim: Aim<'_>) -> Head {
        let timeout = self.timeout.map(timeout::header_value);
        let mut fields = vec![
            (":method", "POST"),
            (":scheme", aim.site.scheme()),
            (":authority", aim.authority()),
            (":path", &self.request.method.path),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("user-agent", USER_AGENT),
        ];
        fields.extend(timeout.as_deref().map(|timeout| ("grpc-timeout", timeout)));
        fields.push(("grpc-accept-encoding", "gzip"));
        let mut fields: Vec<_> = fields
            .into_iter()
            .map(|(name, value)| field(name, value.as_bytes()))
            .collect();
        let metadata = constant(&self.request.metadata);
        fields.extend(metadata.map(|(name, value)| field(name, value)));
        Head {
            fields,
            ..Head::default()
        }
    }
}
