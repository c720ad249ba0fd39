//! The JSON Schema of a file.

use serde_json::Value;
use volley::docs::SCENARIO_SCHEMA;

#[test]
fn the_schema_names_every_key_and_allows_no_other() {
    let schema: Value = serde_json::from_str(SCENARIO_SCHEMA).unwrap();
    let keys = schema["properties"].as_object().unwrap();
    for key in [
        "targets",
        "data",
        "setup",
        "scenarios",
        "teardown",
        "load",
        "limits",
        "thresholds",
        "control",
    ] {
        assert!(keys.contains_key(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], Value::Bool(false));
    let step = &schema["$defs"]["Step"];
    assert_eq!(step["additionalProperties"], Value::Bool(false));
    assert!(step["properties"]["post"]["description"].is_string());
}

#[test]
fn every_reference_of_the_schema_leads_somewhere() {
    fn walk<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str));
                map.values().for_each(|value| walk(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let schema: Value = serde_json::from_str(SCENARIO_SCHEMA).unwrap();
    let mut found = Vec::new();
    walk(&schema, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(schema.pointer(pointer).is_some(), "{reference}");
    }
}
