//! The types that an `Any` names, of which the files of a service need not know.

use std::collections::BTreeSet;

use serde_json::Value;
use volley_load::spec::Data;
use volley_protobuf::Message;

/// The key in JSON.
const KEY: &str = "@type";

/// So many types are asked for.
const MOST: usize = 1000;

/// The types that data names, whatever becomes of its templates.
#[must_use]
pub fn types_of(data: &Data) -> BTreeSet<String> {
    let (Data::Json(text) | Data::JsonLines(text) | Data::Csv(text)) = data else {
        return BTreeSet::new();
    };
    let mut types = BTreeSet::new();
    for after in text.split(KEY).skip(1) {
        // In a cell, and in text, quotes have something before them.
        let is_between = |c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\\' | ':');
        let value = after.trim_start_matches(is_between);
        let end = value.find(['"', '\\']).unwrap_or_default();
        types.extend(value.get(..end).and_then(name));
        if types.len() == MOST {
            break;
        }
    }
    types
}

/// The types that the `Any`s in `shown` name, which are messages as JSON, and the schema of `message` lacks.
#[must_use]
pub fn unknown(shown: &Value, message: &Message) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    gather(shown, &mut types);
    types.retain(|name| !message.knows(name));
    types
}

fn gather(shown: &Value, types: &mut BTreeSet<String>) {
    match shown {
        Value::Object(fields) => {
            if let Some(Value::String(url)) = fields.get(KEY)
                && types.len() < MOST
            {
                types.extend(name(url));
            }
            fields.values().for_each(|value| gather(value, types));
        }
        Value::Array(all) => all.iter().for_each(|value| gather(value, types)),
        _ => {}
    }
}

/// The name of a type behind its address; `None` if it cannot be one.
fn name(url: &str) -> Option<String> {
    let name = url.rsplit('/').next()?;
    let is_part = |part: &str| {
        let mut bytes = part.bytes();
        bytes.next().is_some_and(|first| !first.is_ascii_digit())
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.split('.').all(is_part).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(types: &BTreeSet<String>) -> Vec<&str> {
        types.iter().map(String::as_str).collect()
    }

    #[test]
    fn types_are_found_in_data_of_each_kind() {
        let json = r#"[{"any": {"@type" : "type.googleapis.com/a.B", "x": {"@type":"c.D"}}}, {{if 1}}{"@type": "x/e.{{.N}}"},
            {"@type": "x/"}, {"@type": "x/1.a"}, {"@type": 5, "note": "no"}, {"@type": "a b"}, "@type": "z"#;
        let found = types_of(&Data::Json(json.to_owned()));
        assert_eq!(names(&found), ["a.B", "c.D"]);
        let csv = "n,any\n1,\"{\"\"@type\"\": \"\"t.com/a.B\"\", \"\"s\"\": 1}\"\n";
        assert_eq!(names(&types_of(&Data::Csv(csv.to_owned()))), ["a.B"]);
        let lines = "{\"@type\":\"x/a\"}\n{\"s\":\"{\\\"@type\\\": \\\"x/b\\\"}\"}\n";
        assert_eq!(
            names(&types_of(&Data::JsonLines(lines.to_owned()))),
            ["a", "b"]
        );
        assert!(types_of(&Data::Binary(b"@type\": \"a\"".to_vec())).is_empty());
    }

    #[test]
    fn not_every_type_of_large_data_is_asked_for() {
        let all: String = (0..2000)
            .map(|n| format!("{{\"@type\": \"x/a.M{n}\"}}"))
            .collect();
        assert_eq!(types_of(&Data::JsonLines(all)).len(), MOST);
    }
}
