//! Helpers that several of these tests share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use volley_http::http2::hpack::{DEFAULT_TABLE_SIZE, Decoder, HeaderList};
use volley_load::spec::{Data, SchemaSource, Spec};
use volley_protobuf::Pool;
use volley_request::{Method, Request, SchemaError, Source, schema};

pub const SERVICE: &str = "benchmark.BenchmarkService";

pub fn proto(file: &str) -> SchemaSource {
    SchemaSource::Proto {
        file: PathBuf::from("../../tests/protos").join(file),
        import_paths: Vec::new(),
    }
}

/// A method of the schema in a file.
pub fn load(source: &SchemaSource, call: &str) -> Result<Method, SchemaError> {
    schema::find(&schema::read(source)?.expect("no file"), call)
}

fn pool(source: &SchemaSource) -> Pool {
    schema::read(source).unwrap().unwrap()
}

/// A method of the benchmark's own service.
pub fn method(name: &str) -> Method {
    static POOL: LazyLock<Pool> = LazyLock::new(|| {
        pool(&SchemaSource::Proto {
            file: PathBuf::from("../../../requests/benchmark.proto"),
            import_paths: Vec::new(),
        })
    });
    schema::find(&POOL, &format!("{SERVICE}/{name}")).unwrap()
}

/// A method of the service that has every kind of field.
pub fn everything(name: &str) -> Method {
    static POOL: LazyLock<Pool> = LazyLock::new(|| pool(&proto("everything.proto")));
    schema::find(&POOL, &format!("everything.Everything/{name}")).unwrap()
}

pub fn json(data: &str) -> Spec {
    let mut spec = Spec::default();
    spec.request.data = Data::Json(data.to_owned());
    spec
}

pub fn metadata(fields: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    fields.iter().map(owned).collect()
}

/// What a worker sends as its run's call of that number.
pub fn nth(spec: &Spec, method: &Method, worker: u32, number: u64) -> Request {
    let mut source = Source::new(spec, method).unwrap();
    source.next(worker, number).unwrap().clone()
}

/// What is sent in two calls, each given as a worker and a number.
pub fn both(source: &mut Source, one: (u32, u64), other: (u32, u64)) -> (Request, Request) {
    let mut next = |(worker, number)| source.next(worker, number).unwrap().clone();
    (next(one), next(other))
}

/// What a run sends first.
pub fn first(spec: &Spec, method: &Method) -> Request {
    nth(spec, method, 0, 0)
}

/// The one-line error of an impossible request.
pub fn refusal(spec: &Spec, method: &Method) -> String {
    let Err(error) = Source::new(spec, method) else {
        panic!("accepted: {:?}", spec.request);
    };
    let error = error.to_string();
    assert!(!error.contains('\n'), "more than one line: {error}");
    error
}

/// The messages of a request, without their prefixes.
pub fn messages(request: &Request) -> Vec<&[u8]> {
    let mut start = 0;
    let mut messages = Vec::new();
    for end in &request.body.ends {
        let framed = &request.body.bytes[start..*end];
        let length = u32::from_be_bytes(framed[1..5].try_into().unwrap());
        assert_eq!(length as usize, framed.len() - 5);
        messages.push(&framed[5..]);
        start = *end;
    }
    assert_eq!(start, request.body.bytes.len());
    messages
}

/// The messages of a request, as compact JSON.
pub fn shown(request: &Request, method: &Method) -> Vec<String> {
    let show = |message: &[u8]| {
        let message = method.input.decode(message).unwrap();
        method.input.to_json(&message).to_string()
    };
    messages(request).into_iter().map(show).collect()
}

/// The value of a header field.
pub fn header(request: &Request, name: &str) -> Option<String> {
    let mut fields = request.head.fields.iter();
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    match fields.find(|field| &*field.name == name.as_bytes()) {
        Some(field) => Some(text(&field.value)),
        None => {
            let mut list = HeaderList::new();
            let mut decoder = Decoder::new(DEFAULT_TABLE_SIZE, 1 << 20);
            decoder.decode(&request.literals, &mut list).unwrap();
            list.get(name.as_bytes()).map(text)
        }
    }
}
