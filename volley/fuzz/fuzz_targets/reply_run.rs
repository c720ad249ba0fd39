//! Replies of equal length: whatever is taken at once would have been accepted one by one.
#![no_main]

mod benchmark;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use volley_load::spec::{Data, Spec};
use volley_request::{Expected, Source, schema};

/// The expectation `result = a + b + i`, and none.
fn expected() -> &'static [std::sync::Arc<Expected>; 2] {
    static EXPECTED: OnceLock<[std::sync::Arc<Expected>; 2]> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let method = schema::find(&benchmark::pool(), "benchmark.BenchmarkService/StreamSum")
            .expect("it is there");
        [&["result = a + b + i"][..], &[]].map(|rules| {
            let mut spec = Spec::default();
            spec.request.data = Data::Json(r#"{"a": 120, "b": 2, "count": 5}"#.to_owned());
            spec.checks.expect = rules.iter().map(|rule| (*rule).to_owned()).collect();
            let mut source = Source::new(&spec, &method).expect("it can be sent");
            let request = source.next(0, 0).expect("it can be sent");
            std::sync::Arc::clone(&request.expected)
        })
    })
}

fuzz_target!(|input: (u16, u8, u8, &[u8])| {
    let (first, head, message, bytes) = input;
    let (head, message) = (usize::from(head % 20), usize::from(message % 14));
    let size = head + message;
    let Some((last, rest)) = bytes.split_at_checked(size) else {
        return;
    };
    if size == 0 {
        return;
    }
    for expected in expected() {
        let Some(run) = expected.run(first.into()) else {
            continue;
        };
        let count = run.count(last, message, rest);
        for (i, piece) in rest.chunks_exact(size).take(count).enumerate() {
            // A piece has the constant bytes of the last one, and its value ends it.
            assert!(
                expected
                    .check(u64::from(first) + i as u64, &piece[head..])
                    .is_ok()
            );
            assert_eq!(piece[..head], last[..head]);
        }
    }
});
