use std::time::Duration;

use volley_http::http2::hpack::{Indexing, literal_name};
use volley_load::spec::{Spec, Templates};
use volley_request::Source;

use crate::support::{both, first, header, json, metadata, method, nth, refusal};

fn spec() -> Spec {
    let mut spec = json("{}");
    spec.target.insecure = true;
    spec.target.authority = Some("example.org:50051".to_owned());
    spec
}

#[test]
fn a_head_is_a_grpc_request_s_with_pseudo_headers_first() {
    let spec = {
        let mut spec = spec();
        spec.request.timeout = Duration::from_secs(20);
        spec
    };
    let request = first(&spec, &method("GetSum"));
    let fields: Vec<String> = request
        .head
        .fields
        .iter()
        .map(|field| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            format!("{}={}", text(&field.name), text(&field.value))
        })
        .collect();
    let agent = format!("user-agent=volley/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        fields,
        [
            ":method=POST",
            ":scheme=http",
            ":path=/benchmark.BenchmarkService/GetSum",
            ":authority=example.org:50051",
            "te=trailers",
            "content-type=application/grpc",
            agent.as_str(),
            "grpc-timeout=20000000u",
            "grpc-accept-encoding=gzip",
        ]
    );
}

#[test]
fn without_a_timeout_none_is_sent() {
    for timeout in [None, Some(Duration::ZERO)] {
        let spec = {
            let mut spec = spec();
            spec.request.timeout = timeout.unwrap_or_default();
            spec
        };
        let request = first(&spec, &method("GetSum"));
        assert_eq!(header(&request, "grpc-timeout"), None);
        assert_eq!(header(&request, "grpc-encoding"), None);
    }
}

#[test]
fn what_every_call_sends_is_indexed_and_secrets_never_are() {
    let spec = {
        let mut spec = spec();
        spec.request.metadata = metadata(&[
            ("Authorization", "Bearer {{.MethodName}}"),
            ("cookie", "n={{.RequestNumber}}"),
            ("x-constant", "same"),
            ("x-method", "{{.MethodName}}"),
            ("x-number", "{{.RequestNumber}}"),
        ]);
        spec
    };
    let request = nth(&spec, &method("GetSum"), 0, 7);
    let indexing = |name: &str| {
        let mut fields = request.head.fields.iter();
        fields
            .find(|field| &*field.name == name.as_bytes())
            .unwrap()
            .indexing
    };
    for name in [
        ":method",
        ":path",
        ":authority",
        "te",
        "user-agent",
        "x-constant",
        "x-method",
    ] {
        assert!(matches!(indexing(name), Indexing::Incremental), "{name}");
    }
    assert!(matches!(indexing("authorization"), Indexing::Never));
    // What only one call has: `cookie` never indexed, `x-number` without indexing.
    let pattern = |name: &str| {
        let mut encoded = Vec::new();
        literal_name(name.as_bytes(), Indexing::Never, &mut encoded);
        let literals = request.literals.windows(encoded.len());
        let mut first = literals.filter(|literal| literal[1..] == encoded[1..]);
        first.next().unwrap()[0]
    };
    assert_eq!((pattern("cookie"), pattern("x-number")), (0x10, 0x00));
    assert_eq!(
        header(&request, "authorization").as_deref(),
        Some("Bearer GetSum")
    );
    assert_eq!(header(&request, "cookie").as_deref(), Some("n=7"));
}

#[test]
fn metadata_is_rendered_for_every_call_and_the_body_is_not() {
    let spec = {
        let mut spec = spec();
        spec.request.metadata = metadata(&[("x-id", "{{.WorkerID}}-{{.RequestNumber}}")]);
        spec.name = "night".to_owned();
        spec.load.connections = 3;
        spec
    };
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    let (one, other) = both(&mut source, (0, 0), (7, 41));
    assert_eq!(header(&one, "x-id").as_deref(), Some("night:g0c0-0"));
    assert_eq!(header(&other, "x-id").as_deref(), Some("night:g7c1-41"));
    assert!(std::sync::Arc::ptr_eq(&one.body, &other.body));
}

#[test]
fn binary_metadata_is_base64_without_padding() {
    let spec = {
        let mut spec = spec();
        spec.request.metadata = metadata(&[("Trace-Bin", "AQ==")]);
        spec
    };
    let request = first(&spec, &method("GetSum"));
    assert_eq!(header(&request, "trace-bin").as_deref(), Some("AQ"));
}

#[test]
fn metadata_that_cannot_be_sent_is_refused_before_any_load() {
    let refused = |name: &str, value: &str| {
        let spec = {
            let mut spec = spec();
            spec.request.metadata = metadata(&[(name, value)]);
            spec
        };
        refusal(&spec, &method("GetSum"))
    };
    assert_eq!(
        refused("grpc-timeout", "1S"),
        "metadata `grpc-timeout` is reserved: names in `grpc-` belong to gRPC"
    );
    assert_eq!(
        refused("x", "{{.Nope}}").split(';').next().unwrap(),
        "metadata `x`: `{{.Nope}}`: unknown field `Nope`"
    );
    assert_eq!(
        refused("{{`a b`}}", "x").split(';').next().unwrap(),
        "metadata `a b` has ` ` in its name"
    );
    assert!(refused("x-bin", "{{.UUID}}").starts_with("metadata `x-bin` is not valid base64"));
    assert!(refused("x", "a\nb").contains("not printable ASCII"));
}

#[test]
fn without_templates_metadata_is_literal() {
    let spec = {
        let mut spec = spec();
        spec.request.metadata = metadata(&[("x", "{{.Nope")]);
        spec.request.templates = Templates::Off;
        spec
    };
    let request = first(&spec, &method("GetSum"));
    assert_eq!(header(&request, "x").as_deref(), Some("{{.Nope"));
}
