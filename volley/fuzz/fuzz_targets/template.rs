//! Any text as a template: it is refused, or rendered for some calls, and never without end.
#![no_main]

mod benchmark;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use volley_load::spec::{Data, Spec};
use volley_request::{Method, Source, schema};

/// What a rendered call may take: the text of a template ends at 64 MiB.
const MOST: usize = 65 << 20;

/// A method whose message has two numbers.
fn method() -> &'static Method {
    static METHOD: OnceLock<Method> = OnceLock::new();
    METHOD.get_or_init(|| {
        schema::find(&benchmark::pool(), "benchmark.BenchmarkService/GetSum").expect("it is there")
    })
}

/// Makes some requests; their data may be refused, and that of other calls not.
fn render(spec: &Spec) {
    let Ok(mut source) = Source::new(spec, method()) else {
        return;
    };
    for number in 0..3 {
        if let Ok(request) = source.next(1, number) {
            assert!(request.body.bytes.len() + request.literals.len() <= MOST);
        }
    }
}

fuzz_target!(|text: &str| {
    let with = |data: String| {
        let mut spec = Spec::default();
        spec.request.data = Data::Json(data);
        spec
    };
    render(&with(text.to_owned()));
    render(&with(format!("{{\"a\": {text}}}")));
    let mut spec = with("{}".to_owned());
    spec.request.metadata = [("x".to_owned(), text.to_owned())].into();
    render(&spec);
    spec.request.metadata = [(text.to_owned(), "x".to_owned())].into();
    render(&spec);
});
