//! What the user wants to send.

use std::collections::BTreeMap;
use std::time::Duration;

/// The request messages, as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// One message as a JSON object, or several as an array; may contain templates.
    Json(String),
    /// One serialized message, or several, each preceded by its length as a varint.
    Binary(Vec<u8>),
}

/// What to send, and what to expect back.
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// The messages.
    pub data: Data,
    /// Names and values in ghz's form: the value of a `-bin` name is base64.
    pub metadata: BTreeMap<String, String>,
    /// The `:authority`: `localhost:8080`.
    pub authority: String,
    /// `http` or `https`.
    pub scheme: String,
    /// Sent as `grpc-timeout`; not sent if absent or zero.
    pub timeout: Option<Duration>,
    /// Compress every message with gzip.
    pub compress: bool,
    /// How many messages a streaming client sends per call; the data is repeated or cut short. 0:
    /// the data once.
    pub stream_call_count: u64,
    /// Whether `{{…}}` in data and metadata is a template (switched off by
    /// `--disable-template-data`).
    pub templates_in_data: bool,
    /// Whether templates may call functions (switched off by `--disable-template-functions`).
    pub template_functions: bool,
    /// `field = expression`; each rule applies to every reply.
    pub expect: Vec<String>,
    /// How many replies each call must get.
    pub expect_replies: Option<u64>,
    /// The run's name, which ghz puts before `{{.WorkerID}}`; may be empty.
    pub name: String,
    /// The connections to which workers are dealt out in turn, for `{{.WorkerID}}`.
    pub connections: u32,
}

impl Default for RequestSpec {
    fn default() -> Self {
        Self {
            data: Data::Json("{}".to_owned()),
            metadata: BTreeMap::new(),
            authority: "localhost".to_owned(),
            scheme: "http".to_owned(),
            timeout: None,
            compress: false,
            stream_call_count: 0,
            templates_in_data: true,
            template_functions: true,
            expect: Vec::new(),
            expect_replies: None,
            name: String::new(),
            connections: 1,
        }
    }
}
