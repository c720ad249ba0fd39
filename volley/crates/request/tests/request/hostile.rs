//! Data that gives no request is refused in one clear line.

use proptest::prelude::*;
use volley_request::Source;
use volley_testkit::table::table;

use crate::support::{everything, json, method, refusal};
use volley_testkit::texts::{begins, has};

fn refused(data: &str, expected: &str) {
    assert_eq!(refusal(&json(data), &method("GetSum")), expected, "{data}");
}

#[test]
fn broken_json_is_shown_with_its_place() {
    refused(
        r#"{"a": 1"#,
        "the data is not valid JSON: EOF while parsing an object at line 1 column 7",
    );
    refused(
        "{\"a\": 1,\n \"b\": }",
        "the data is not valid JSON: expected value at line 2 column 7",
    );
    refused(
        r#"{"a": 1} {"a": 2}"#,
        "the data is not valid JSON: trailing characters at line 1 column 10",
    );
    refused(
        "hello",
        "the data is not valid JSON: expected value at line 1 column 1",
    );
}

#[test]
fn an_unknown_field_is_named_with_those_there_are() {
    refused(
        r#"{"a": 1, "c": 2}"#,
        "the data does not fit `benchmark.SumRequest`: unrecognized field name 'c' at line 1 \
         column 12; its fields are `a`, `b`",
    );
    refused(
        r#"[{"a": 1}, {"c": 2}]"#,
        "the data does not fit `benchmark.SumRequest`: `[1]`: unrecognized field name 'c' at \
         line 1 column 15; its fields are `a`, `b`",
    );
}

#[test]
fn a_value_of_another_type_is_named() {
    refused(
        r#"{"a": "one"}"#,
        "the data does not fit `benchmark.SumRequest`: `a` (int32): a whole number is needed \
         at line 1 column 12",
    );
    refused(
        r#"{"a": 2147483648}"#,
        "the data does not fit `benchmark.SumRequest`: `a` (int32): the number does not fit \
         the field: it is too large at line 1 column 17",
    );
    for data in [
        r#"{"a": 1.5}"#,
        r#"{"a": [1]}"#,
        r#"{"a": {}}"#,
        "17",
        r#""text""#,
        "null",
    ] {
        let error = refusal(&json(data), &method("GetSum"));
        assert!(
            error.starts_with("the data does not fit `benchmark.SumRequest`: "),
            "{data}: {error}"
        );
    }
}

#[test]
fn endless_nesting_in_json_is_refused() {
    let nested = format!(
        "{}{}{}",
        r#"{"self":"#.repeat(100_000),
        "{}",
        "}".repeat(100_000)
    );
    let error = refusal(&json(&nested), &everything("Call"));
    begins(
        &error,
        "the data is not valid JSON: recursion limit exceeded",
    );
    let brackets = "[".repeat(1_000_000);
    assert!(refusal(&json(&brackets), &method("GetSum")).len() < 200);
}

#[test]
fn two_members_of_a_oneof_are_refused() {
    let error = refusal(&json(r#"{"number":1,"name":"x"}"#), &everything("Call"));
    has(&error, "multiple fields provided for oneof 'choice'");
}

#[test]
fn an_unknown_enum_value_is_refused() {
    let error = refusal(&json(r#"{"level":"MIDDLE"}"#), &everything("Call"));
    has(&error, "unrecognized enum value 'MIDDLE'");
}

#[test]
fn what_a_template_gave_is_shown_if_it_does_not_fit() {
    assert_eq!(
        refusal(&json(r#"{"a": {{.WorkerID}}}"#), &method("GetSum")),
        "the data is not valid JSON: expected value at line 1 column 7; the template gave: \
         {\"a\": g0c0}"
    );
    assert_eq!(
        refusal(&json(r#"{"c": {{.RequestNumber}}}"#), &method("GetSum")),
        "the data does not fit `benchmark.SumRequest`: unrecognized field name 'c' at line 1 \
         column 4; its fields are `a`, `b`; the template gave: {\"c\": 0}"
    );
}

#[test]
fn more_than_one_reply_to_a_unary_call_cannot_be_expected() {
    let spec = {
        let mut spec = json("{}");
        spec.checks.replies = Some(2);
        spec
    };
    assert_eq!(
        refusal(&spec, &method("GetSum")),
        "--expect-replies 2 is impossible: a call of `benchmark.BenchmarkService.GetSum` has one reply"
    );
}

#[test]
fn a_value_that_does_not_fit_is_named_by_its_place_and_its_type() {
    let of = |field: &str, rest: &str| {
        format!("the data does not fit `everything.All`: {field}: {rest}")
    };
    for [data, field, rest] in table(
        r#"
        {"inner":{"x":1}} => `inner` => unrecognized field name 'x' at line 1 column 13; its fields are `value`, `text`, `inner`
        {"inner":{"inner":{"valu":1}}} => `inner.inner` => unrecognized field name 'valu' at line 1 column 25; did you mean `value`?
        {"inners":[{},{"value":"x"}]} => `inners[1].value` (int32) => a whole number is needed at
        {"byId":{"7":{"text":7}}} => `byId["7"].text` (string) => text is needed at
        {"by_id":{"seven":{}}} => `by_id` (map<int64, everything.All.Inner>) => a whole number is needed at
        {"strings":"x"} => `strings` (repeated string) => invalid type: string "x", expected a list at
        {"counts":{"a":1e10}} => `counts["a"]` (int32) => the number does not fit the field: it is too large at
        {"uint64":-1} => `uint64` (uint64) => the number does not fit the field: it is below 0 at
        {"level":"HIHG"} => `level` (common.Level) => unrecognized enum value 'HIHG' at line 1 column 16; did you mean `HIGH`?
        {"levels":["LOW","?"]} => `levels[1]` (common.Level) => unrecognized enum value '?' at line 1 column 21; its values are `
        {"inner":5} => `inner` => invalid type: integer `5`, expected a map of the fields of `everything.All.Inner` at
        {"self":{"when":"0000-01-01T00:00:00Z"}} => `self.when` => a time of the years 1 to 9999 is needed
        {"self":{"number":1,"name":"x"}} => `self` => multiple fields provided for oneof 'choice': `number` and `name`
        [{},{"wrappedNumber":"x"}] => `[1].wrappedNumber` => a whole number is needed at
    "#,
    ) {
        let error = refusal(&json(data), &everything("Call"));
        assert!(error.starts_with(&of(field, rest)), "{error}");
    }
    let deep = format!(
        "{}{}{}",
        r#"{"self":"#.repeat(50),
        r#"{"int32":""}"#,
        "}".repeat(50)
    );
    let field = format!("`{}…`", ["self"; 20].join("."));
    let error = refusal(&json(&deep), &everything("Call"));
    assert!(error.starts_with(&of(&field, "a whole number")), "{error}");
}

#[test]
fn a_long_name_is_cut_in_the_error() {
    let data = format!(r#"{{"{}":1}}"#, "x".repeat(100_000));
    assert!(refusal(&json(&data), &method("GetSum")).len() < 500);
}

/// Text that is often nearly JSON of the right kind.
fn json_like() -> impl Strategy<Value = String> {
    let name =
        "(int32|uint64|bool|double|string|bytes|level|inner|self|packed|inners|counts|byId|when|x)";
    let value = prop_oneof![
        "-?[0-9]{1,20}(\\.[0-9]{1,3})?(e[0-9]{1,3})?",
        "\"[a-zA-Z0-9+/=:.-]{0,24}\"",
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
    ];
    let nested = value.prop_recursive(4, 24, 4, move |inner| {
        let member = (name, inner.clone()).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop_oneof![
            prop::collection::vec(member, 0..4)
                .prop_map(|members| format!("{{{}}}", members.join(","))),
            prop::collection::vec(inner, 0..4).prop_map(|values| format!("[{}]", values.join(","))),
        ]
    });
    prop_oneof![9 => nested, 1 => "\\PC{0,60}"]
}

#[test]
fn any_text_is_a_request_or_an_error_in_one_line() {
    let method = everything("Chat");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 3_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let tried = |text: String| {
        if let Err(error) = Source::new(&json(&text), &method) {
            prop_assert!(!error.to_string().contains('\n'), "{error}");
        }
        Ok(())
    };
    runner.run(&json_like(), tried).unwrap();
}
