//! A request as a line of JSON.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Exchange, Fields, Kept, Label, Record, Records};
use crate::secrets::Secrets;
use volley_base::budget::{Budget, Buffer};
use volley_base::units::timestamp::to_the_ns;
use volley_http::grpc::Code;
use volley_http::http::decode;
use volley_protobuf::{Message, Zeros};
use volley_request::messages;

/// Decoded bodies are no longer than this, in bytes.
const MOST_DECODED: usize = 1 << 20;

/// One line of `--log` or `--save-failures`.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    /// When it was sent; if it was not, when it ended.
    at: String,
    scenario: &'a str,
    step: &'a str,
    iteration: Option<u64>,
    ok: bool,
    /// HTTP status, or the name of the gRPC code.
    status: Value,
    /// From when it was due, or sent, to its end.
    latency_ns: u64,
    /// From when it was sent to its end.
    service_ns: u64,
    first_byte_ns: Option<u64>,
    received_bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    redirects: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// A record as plain data, without secrets. `whole`: with what was sent and received.
#[must_use]
pub fn line<'a>(records: &'a Records, record: &'a Record, whole: bool) -> Option<Line<'a>> {
    let label = records.labels.get(record.step)?;
    let timing = &record.timing;
    let began_ns = if record.was_sent {
        timing.sent_ns
    } else {
        timing.end_ns
    };
    let epoch_ns = records.epoch_ns.get().copied().unwrap_or_default();
    let exchange = record.exchange.as_deref();
    let reply = exchange.map_or_else(String::new, |exchange| {
        reply_text(exchange, label.replies.as_ref())
    });
    let secrets = exchange.map_or_else(Secrets::default, |one| Secrets::of(one, &reply));
    let exchange = exchange.filter(|_| whole);
    let since = |from: u64| timing.end_ns.saturating_sub(from);
    Some(Line {
        at: to_the_ns(epoch_ns.saturating_add(began_ns)),
        scenario: &label.names.scenario,
        step: &label.names.name,
        iteration: record.iteration,
        ok: record.faults.is_empty(),
        status: status(label, record.status),
        latency_ns: timing.response_ns(),
        service_ns: since(timing.sent_ns),
        first_byte_ns: timing.first_ns.map(|at| at.saturating_sub(timing.sent_ns)),
        received_bytes: record.received,
        redirects: record.redirects,
        error: record.faults.first().map(|(reason, what)| {
            let name = label.names.reason(*reason);
            json!({ "reason": reason.name(), "name": name, "what": secrets.masked(what) })
        }),
        request: exchange.map(|exchange| request(exchange, &secrets)),
        response: exchange.and_then(|exchange| response(exchange, label, &reply, &secrets)),
        saved: exchange
            .filter(|exchange| !exchange.saved.is_empty())
            .map(|exchange| object(&exchange.saved, &secrets)),
    })
}

pub(super) fn status(label: &Label, status: Option<u16>) -> Value {
    match status {
        Some(code) if label.replies.is_some() => match Code::from_u32(code.into()) {
            Some(code) => code.name().into(),
            None => code.into(),
        },
        status => status.into(),
    }
}

fn request(exchange: &Exchange, secrets: &Secrets) -> Value {
    json!({
        "method": exchange.method,
        "url": secrets.masked(&String::from_utf8_lossy(&exchange.url)),
        "headers": secrets.fields(&exchange.headers),
        "body": secrets.masked(&String::from_utf8_lossy(&exchange.body.bytes)),
        "body_bytes": exchange.body.length,
    })
}

fn response(exchange: &Exchange, label: &Label, reply: &str, secrets: &Secrets) -> Option<Value> {
    if !exchange.is_answered {
        return None;
    }
    let mut value = json!({
        "headers": secrets.fields(&exchange.fields),
        "body": secrets.masked(reply),
        "body_bytes": exchange.reply.length,
    });
    if !exchange.trailers.is_empty() {
        value["trailers"] = json!(secrets.fields(&exchange.trailers));
    }
    if label.replies.is_some() {
        value["replies"] = exchange.replies.into();
    }
    Some(value)
}

fn object(fields: &Fields, secrets: &Secrets) -> Value {
    let fields = secrets.fields(fields).into_iter();
    fields
        .map(|(name, value)| (name, Value::from(value)))
        .collect()
}

/// A response's body as text: decoded, and a gRPC reply as JSON.
pub(super) fn reply_text(exchange: &Exchange, replies: Option<&Message>) -> String {
    let Kept { bytes, .. } = &exchange.reply;
    if let Some(kind) = replies {
        let is_whole = exchange.replies > 0 && !exchange.reply.is_cut();
        return match is_whole {
            true => messages::to_json(bytes, kind, &Zeros::default()).to_string(),
            false => String::new(),
        };
    }
    let coding = exchange
        .fields
        .iter()
        .find(|(name, _)| name == "content-encoding");
    let mut decoded = Buffer::default();
    let is_decoded = coding.is_some_and(|(_, coding)| {
        let budget = Arc::new(Budget::new(8 * MOST_DECODED));
        decode(coding, bytes, MOST_DECODED, &mut decoded, &budget).is_ok()
    });
    let bytes = if is_decoded { &decoded } else { &bytes[..] };
    String::from_utf8_lossy(bytes).into_owned()
}
