use serde::de::DeserializeSeed as _;
use volley_load::spec::Spec;
use volley_protobuf as protobuf;
use volley_protobuf::{Message, Seed, wire};
use volley_request::{Expected, Method, Mismatch, Source};
use volley_testkit::table::table;

use crate::support::{everything, first, json, load, method, proto, refusal};

fn expecting(data: &str, rules: &[&str]) -> Spec {
    let mut spec = json(data);
    spec.checks.expect = rules.iter().map(|rule| (*rule).to_owned()).collect();
    spec
}

fn bound(data: &str, rules: &[&str], method: &Method) -> std::sync::Arc<Expected> {
    first(&expecting(data, rules), method).expected
}

fn encoded(json: &str, message: &Message) -> Vec<u8> {
    let mut json = serde_json::Deserializer::from_str(json);
    protobuf::encode(&Seed(message).deserialize(&mut json).unwrap())
}

/// Checks a reply given as JSON.
fn check(expected: &Expected, i: u64, reply: &str, method: &Method) -> Result<(), String> {
    let reply = encoded(reply, &method.output);
    expected
        .check(i, &reply)
        .map_err(|mismatch| mismatch.to_string())
}

/// A `SumReply`.
fn reply(result: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    if result != 0 {
        wire::encode_number(1, result, &mut bytes);
    }
    bytes
}

#[test]
fn a_stream_is_checked_value_by_value() {
    let expected = bound(
        r#"{"a":1,"b":2,"count":5000}"#,
        &["result = a + b + i"],
        &method("StreamSum"),
    );
    for i in 0..5000 {
        assert_eq!(expected.check(i, &reply(3 + i as i32)), Ok(()));
        assert!(expected.check(i, &reply(4 + i as i32)).is_err());
    }
}

#[test]
fn a_mismatch_says_which_reply_what_and_why() {
    let expected = bound(
        r#"{"a":1,"b":1}"#,
        &["result = a + b + i"],
        &method("StreamSum"),
    );
    assert_eq!(
        expected.check(17, &reply(20)).unwrap_err().to_string(),
        "reply 17: `result` is 20, expected 19 = a + b + i"
    );
}

#[test]
fn sums_wrap_as_the_field_s_own_type_does() {
    let expected = bound(
        r#"{"a":2147483647,"b":1}"#,
        &["result = a + b + i"],
        &method("StreamSum"),
    );
    assert_eq!(expected.check(0, &reply(i32::MIN)), Ok(()));
    assert_eq!(expected.check(1, &reply(i32::MIN + 1)), Ok(()));
    assert_eq!(
        expected.check(0, &reply(0)).unwrap_err().to_string(),
        "reply 0: `result` is 0, expected -2147483648 = a + b + i"
    );
}

#[test]
fn an_absent_field_has_its_default() {
    let expected = bound(r#"{"a":5,"b":-5}"#, &["result = a + b"], &method("GetSum"));
    assert_eq!(expected.check(0, &[]), Ok(()));
    let expected = bound(r#"{"a":5}"#, &["result = a + b"], &method("GetSum"));
    assert_eq!(
        expected.check(0, &[]).unwrap_err().to_string(),
        "reply 0: `result` is 0, expected 5 = a + b"
    );
}

#[test]
fn proto2_defaults_are_respected() {
    let method = load(&proto("proto2.proto"), "old.Old/Call").unwrap();
    let expected = bound(r#"{"name":"x"}"#, &["number = 42"], &method);
    assert_eq!(check(&expected, 0, r#"{"name":"x"}"#, &method), Ok(()));
    assert_eq!(
        expected.check(0, &[]).unwrap_err().to_string(),
        "reply 0: malformed protobuf at byte 0: the required field 2 is missing"
    );
    assert!(check(&expected, 0, r#"{"name":"x","number":0}"#, &method).is_err());
}

#[test]
fn the_last_of_repeated_singles_counts_and_odd_encodings_are_read() {
    let expected = bound(r#"{"a":5}"#, &["result = a"], &method("GetSum"));
    assert_eq!(expected.check(0, &[8, 1, 8, 5]), Ok(()));
    assert!(expected.check(0, &[8, 5, 8, 1]).is_err());
    // Longer than necessary, and above 32 bits, which int32 decoders cut off.
    assert_eq!(expected.check(0, &[8, 0x85, 0x80, 0]), Ok(()));
    assert_eq!(
        expected.check(0, &[8, 0x85, 0x80, 0x80, 0x80, 0x80, 1]),
        Ok(())
    );
    // A field that the schema does not know, or knows with another wire type.
    assert_eq!(expected.check(0, &[16, 9, 8, 5, 26, 1, 65]), Ok(()));
    assert_eq!(expected.check(0, &[8, 5, 10, 0, 13, 0, 0, 0, 0]), Ok(()));
}

#[test]
fn malformed_replies_are_refused_with_and_without_rules() {
    for rules in [&["result = a"][..], &[]] {
        let expected = bound("{}", rules, &method("GetSum"));
        for (reply, at, what) in [
            (&[8][..], 1, "it is cut short"),
            (&[8, 0x80], 1, "it is cut short"),
            (&[0x88], 0, "it is cut short"),
            (&[0, 0], 0, "a field number is out of range"),
            (&[8, 0, 15], 2, "there is no such wire type"),
            (&[26, 2, 0], 1, "it is cut short"),
            (&[20], 0, "a group ends that was not started"),
            (&[19], 1, "it is cut short"),
            (
                &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2],
                1,
                "a varint is longer than 64 bits",
            ),
        ] {
            let mismatch = expected.check(4, reply).unwrap_err();
            assert_eq!(
                mismatch.to_string(),
                format!("reply 4: malformed protobuf at byte {at}: {what}"),
                "{reply:?}"
            );
        }
    }
}

#[test]
fn a_bidirectional_reply_is_held_against_its_own_request() {
    let data = r#"[{"a":1,"b":10},{"a":2,"b":20},{"a":3,"b":30}]"#;
    let method = method("EchoSum");
    let expected = bound(data, &["result = a + b"], &method);
    for (i, result) in [11, 22, 33].into_iter().enumerate() {
        assert_eq!(expected.check(i as u64, &reply(result)), Ok(()));
    }
    assert_eq!(
        expected.check(1, &reply(11)).unwrap_err().to_string(),
        "reply 1: `result` is 11, expected 22 = a + b"
    );
    assert_eq!(
        expected.check(3, &reply(11)).unwrap_err().to_string(),
        "reply 3: `result` is 11, but `a + b` has no request 3: only 3 were sent"
    );
}

#[test]
fn repeated_data_is_expected_repeatedly() {
    let spec = {
        let mut spec = expecting(r#"[{"a":1},{"a":2}]"#, &["result = a + 10 * i"]);
        spec.request.stream.count = 5;
        spec
    };
    let expected = first(&spec, &method("EchoSum")).expected;
    for (i, result) in [1, 12, 21, 32, 41].into_iter().enumerate() {
        assert_eq!(expected.check(i as u64, &reply(result)), Ok(()));
    }
    assert!(matches!(
        expected.check(5, &reply(51)),
        Err(Mismatch::NoRequest { sent: 5, .. })
    ));
}

#[test]
fn sum_is_over_all_requests_of_the_call() {
    let data = r#"[{"a":1,"b":100},{"a":2},{"a":4}]"#;
    let rule = "result = sum(a) + sum(b)";
    let method = method("CollectSum");
    assert_eq!(bound(data, &[rule], &method).check(0, &reply(107)), Ok(()));
    for (count, result) in [(1, 101), (2, 103), (4, 208), (7, 315)] {
        let spec = {
            let mut spec = expecting(data, &[rule]);
            spec.request.stream.count = count;
            spec
        };
        let expected = first(&spec, &method).expected;
        assert_eq!(expected.check(0, &reply(result)), Ok(()), "{count}");
    }
}

#[test]
fn a_client_stream_s_names_are_its_first_request_s() {
    let expected = bound(
        r#"[{"a":1},{"a":2}]"#,
        &["result = a"],
        &method("CollectSum"),
    );
    assert_eq!(expected.check(0, &reply(1)), Ok(()));
}

#[test]
fn unary_calls_that_take_turns_expect_in_turn() {
    let spec = expecting(r#"[{"a":1},{"a":2}]"#, &["result = a"]);
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    assert_eq!(
        source.next(0, 6).unwrap().expected.check(0, &reply(1)),
        Ok(())
    );
    assert_eq!(
        source.next(0, 7).unwrap().expected.check(0, &reply(2)),
        Ok(())
    );
}

#[test]
fn templates_are_expected_as_rendered() {
    let spec = expecting(r#"{"a": {{.RequestNumber}}}"#, &["result = a * a"]);
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    assert_eq!(
        source.next(0, 12).unwrap().expected.check(0, &reply(144)),
        Ok(())
    );
}

#[test]
fn every_integer_type_bools_and_enums_can_be_compared() {
    let method = everything("Call");
    for (field, request, reply, wrong) in [
        ("int32", "-7", "-7", "7"),
        ("int64", "-9000000000", "-9000000000", "1"),
        ("uint32", "4294967295", "4294967295", "1"),
        (
            "uint64",
            "18446744073709551615",
            "18446744073709551615",
            "1",
        ),
        ("sint32", "-2147483648", "-2147483648", "1"),
        ("sint64", "-5", "-5", "5"),
        ("fixed32", "4294967295", "4294967295", "1"),
        (
            "fixed64",
            "18446744073709551615",
            "18446744073709551615",
            "1",
        ),
        ("sfixed32", "-1", "-1", "1"),
        ("sfixed64", "-1", "-1", "1"),
        ("bool", "true", "true", "false"),
        ("level", "\"BELOW\"", "-1", "1"),
        ("maybe", "-3", "-3", "3"),
        ("camelCase", "5", "5", "6"),
        ("number", "5", "5", "6"),
    ] {
        let rule = format!("{field} = {field}");
        let expected = bound(&format!(r#"{{"{field}":{request}}}"#), &[&rule], &method);
        let json = |value: &str| format!(r#"{{"{field}":{value}}}"#);
        assert_eq!(
            check(&expected, 0, &json(reply), &method),
            Ok(()),
            "{field}"
        );
        assert!(
            check(&expected, 0, &json(wrong), &method).is_err(),
            "{field}"
        );
    }
}

#[test]
fn enum_values_and_truth_have_names() {
    let method = everything("Call");
    let expected = bound("{}", &["level = HIGH", "bool = true"], &method);
    assert_eq!(
        check(&expected, 0, r#"{"level":7,"bool":true}"#, &method),
        Ok(())
    );
    assert_eq!(
        check(&expected, 0, r#"{"level":"LOW","bool":true}"#, &method).unwrap_err(),
        "reply 0: `level` is LOW, expected HIGH"
    );
    assert_eq!(
        check(&expected, 0, r#"{"level":7}"#, &method).unwrap_err(),
        "reply 0: `bool` is false, expected true"
    );
}

#[test]
fn any_number_of_rules_may_be_given() {
    let method = everything("Call");
    let rules: Vec<String> = (0..20)
        .map(|n| format!("int64 = {n} + int64 - {n}"))
        .collect();
    let mut rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let data = r#"{"int64":5}"#;
    assert_eq!(
        check(&bound(data, &rules, &method), 0, data, &method),
        Ok(())
    );
    rules.push("uint32 = 3");
    assert_eq!(
        check(&bound(data, &rules, &method), 0, data, &method).unwrap_err(),
        "reply 0: `uint32` is 0, expected 3"
    );
}

#[test]
fn curves_are_followed() {
    let expected = bound(
        r#"{"a":2}"#,
        &["result = a*i*i*i - i*i + (i - 1)*3"],
        &method("StreamSum"),
    );
    for i in 0..50_i32 {
        let result = 2 * i * i * i - i * i + (i - 1) * 3;
        assert_eq!(expected.check(i as u64, &reply(result)), Ok(()));
    }
}

#[test]
fn the_number_of_replies_is_one_where_the_shape_says_so() {
    let replies = |name: &str, given: Option<u64>| {
        let spec = {
            let mut spec = json("{}");
            spec.checks.replies = given;
            spec
        };
        first(&spec, &method(name)).expected.replies()
    };
    assert_eq!(replies("GetSum", None), Some(1));
    assert_eq!(replies("CollectSum", Some(1)), Some(1));
    assert_eq!(replies("StreamSum", None), None);
    assert_eq!(replies("StreamSum", Some(5000)), Some(5000));
    assert_eq!(replies("EchoSum", Some(0)), Some(0));
}

#[test]
fn rules_that_cannot_be_checked_are_refused() {
    for [rule, expected] in table(
        r"
        result = a + c => --expect 'result = a + c': there is no `c`; the request `benchmark.SumRequest` has `a`, `b`, and `i` is the reply's index
        sum = a => --expect 'sum = a': the reply `benchmark.SumReply` has no field `sum`; it has `result`
        result = a + => --expect 'result = a +': it ends too early; a rule is 'field = expression', as in 'result = a + b + i'
        result = sum(i) => --expect 'result = sum(i)': there is no `i`; the request `benchmark.SumRequest` has `a`, `b`, and `i` is the reply's index
        result⏎= 1 2 => --expect 'result = 1 2': `2` is not expected at the end; a rule is 'field = expression', as in 'result = a + b + i'
    ",
    ) {
        assert_eq!(
            refusal(&expecting("{}", &[rule]), &method("GetSum")),
            expected
        );
    }
}

#[test]
fn fields_that_are_no_numbers_are_refused() {
    let refused = |rule: &str| refusal(&expecting("{}", &[rule]), &everything("Call"));
    let tail = "; only single integers, bools and enums can be compared";
    for [rule, kind] in table(
        r"
        string = 1 => `string` of `everything.All` is of type string
        packed = 1 => `packed` of `everything.All` is repeated
        counts = 1 => `counts` of `everything.All` is a map
        int32 = double => `double` of `everything.All` is of type double
        int32 = sum(bytes) => `bytes` of `everything.All` is of type bytes
        int32 = inner => `inner` of `everything.All` is of type everything.All.Inner
    ",
    ) {
        assert_eq!(refused(rule), format!("--expect '{rule}': {kind}{tail}"));
    }
}
