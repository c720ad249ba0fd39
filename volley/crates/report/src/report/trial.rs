//! A single call as JSON: what was sent, what came back, and when.

use std::time::Duration;

use serde_json::{Map, Value, json};
use volley_base::budget::Buffer;
use volley_base::defaults;
use volley_http::grpc::{Code, PREFIX_LEN, Status};
use volley_http::http2::hpack::{Decoder, HeaderList};
use volley_load::spec::{SchemaSource, Spec, secret};
use volley_protobuf::Zeros;
use volley_request::{Body, Method, Request, messages};

/// Headers or trailers.
pub type Fields = Vec<(String, Vec<u8>)>;

defaults! {
    /// What came back. Times are since the call was sent.
    #[derive(Debug)]
    pub struct Seen {
        /// How long it took to connect.
        pub connect: Duration = Duration::ZERO,
        /// `None` if the call failed at once.
        pub headers: Option<(Fields, Duration)> = None,
        /// The first replies.
        pub replies: Vec<(Buffer, Duration)> = Vec::new(),
        /// All replies.
        pub count: u64 = 0,
        pub trailers: Fields = Fields::new(),
        pub status: Status = Status::new(Code::Ok, ""),
        pub end: Duration = Duration::ZERO,
    }
}

/// The report of a call. Secrets are masked, unless they are to be shown.
#[must_use]
pub fn json(spec: &Spec, method: &Method, request: &Request, seen: &Seen) -> Value {
    let with = |mut shown: Map<String, Value>, name: &str, value: &[u8]| {
        let is_hidden = secret::is_secret(name) && !spec.request.show_secrets;
        let value = match is_hidden {
            true => json!(secret::MASK),
            false => json!(String::from_utf8_lossy(value)),
        };
        add(&mut shown, name, value);
        shown
    };
    let all = |list: &Fields| {
        let list = list.iter();
        list.fold(Map::new(), |shown, (name, value)| with(shown, name, value))
    };
    let shared = request.head.fields.iter();
    let shared = shared.map(|field| (&*field.name, &*field.value));
    let own = own_fields(&request.literals);
    let sent = shared.chain(own.iter());
    let sent = sent.fold(Map::new(), |shown, (name, value)| {
        match str::from_utf8(name) {
            Ok(name) => with(shown, name, value),
            Err(_) => shown,
        }
    });
    let replies = seen.replies.iter();
    let zeros = Zeros::default();
    let mut shown = json!({
        "call": method.path.trim_start_matches('/'),
        "host": spec.target.host,
        "schema": match &spec.request.schema {
            SchemaSource::Reflection => json!("reflection"),
            SchemaSource::Proto { file, .. } | SchemaSource::Protoset(file) => json!(file),
        },
        "request": {
            "headers": sent,
            "messages": sent_messages(&request.body, method, &zeros),
        },
        "response": {
            "headers": seen.headers.as_ref().map(|(list, _)| all(list)),
            "replies": replies.clone().map(|(reply, _)| messages::to_json(reply, &method.output, &zeros)).collect::<Vec<_>>(),
            "replies_not_shown": seen.count - seen.replies.len() as u64,
            "trailers": all(&seen.trailers),
            "status": {
                "code": seen.status.code.name(),
                "number": seen.status.code as u32,
                "message": seen.status.message,
            },
        },
        "times_ms": {
            "connect": ms(seen.connect),
            "headers": seen.headers.as_ref().map(|(_, after)| ms(*after)),
            "replies": replies.map(|(_, after)| ms(*after)).collect::<Vec<_>>(),
            "end": ms(seen.end),
        },
    });
    if zeros.are_left_out() {
        shown["zero_fields"] = messages::LEFT_OUT.into();
    }
    shown
}

/// The header fields that only this call has.
fn own_fields(literals: &[u8]) -> HeaderList {
    let mut fields = HeaderList::new();
    // It cannot fail: this program has made them.
    let _ = Decoder::new(0, usize::MAX).decode(literals, &mut fields);
    fields
}

/// A name that comes twice has a list of values.
fn add(to: &mut Map<String, Value>, name: &str, value: Value) {
    match to.get_mut(name) {
        None => {
            to.insert(name.to_owned(), value);
        }
        Some(Value::Array(values)) => values.push(value),
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
}

fn sent_messages(body: &Body, method: &Method, zeros: &Zeros) -> Vec<Value> {
    let begins = [0].into_iter().chain(body.ends.iter().copied());
    let shown = begins.zip(&body.ends).filter_map(|(begin, end)| {
        let framed = body.bytes.get(begin..*end)?;
        let (prefix, message) = framed.split_at_checked(PREFIX_LEN)?;
        let inflated = prefix.starts_with(&[1]).then(|| inflated(message));
        let message = inflated.as_deref().unwrap_or(message);
        Some(messages::to_json(message, &method.input, zeros))
    });
    shown.collect()
}

/// A message that was compressed here.
fn inflated(message: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut inflated = Vec::new();
    // It cannot fail: the bytes are in memory, and this program has made them.
    let _ = flate2::read::GzDecoder::new(message).read_to_end(&mut inflated);
    inflated
}

/// To the microsecond.
fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
