//! The options as ghz's JSON report shows them: same keys, durations in nanoseconds, and empty
//! values left out where ghz leaves them out.

use std::fmt;
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use ring::digest;
use serde::Deserializer as _;
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use volley_load::pace::whole_ns;
use volley_load::spec::{Data, SchemaSource, Spec, TargetSpec};

/// The number of calls that ghz shows if `-z` limits the run.
const UNBOUNDED: u64 = i32::MAX as u64;

/// Data is shown up to this length, in bytes.
const MOST_DATA: usize = 64 * 1024;

/// The key of a SHA-256 of the data, if it is not shown or not whole.
pub const DIGEST: &str = "data-sha256";

/// The parts of a schedule of the load.
pub const LOAD_SCHEDULE: [&str; 6] = [
    "load-schedule",
    "load-start",
    "load-end",
    "load-step",
    "load-step-duration",
    "load-max-duration",
];

/// The parts of a schedule of the workers.
pub const CONCURRENCY_SCHEDULE: [&str; 6] = [
    "concurrency-schedule",
    "concurrency-start",
    "concurrency-end",
    "concurrency-step",
    "concurrency-step-duration",
    "concurrency-max-duration",
];

/// The options of a run.
#[must_use]
pub fn of(spec: &Spec) -> Value {
    let Spec {
        target,
        request,
        load,
        ..
    } = spec;
    let mut shown = Map::new();
    let mut some = |key: &str, value: Value| {
        if !is_empty(&value) {
            shown.insert(key.to_owned(), value);
        }
    };
    some("call", json!(request.call));
    some("host", json!(target.host));
    match &request.schema {
        SchemaSource::Reflection => some("schema", json!("reflection")),
        SchemaSource::Proto { file, import_paths } => {
            some("proto", json!(file));
            some("import-paths", json!(import_paths));
        }
        SchemaSource::Protoset(file) => some("protoset", json!(file)),
    }
    some("enable-compression", json!(request.compress));
    if !target.insecure {
        some("cacert", json!(target.tls.cacert));
        some("cert", json!(target.tls.cert));
        some("key", json!(target.tls.key));
        some("cname", json!(target.server_name()));
        some("skipTLS", json!(target.tls.skip_verify));
    }
    let authority = target.authority.as_ref().or(target.tls.cname.as_ref());
    some("authority", json!(authority));
    some("rps", json!(load.rate.rps));
    some("concurrency", json!(load.concurrency.workers));
    some("total", json!(load.calls().unwrap_or(UNBOUNDED)));
    some("async", json!(load.is_async));
    some("connections", json!(load.connections));
    some("duration", ns(load.length().unwrap_or_default()));
    some("timeout", ns(request.timeout));
    some("dial-timeout", ns(target.connect_timeout));
    some("keepalive", ns(target.keepalive));
    some("data", data(&request.data));
    some(DIGEST, json!(digest(&request.data)));
    some("metadata", json!(request.metadata));
    some("name", json!(spec.name));
    some("skipFirst", json!(spec.count.skip_first));
    some("count-errors", json!(spec.count.count_errors));
    // volley's own flags, if they are used.
    some("expect", json!(spec.checks.expect));
    some("expect-replies", json!(spec.checks.replies));
    some("fail-if", json!(spec.checks.fail_if));
    some("stream-rate", json!(request.stream.rate));
    some("warmup", ns(load.warmup));
    some("spin", json!(load.spin));
    some("reconnect-every", json!(target.reconnect_every));
    let usual = TargetSpec::default();
    if target.lb_strategy != usual.lb_strategy {
        some("lb-strategy", json!(target.lb_strategy));
    }
    if target.window != usual.window {
        some("window", json!(target.window));
    }
    if let Value::Object(always) = always(spec) {
        shown.extend(always);
    }
    Value::Object(shown)
}

/// What ghz shows even if it is empty.
fn always(spec: &Spec) -> Value {
    let load = &spec.load;
    let (rate, workers) = (&load.rate, &load.concurrency);
    let threads = load.threads.map_or_else(
        || thread::available_parallelism().map_or(1, NonZero::get),
        |threads| threads as usize,
    );
    json!({
        "insecure": spec.target.insecure,
        "load-schedule": rate.schedule.name(),
        "load-start": rate.start,
        "load-end": rate.end.unwrap_or_default(),
        "load-step": rate.step,
        "load-step-duration": ns(rate.step_duration),
        "load-max-duration": ns(rate.max_duration),
        "concurrency-schedule": workers.schedule.name(),
        "concurrency-start": workers.start,
        "concurrency-end": workers.end.unwrap_or_default(),
        "concurrency-step": workers.step,
        "concurrency-step-duration": ns(workers.step_duration),
        "concurrency-max-duration": ns(workers.max_duration),
        "binary": matches!(spec.request.data, Data::Binary(_)),
        "CPUs": threads,
    })
}

/// The payload as JSON; null if it is no JSON, or becomes JSON only through its templates.
/// Of long data, only the beginning: the first messages of a list, or else the first characters.
fn data(data: &Data) -> Value {
    match data {
        Data::Json(text) if text.len() > MOST_DATA => {
            let mut first = Vec::new();
            let mut json = serde_json::Deserializer::from_str(text);
            // It ends with an error as soon as there are enough of them.
            let _ = json.deserialize_seq(FirstMessages(&mut first));
            match first.is_empty() {
                true => json!(text.chars().take(MOST_DATA / 4).collect::<String>()),
                false => Value::Array(first),
            }
        }
        Data::Json(text) => serde_json::from_str(text).unwrap_or_default(),
        Data::JsonLines(_) | Data::Csv(_) | Data::Binary(_) => Value::Null,
    }
}

/// In hexadecimal; `None` if [`data`] shows it whole.
fn digest(data: &Data) -> Option<String> {
    let bytes = match data {
        Data::Json(text)
            if text.len() <= MOST_DATA && serde_json::from_str::<IgnoredAny>(text).is_ok() =>
        {
            return None;
        }
        Data::Json(text) | Data::JsonLines(text) | Data::Csv(text) => text.as_bytes(),
        Data::Binary(bytes) => bytes,
    };
    Some(sha256(bytes))
}

/// The SHA-256 of some bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let sum = digest::digest(&digest::SHA256, bytes);
    let bytes = sum.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Takes the messages of a list, up to [`MOST_DATA`].
struct FirstMessages<'a>(&'a mut Vec<Value>);

impl<'de> Visitor<'de> for FirstMessages<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut bytes = 0;
        while let Some(message) = list.next_element::<Value>()? {
            bytes += message.to_string().len();
            if bytes > MOST_DATA {
                return Err(A::Error::custom("enough"));
            }
            self.0.push(message);
        }
        Ok(())
    }
}

fn ns(time: Duration) -> Value {
    json!(whole_ns(time))
}

/// Go's `omitempty`.
#[must_use]
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_data_is_shown_by_its_beginning() {
        let shown = |text: String| data(&Data::Json(text));
        let message = r#"{"a":1,"b":2}"#;
        assert_eq!(shown(format!("[{message}]")), json!([{"a": 1, "b": 2}]));
        let others = format!(",{message}").repeat(99_999);
        let first = shown(format!("[{message}{others}]"));
        let first = first.as_array().unwrap();
        assert_eq!(first.len(), MOST_DATA / message.len());
        assert_eq!(first[0], json!({"a": 1, "b": 2}));
        let one = shown(format!("{{\"a\":\"{}\"}}", "é".repeat(MOST_DATA)));
        assert!(one.as_str().unwrap().starts_with("{\"a\":\"éé"));
        assert!(one.to_string().len() < MOST_DATA + 100);
    }

    #[test]
    fn data_that_is_not_shown_whole_has_a_digest() {
        let text = |text: &str| digest(&Data::Json(text.to_owned()));
        assert_eq!(text(r#"{"a":1}"#), None);
        assert_eq!(text("").as_deref(), Some(EMPTY));
        let many = "{\"a\":1},".repeat(MOST_DATA);
        let long = |last| text(&format!("[{many}{{\"a\":{last}}}]"));
        assert_ne!(long(1), long(2));
        let templates = text(r#"{"a":{{.X}}}"#);
        assert!(templates.is_some());
        assert_eq!(digest(&Data::Csv(r#"{"a":{{.X}}}"#.to_owned())), templates);
        assert_eq!(digest(&Data::Binary(Vec::new())).as_deref(), Some(EMPTY));
    }

    /// The SHA-256 of nothing (FIPS 180-4's function, as `sha256sum /dev/null` prints it).
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
}
