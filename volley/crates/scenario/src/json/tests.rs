use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn pointer(text: &str) -> Pointer {
    let unescape = |key: &str| key.replace("~1", "/").replace("~0", "~").into();
    Pointer {
        text: text.into(),
        keys: text.split('/').skip(1).map(unescape).collect(),
    }
}

/// What the pointers lead to, as text.
fn find(document: &str, pointers: &[&str]) -> Result<Vec<Option<String>>, Malformed> {
    let pointers: Vec<Pointer> = pointers.iter().map(|text| pointer(text)).collect();
    let tree = Tree::new(&pointers);
    let mut found = Found::default();
    tree.find(document.as_bytes(), &mut found)?;
    let show = |at| {
        let value = found.get(&tree, at, document.as_bytes())?;
        let mut room = Vec::new();
        Some(String::from_utf8(text(value, &mut room)?.to_vec()).unwrap())
    };
    Ok((0..pointers.len()).map(show).collect())
}

fn one(document: &str, pointer: &str) -> Option<String> {
    find(document, &[pointer]).unwrap().remove(0)
}

#[test]
fn several_pointers_are_found_in_one_pass() {
    let document = r#" {"a": [10, {"b": "x\ty"}, []], "0": {"": null}, "c/d~": 1.50e3} "#;
    let found = find(
        document,
        &[
            "/a/1/b", "/a/0", "/0/", "/c~1d~0", "/a/2", "/a/3", "/a/00", "/x", "", "/a/1/b",
        ],
    );
    let found = found.unwrap();
    let text: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
    let expected = [
        Some("x\ty"),
        Some("10"),
        Some("null"),
        Some("1.50e3"),
        Some("[]"),
        None,
        None,
        None,
        Some(document.trim()),
        Some("x\ty"),
    ];
    assert_eq!(text, expected);
}

#[test]
fn the_first_of_two_equal_names_counts() {
    assert_eq!(one(r#"{"a": 1, "\u0061": 2}"#, "/a").as_deref(), Some("1"));
    assert_eq!(one(r#"{"a": {}, "a": {"b": 2}}"#, "/a/b"), None);
}

#[test]
fn escapes_become_what_they_stand_for_and_half_a_pair_is_no_text() {
    let all = r#"{"k\n": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000"}"#;
    assert_eq!(
        one(all, "/k\n").as_deref(),
        Some("\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}\0")
    );
    for half in [
        r#"{"a":"\ud83d"}"#,
        r#"{"a":"\ude00"}"#,
        r#"{"a":"\ud83d\u0041"}"#,
    ] {
        assert_eq!(one(half, "/a"), None, "{half}");
    }
}

#[test]
fn a_fault_anywhere_is_found_and_has_its_place() {
    for (document, at, what) in [
        ("", 0, "there is nothing"),
        (" \n", 2, "there is nothing"),
        (r#"{xyz "a":1}"#, 1, "a name in quotes is missing"),
        (r#"{"a":1 oops"#, 7, "a comma or a brace is missing"),
        (r#"{"a":1"#, 6, "it is cut short"),
        (r#"{"a":1,}"#, 7, "a name in quotes is missing"),
        (r#"{"a" 1}"#, 5, "a colon is missing"),
        ("[1,]", 3, "a value is missing"),
        ("[1 2]", 3, "a comma or a bracket is missing"),
        ("[tru]", 1, "a value is missing"),
        ("tru", 3, "it is cut short"),
        ("01", 1, "something follows the value"),
        ("1.", 2, "it is cut short"),
        ("-a", 1, "a digit is missing"),
        ("\"a\nb\"", 2, "a string has a control character"),
        (r#""\x""#, 1, "there is no such escape"),
        (r#""\u12g4""#, 1, "there is no such escape"),
        ("\"abcdefghijkl", 13, "it is cut short"),
        ("{} {}", 3, "something follows the value"),
    ] {
        let fault = find(document, &["/a"]).unwrap_err();
        assert_eq!((fault.at, fault.what), (at, what), "{document}");
    }
    let mut found = Found::default();
    let fault = Tree::new([]).find(b"\"\xff\"", &mut found).unwrap_err();
    assert_eq!(fault.to_string(), "invalid JSON at byte 1: it is not UTF-8");
}

#[test]
fn a_million_brackets_are_an_error_and_no_overflow() {
    let fault = find(&"[".repeat(1_000_000), &["/0/0"]).unwrap_err();
    assert_eq!(
        (fault.at, fault.what),
        (127, "it is nested more than 127 levels deep")
    );
    let deepest = format!("{}{}", "[".repeat(127), "]".repeat(127));
    assert_eq!(one(&deepest, "/0").as_deref(), deepest.get(1..253));
}

#[test]
fn nothing_is_found_in_a_document_with_a_fault() {
    let tree = Tree::new(&[pointer("/a")]);
    let mut found = Found::default();
    assert!(tree.find(b"{\"a\":1,", &mut found).is_err());
    assert_eq!(found.get(&tree, 0, b"{\"a\":1,"), None);
}

/// Documents of a few names, so that pointers meet them.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let name = prop_oneof!["[ab01]{0,2}", "[/~\"\\\\\u{e9}\n]{1,2}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5).prop_map(Value::from_iter),
        ]
    })
}

fn pointers() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof!["[ab01]{0,2}", "(~0|~1|\"|\\\\|\u{e9}|\n){1,2}"],
        0..4,
    )
    .prop_map(|keys| keys.iter().map(|key| format!("/{key}")).collect())
}

proptest! {
    #[test]
    fn a_pointer_finds_what_serde_json_finds(
        document in documents(),
        is_pretty in any::<bool>(),
        pointers in prop::collection::vec(pointers(), 1..6),
    ) {
        let written = match is_pretty {
            true => serde_json::to_string_pretty(&document).unwrap(),
            false => document.to_string(),
        };
        let asked: Vec<&str> = pointers.iter().map(String::as_str).collect();
        let found = find(&written, &asked).unwrap();
        for (pointer, found) in pointers.iter().zip(found) {
            match document.pointer(pointer) {
                Some(Value::String(text)) => prop_assert_eq!(found.as_ref(), Some(text)),
                Some(value) => {
                    let found: Value = serde_json::from_str(&found.unwrap()).unwrap();
                    prop_assert_eq!(&found, value);
                }
                None => prop_assert_eq!(found, None),
            }
        }
    }

    #[test]
    fn a_changed_document_is_refused_exactly_if_serde_json_refuses_it(
        document in documents(),
        at in any::<prop::sample::Index>(),
        put in prop::sample::select(br#" "\{}[],:0-.eEu1tn"#.to_vec()),
        is_cut in any::<bool>(),
    ) {
        let mut written = document.to_string().into_bytes();
        let at = at.index(written.len());
        match is_cut {
            true => written.truncate(at),
            false => *written.get_mut(at).unwrap() = put,
        }
        let expected = serde_json::from_slice::<serde::de::IgnoredAny>(&written).is_ok()
            && std::str::from_utf8(&written).is_ok();
        let ours = Tree::new([]).find(&written, &mut Found::default());
        prop_assert_eq!(ours.is_ok(), expected, "{:?} {:?}", ours, String::from_utf8_lossy(&written));
    }
}
