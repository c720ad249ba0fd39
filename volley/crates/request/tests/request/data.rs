use std::io::Read;

use flate2::read::GzDecoder;
use volley_load::spec::{Data, Spec};
use volley_request::Source;

use crate::support::{both, everything, first, json, messages, method, refusal, shown};
use volley_testkit::texts::begins;

fn binary(data: &[u8]) -> Spec {
    let mut spec = Spec::default();
    spec.request.data = Data::Binary(data.to_vec());
    spec
}

#[test]
fn an_object_is_every_call_s_message() {
    let method = method("GetSum");
    let mut source = Source::new(&json(r#"{"a": 1, "b": -2}"#), &method).unwrap();
    let first = source.next(0, 0).unwrap().clone();
    assert_eq!(
        *first.body.bytes,
        [
            0, 0, 0, 0, 13, 8, 1, 16, 254, 255, 255, 255, 255, 255, 255, 255, 255, 1
        ]
    );
    assert_eq!(first.body.ends, [18]);
    assert_eq!(source.next(3, 77).unwrap().body, first.body);
}

#[test]
fn calls_that_are_the_same_share_everything() {
    let mut source = Source::new(&json(r#"{"a": 1}"#), &method("GetSum")).unwrap();
    let (one, other) = both(&mut source, (0, 0), (1, 1));
    assert!(std::sync::Arc::ptr_eq(&one.head, &other.head));
    assert!(std::sync::Arc::ptr_eq(&one.body, &other.body));
    assert!(std::sync::Arc::ptr_eq(&one.expected, &other.expected));
}

#[test]
fn unary_calls_take_the_elements_of_an_array_in_turn() {
    let method = method("GetSum");
    let mut source = Source::new(&json(r#" [{"a":1},{"a":2},{"a":3}]"#), &method).unwrap();
    let mut sent = |number| shown(source.next(0, number).unwrap(), &method).concat();
    assert_eq!(sent(0), r#"{"a":1}"#);
    assert_eq!(sent(1), r#"{"a":2}"#);
    assert_eq!(sent(2), r#"{"a":3}"#);
    assert_eq!(sent(1_000_000), r#"{"a":2}"#);
}

#[test]
fn calls_that_take_turns_share_their_head() {
    let mut source = Source::new(&json(r#"[{"a":1},{"a":2}]"#), &method("GetSum")).unwrap();
    let (one, other) = both(&mut source, (0, 0), (0, 1));
    assert!(std::sync::Arc::ptr_eq(&one.head, &other.head));
    assert_ne!(one.body, other.body);
}

#[test]
fn a_streaming_client_sends_the_whole_array() {
    for name in ["CollectSum", "EchoSum"] {
        let method = method(name);
        let mut source = Source::new(&json(r#"[{"a":1},{},{"b":3}]"#), &method).unwrap();
        let request = source.next(0, 5).unwrap().clone();
        assert_eq!(shown(&request, &method), [r#"{"a":1}"#, "{}", r#"{"b":3}"#]);
    }
}

#[test]
fn an_object_is_an_array_of_one_to_a_streaming_client() {
    let method = method("CollectSum");
    let mut source = Source::new(&json(r#"{"a":1}"#), &method).unwrap();
    assert_eq!(shown(source.next(0, 0).unwrap(), &method), [r#"{"a":1}"#]);
}

#[test]
fn the_stream_call_count_cuts_or_repeats_the_data() {
    let method = method("EchoSum");
    for (count, expected) in [
        (2, vec!["1", "2"]),
        (5, vec!["1", "2", "3", "1", "2"]),
        (0, vec!["1", "2", "3"]),
    ] {
        let spec = {
            let mut spec = json(r#"[{"a":1},{"a":2},{"a":3}]"#);
            spec.request.stream.count = count;
            spec
        };
        let request = first(&spec, &method);
        let expected: Vec<String> = expected.iter().map(|a| format!(r#"{{"a":{a}}}"#)).collect();
        assert_eq!(shown(&request, &method), expected);
    }
}

#[test]
fn the_stream_call_count_is_not_for_one_request() {
    let spec = {
        let mut spec = json(r#"{"count":9}"#);
        spec.request.stream.count = 3;
        spec
    };
    let request = first(&spec, &method("StreamSum"));
    assert_eq!(request.body.ends.len(), 1);
}

#[test]
fn a_stream_call_count_that_no_memory_holds_is_refused() {
    let spec = {
        let mut spec = json(r#"{"a":1}"#);
        spec.request.stream.count = u64::MAX;
        spec
    };
    assert_eq!(
        refusal(&spec, &method("CollectSum")),
        "the messages of one call take more than 1073741824 bytes; send fewer with \
         --stream-call-count, or smaller ones"
    );
}

#[test]
fn no_data_is_refused_where_a_request_is_due() {
    for data in ["", "  ", "[]"] {
        assert_eq!(
            refusal(&json(data), &method("GetSum")),
            "there is no data to send: give `benchmark.SumRequest` as JSON with -d '{…}'"
        );
    }
    assert!(refusal(&binary(b""), &method("StreamSum")).starts_with("there is no data to send"));
}

#[test]
fn a_streaming_client_may_send_nothing() {
    for spec in [json("[]"), json(""), binary(b"")] {
        let request = first(&spec, &method("CollectSum"));
        assert!(request.body.bytes.is_empty() && request.body.ends.is_empty());
    }
}

#[test]
fn every_kind_of_field_is_read_from_json() {
    let method = everything("Call");
    let data = r#"{"int32":-1,"int64":"-9223372036854775808","uint32":4294967295,
        "uint64":18446744073709551615,"sint32":-5,"sint64":-6,"fixed32":7,"fixed64":"8",
        "sfixed32":-9,"sfixed64":-10,"bool":true,"double":1.5,"float":"NaN","string":"é",
        "bytes":"AQI=","level":"HIGH","inner":{"value":1,"inner":{"text":"x"}},
        "packed":[1,2],"unpacked":[-1],"strings":["a"],"inners":[{"value":2}],
        "counts":{"k":1},"byId":{"-4":{"value":3}},"levels":["LOW",7],"name":"n","maybe":0,
        "when":"2020-01-01T00:00:00Z","camel_case":1}"#;
    let request = first(&json(data), &method);
    let shown: serde_json::Value = serde_json::from_str(&shown(&request, &method)[0]).unwrap();
    assert_eq!(shown["uint64"], "18446744073709551615");
    assert_eq!(shown["int64"], "-9223372036854775808");
    assert_eq!(shown["level"], "HIGH");
    assert_eq!(shown["byId"]["-4"]["value"], 3);
    assert_eq!(shown["levels"][1], "HIGH");
    assert_eq!(shown["when"], "2020-01-01T00:00:00Z");
    assert_eq!(shown["camelCase"], 1);
    assert_eq!(shown["maybe"], 0);
    assert_eq!(shown["float"], "NaN");
}

#[test]
fn binary_data_is_sent_as_it_is() {
    let mut source = Source::new(&binary(&[8, 1, 16, 2]), &method("GetSum")).unwrap();
    let request = source.next(0, 0).unwrap().clone();
    assert_eq!(messages(&request), [[8, 1, 16, 2]]);
}

#[test]
fn binary_messages_after_their_lengths_are_several() {
    let data = [2, 8, 1, 0, 4, 8, 2, 16, 3];
    let method = method("EchoSum");
    let request = first(&binary(&data), &method);
    assert_eq!(
        shown(&request, &method),
        [r#"{"a":1}"#, "{}", r#"{"a":2,"b":3}"#]
    );
}

#[test]
fn binary_data_that_is_neither_is_refused() {
    let error = refusal(&binary(&[2, 8, 1, 9]), &method("GetSum"));
    begins(
        &error,
        "the binary data is neither one `benchmark.SumRequest` nor several with length prefixes: ",
    );
}

#[test]
fn compressed_messages_carry_their_flag_and_the_encoding_is_named() {
    let spec = {
        let mut spec = json(r#"[{"a":1},{"a":2}]"#);
        spec.request.compress = true;
        spec
    };
    let request = first(&spec, &method("CollectSum"));
    let inflated: Vec<Vec<u8>> = messages(&request)
        .into_iter()
        .map(|message| {
            let mut inflated = Vec::new();
            GzDecoder::new(message).read_to_end(&mut inflated).unwrap();
            inflated
        })
        .collect();
    assert_eq!(inflated, [[8, 1], [8, 2]]);
    assert_eq!(request.body.bytes[0], 1);
    assert_eq!(
        crate::support::header(&request, "grpc-encoding").as_deref(),
        Some("gzip")
    );
    assert_eq!(
        crate::support::header(&request, "grpc-accept-encoding").as_deref(),
        Some("gzip")
    );
}

#[test]
fn a_source_goes_to_any_thread() {
    fn goes<T: Send + 'static>() {}
    goes::<Source>();
}
