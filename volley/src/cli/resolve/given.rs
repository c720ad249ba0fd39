//! The options as ghz's JSON report shows them: same keys, durations in nanoseconds, and empty
//! values left out where ghz leaves them out.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cli::options::{DataSource, Options, Security};
use crate::request::SchemaSource;

/// The number of calls that ghz shows if `-z` limits the run.
const UNBOUNDED: u64 = i32::MAX as u64;

pub fn of(options: &Options, host: String) -> Value {
    let mut shown = Map::new();
    let mut some = |key: &str, value: Value| {
        if !is_empty(&value) {
            shown.insert(key.to_owned(), value);
        }
    };
    some("call", json!(options.call));
    some("host", json!(host));
    match &options.schema {
        SchemaSource::Proto { file, import_paths } => {
            some("proto", json!(file));
            some("import-paths", json!(import_paths));
        }
        SchemaSource::Protoset(file) => some("protoset", json!(file)),
    }
    some("enable-compression", json!(options.compress));
    if let Security::Tls {
        skip_verify,
        cacert,
        cert,
        key,
        server_name,
    } = &options.security
    {
        some("cacert", json!(cacert));
        some("cert", json!(cert));
        some("key", json!(key));
        some("cname", json!(server_name));
        some("skipTLS", json!(skip_verify));
    }
    some("authority", json!(options.authority));
    some("rps", json!(options.rps));
    some("concurrency", json!(options.concurrency));
    some("total", json!(options.total.unwrap_or(UNBOUNDED)));
    some("async", json!(options.is_async));
    some("connections", json!(options.connections));
    some("duration", ns(options.duration.or(options.max_duration)));
    some("timeout", ns(options.timeout));
    some("dial-timeout", ns(Some(options.connect_timeout)));
    some("keepalive", ns(options.keepalive));
    some("data", data(&options.data));
    some("metadata", json!(options.metadata));
    some("name", json!(options.name));
    some("skipFirst", json!(options.skip_first));
    some("count-errors", json!(options.count_errors));
    shown.extend(always(options));
    Value::Object(shown)
}

/// What ghz shows even if it is empty.
fn always(options: &Options) -> Map<String, Value> {
    let (load, workers) = (&options.load, &options.concurrency_schedule);
    let threads = options.threads.map_or_else(
        || thread::available_parallelism().map_or(1, NonZero::get),
        |threads| threads as usize,
    );
    let members = json!({
        "insecure": options.security == Security::Plain,
        "load-schedule": load.schedule.name(),
        "load-start": load.start,
        "load-end": load.end.unwrap_or_default(),
        "load-step": load.step,
        "load-step-duration": ns(Some(load.step_duration)),
        "load-max-duration": ns(Some(load.max_duration)),
        "concurrency-schedule": workers.schedule.name(),
        "concurrency-start": workers.start,
        "concurrency-end": workers.end.unwrap_or_default(),
        "concurrency-step": workers.step,
        "concurrency-step-duration": ns(Some(workers.step_duration)),
        "concurrency-max-duration": ns(Some(workers.max_duration)),
        "binary": matches!(options.data, DataSource::Binary(_)),
        "CPUs": threads,
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The payload as JSON; null if it is binary, or becomes JSON only through its templates.
fn data(data: &DataSource) -> Value {
    match data {
        DataSource::Json(text) => serde_json::from_str(text).unwrap_or_default(),
        DataSource::Binary(_) => Value::Null,
    }
}

fn ns(time: Option<Duration>) -> Value {
    time.map_or(Value::Null, |time| {
        json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    })
}

/// Go's `omitempty`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}
