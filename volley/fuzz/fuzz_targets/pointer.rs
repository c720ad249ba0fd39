//! Any bytes as a JSON document: it is refused exactly if serde_json refuses it, and its values are those that serde_json
//! finds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;
use volley_scenario::json::{Found, Tree, text};
use volley_scenario::plan::Pointer;

/// Whether an object has a name twice. volley takes the first value, serde_json the last.
fn has_doubles(document: &[u8]) -> bool {
    struct Names;
    impl<'de> serde::de::Visitor<'de> for Names {
        type Value = bool;
        fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
            out.write_str("anything")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
            let (mut known, mut doubles) = (std::collections::HashSet::new(), false);
            while let Some((name, value)) = map.next_entry::<String, Doubles>()? {
                doubles |= value.0 || !known.insert(name);
            }
            Ok(doubles)
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut all: A) -> Result<bool, A::Error> {
            let mut doubles = false;
            while let Some(value) = all.next_element::<Doubles>()? {
                doubles |= value.0;
            }
            Ok(doubles)
        }
        fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
            Ok(false)
        }
        fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
            Ok(false)
        }
        fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
            Ok(false)
        }
        fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
            Ok(false)
        }
        fn visit_str<E>(self, _: &str) -> Result<bool, E> {
            Ok(false)
        }
        fn visit_unit<E>(self) -> Result<bool, E> {
            Ok(false)
        }
    }
    struct Doubles(bool);
    impl<'de> serde::Deserialize<'de> for Doubles {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            from.deserialize_any(Names).map(Doubles)
        }
    }
    serde_json::from_slice::<Doubles>(document).is_ok_and(|doubles| doubles.0)
}

/// The pointers of all values, up to some number.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    if all.len() >= 50 {
        return;
    }
    all.push(at.to_owned());
    match value {
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                pointers(value, &format!("{at}/{index}"), all);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{at}/{name}"), all);
            }
        }
        _ => {}
    }
}

fn compiled(pointer: &str) -> Pointer {
    let unescape = |key: &str| key.replace("~1", "/").replace("~0", "~").into();
    Pointer {
        text: pointer.into(),
        keys: pointer.split('/').skip(1).map(unescape).collect(),
    }
}

fuzz_target!(|document: &[u8]| {
    let mut asked = vec!["/a/0".to_owned(), "/0".to_owned()];
    let value = serde_json::from_slice::<Value>(document);
    if let Ok(value) = &value {
        pointers(value, "", &mut asked);
    }
    let tree = Tree::new(
        &asked
            .iter()
            .map(|pointer| compiled(pointer))
            .collect::<Vec<_>>(),
    );
    let mut found = Found::default();
    let is_found = tree.find(document, &mut found).is_ok();
    let is_json = serde_json::from_slice::<IgnoredAny>(document).is_ok()
        && std::str::from_utf8(document).is_ok();
    assert_eq!(is_found, is_json);
    let (Ok(value), true) = (value, is_found) else {
        return;
    };
    if has_doubles(document) {
        return;
    }
    for (index, pointer) in asked.iter().enumerate() {
        let raw = found.get(&tree, index, document);
        let mut room = Vec::new();
        match value.pointer(pointer) {
            None => assert_eq!(raw, None),
            Some(Value::String(expected)) => {
                assert_eq!(
                    text(raw.expect("it is there"), &mut room),
                    Some(expected.as_bytes())
                );
            }
            Some(expected) => {
                let parsed: Value =
                    serde_json::from_slice(raw.expect("it is there")).expect("it is JSON");
                assert_eq!(&parsed, expected);
            }
        }
    }
});
