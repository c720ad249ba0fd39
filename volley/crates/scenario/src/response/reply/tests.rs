use proptest::prelude::*;
use serde::de::DeserializeSeed as _;
use serde_json::json;

use super::*;
use volley_protobuf as protobuf;
use volley_protobuf::Seed;
use volley_request::schema;

/// The type that has a field of every kind.
fn all() -> Message {
    let pool = crate::testkit::everything();
    schema::find(&pool, "everything.Everything/Call")
        .unwrap()
        .output
}

fn keys(path: &str) -> Vec<Box<str>> {
    path.split('.').map(Into::into).collect()
}

fn encoded(message: &Message, json: &Value) -> Vec<u8> {
    protobuf::encode(&Seed(message).deserialize(json).unwrap())
}

/// What a path leads to, and whether it is read without decoding the reply.
fn value(message: &Message, path: &str, reply: &[u8]) -> (Option<String>, bool) {
    let path = Path::new(message, &keys(path)).unwrap();
    let mut room = Vec::new();
    let found = path.get(reply, &mut room).unwrap();
    let text = found.map(|text| String::from_utf8(text.to_vec()).unwrap());
    (text, matches!(path, Path::Wire { .. }))
}

#[test]
fn a_path_leads_to_the_text_of_a_value() {
    let message = all();
    let reply = encoded(
        &message,
        &json!({
            "int32": -7, "sint64": "-8", "fixed32": 4_000_000_000_u32, "bool": true, "double": 1.5, "float": 0.1,
            "string": "s\u{e9}", "bytes": "AAH/", "level": 1, "camelCase": 3, "maybe": 0,
            "inner": {"value": 1, "inner": {"text": "deep"}},
            "packed": [5, 6], "unpacked": [-1, -2], "strings": ["a", "b"], "inners": [{}, {"text": "second"}],
            "counts": {"k": 9}, "byId": {"4": {"text": "four"}}, "fixed": [1, 2], "levels": [0, 1],
            "when": "2024-01-02T03:04:05Z", "wrappedNumber": "12",
        }),
    );
    let level = message.field_by_name("level").unwrap();
    let Kind::Enum(levels) = level.kind() else {
        panic!("it is an enum")
    };
    let one = levels.name_of(1).unwrap().to_owned();
    for (path, expected, is_wire) in [
        ("int32", Some("-7"), true),
        ("sint64", Some("-8"), true),
        ("fixed32", Some("4000000000"), true),
        ("bool", Some("true"), true),
        ("double", Some("1.5"), true),
        ("float", Some("0.1"), true),
        ("string", Some("s\u{e9}"), true),
        ("bytes", Some("AAH/"), true),
        ("level", Some(&*one), true),
        ("camelCase", Some("3"), true),
        ("camel_case", Some("3"), true),
        ("inner.value", Some("1"), true),
        ("inner.inner.text", Some("deep"), true),
        // What has a default is there if its message is.
        ("uint64", Some("0"), true),
        ("inner.text", Some(""), true),
        ("self.string", None, true),
        ("maybe", Some("0"), true),
        ("number", None, true),
        ("packed.1", Some("6"), true),
        ("packed.2", None, true),
        ("unpacked.1", Some("-2"), true),
        ("strings.0", Some("a"), true),
        ("inners.1.text", Some("second"), true),
        ("inners.0.value", Some("0"), true),
        ("inners.2.value", None, true),
        ("fixed.1", Some("2"), true),
        ("levels.1", Some(&*one), true),
        ("when.seconds", Some("1704164645"), true),
        ("wrapped_number.value", Some("12"), true),
        // The rest is decoded.
        ("counts.k", Some("9"), false),
        ("counts.x", None, false),
        ("by_id.4.text", Some("four"), false),
        ("packed", Some("[5,6]"), false),
        ("when", Some("2024-01-02T03:04:05Z"), false),
        ("inner.inner", Some(r#"{"value":0,"text":"deep"}"#), false),
    ] {
        let (text, wire) = value(&message, path, &reply);
        assert_eq!((text.as_deref(), wire), (expected, is_wire), "{path}");
    }
}

#[test]
fn a_path_that_the_schema_does_not_have_is_an_error_that_names_what_there_is() {
    let message = all();
    for (path, expected) in [
        (
            "inner.txt",
            "takes `txt`, which is no field of `everything.All.Inner`; its fields are `value`, `text`, `inner`",
        ),
        ("int32.x", "takes `x` of `int32`, which is no message"),
        ("counts.k.x", "takes `x` of `counts`, which is no message"),
        (
            "strings.first",
            "takes `first` of a list: write a number, such as `strings.0`",
        ),
    ] {
        assert_eq!(
            Path::new(&message, &keys(path)).unwrap_err(),
            expected,
            "{path}"
        );
    }
}

#[test]
fn a_reply_that_is_cut_is_an_error_and_a_field_of_another_type_is_unknown() {
    let message = all();
    let path = Path::new(&message, &keys("inner.value")).unwrap();
    let mut room = Vec::new();
    let mut error = |reply: &[u8]| path.get(reply, &mut room).unwrap_err();
    // Field 17 with more bytes than there are.
    assert_eq!(
        error(&[0x8a, 0x01, 5, 8]),
        "invalid protobuf at byte 2: it is cut short"
    );
    // Field 17 as a varint, alone and beside itself.
    assert_eq!(
        value(&message, "inner.value", &[0x88, 0x01, 5]),
        (None, true)
    );
    let both = [0x88, 0x01, 5, 0x8a, 0x01, 2, 8, 3];
    let three = Some("3".to_owned());
    assert_eq!(value(&message, "inner.value", &both), (three, true));
}

/// Messages with some fields set.
fn messages() -> impl Strategy<Value = Value> {
    let inner = prop_oneof![
        Just(json!({})),
        (any::<i32>(), ".{0,3}").prop_map(|(value, text)| json!({"value": value, "text": text})),
        any::<i32>().prop_map(|value| json!({"inner": {"value": value}})),
    ];
    let field = prop_oneof![
        (
            prop::sample::select(vec!["int32", "sint32", "sfixed32", "maybe", "camelCase"]),
            any::<i32>()
        )
            .prop_map(|(name, value)| (name, json!(value))),
        (
            prop::sample::select(vec!["int64", "sint64", "sfixed64"]),
            any::<i64>()
        )
            .prop_map(|(name, value)| (name, json!(value))),
        (
            prop::sample::select(vec!["uint64", "fixed64"]),
            any::<u64>()
        )
            .prop_map(|(name, value)| (name, json!(value))),
        any::<bool>().prop_map(|value| ("bool", json!(value))),
        ".{0,5}".prop_map(|value| ("string", json!(value))),
        inner.clone().prop_map(|value| ("inner", value)),
        prop::collection::vec(inner, 0..3).prop_map(|all| ("inners", json!(all))),
        prop::collection::vec(any::<i32>(), 0..3).prop_map(|all| ("packed", json!(all))),
        prop::collection::vec(any::<i64>(), 0..3).prop_map(|all| ("unpacked", json!(all))),
        prop::collection::vec(".{0,3}", 0..3).prop_map(|all| ("strings", json!(all))),
    ];
    prop::collection::vec(field, 0..6).prop_map(|fields| {
        Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    })
}

proptest! {
    #[test]
    fn a_value_on_the_wire_is_the_one_of_the_decoded_reply(json in messages(), path in prop::sample::select(vec![
        "int32", "sint32", "sfixed32", "maybe", "camelCase", "int64", "sint64", "sfixed64", "uint64", "fixed64", "bool",
        "string", "inner.value", "inner.text", "inner.inner.value", "inners.0.value", "inners.1.text",
        "inners.0.inner.value", "packed.0", "packed.2", "unpacked.1", "strings.0", "strings.2",
    ])) {
        let message = all();
        let reply = encoded(&message, &json);
        let decoded = Path::Decoded {
            message: message.clone(),
            keys: path.split('.').map(str::to_owned).collect(),
        };
        let mut room = Vec::new();
        let expected = decoded.get(&reply, &mut room).unwrap();
        let expected = expected.map(|text| String::from_utf8(text.to_vec()).unwrap());
        prop_assert_eq!(value(&message, path, &reply), (expected, true));
    }
}
