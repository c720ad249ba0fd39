//! Every mistake is one line: the file, the line, the key, what is wrong, and the remedy.

use std::path::Path;

use proptest::prelude::*;
use volley::scenario::file;

use crate::common::has;
use crate::{compile, examples, with_steps};

/// Cases of a file: `#### file`, `steps` or `calls`, a text, `#### says`, and what is said of it without the file's name.
fn check(cases: &str) {
    let blocks: Vec<&str> = cases.split("#### ").skip(1).collect();
    for pair in blocks.chunks(2) {
        let (kind, text) = pair[0].split_once('\n').unwrap();
        let expected = pair[1].strip_prefix("says\n").unwrap();
        let text = match kind {
            "file" => text.to_owned(),
            "steps" => with_steps(text.trim_end()),
            "calls" => {
                let text = text.trim_end();
                format!(
                    "targets: {{rpc: http://a}}\nprotos: shop.proto\nscenarios: {{s: {{steps: [\n{text}\n]}}}}\n"
                )
            }
            kind => panic!("{kind}"),
        };
        let lines = compile(&text).map(|_| ()).unwrap_err();
        let lines = lines
            .lines()
            .map(|line| line.strip_prefix("test.yaml:").unwrap());
        let said: String = lines.map(|line| format!("{line}\n")).collect();
        assert_eq!(said, expected, "{text}");
    }
}

#[test]
fn a_file_that_is_no_scenario_file_is_refused() {
    check(include_str!(
        "mistakes/a-file-that-is-no-scenario-file-is-refused.txt"
    ));
}

#[test]
fn keys_and_types_that_do_not_fit_are_named_all_at_once() {
    check(include_str!(
        "mistakes/keys-and-types-that-do-not-fit-are-named-all-at-once.txt"
    ));
}

#[test]
fn targets_are_checked() {
    check(include_str!("mistakes/targets-are-checked.txt"));
}

#[test]
fn urls_are_checked() {
    check(include_str!("mistakes/urls-are-checked.txt"));
}

#[test]
fn names_are_used_after_something_has_filled_them() {
    check(include_str!(
        "mistakes/names-are-used-after-something-has-filled-them.txt"
    ));
}

#[test]
fn steps_are_one_thing_each() {
    check(include_str!("mistakes/steps-are-one-thing-each.txt"));
}

#[test]
fn headers_and_bodies_are_checked() {
    check(include_str!("mistakes/headers-and-bodies-are-checked.txt"));
}

#[test]
fn expectations_and_saves_are_checked() {
    check(include_str!(
        "mistakes/expectations-and-saves-are-checked.txt"
    ));
}

#[test]
fn scripts_are_checked() {
    check(include_str!("mistakes/scripts-are-checked.txt"));
}

#[test]
fn calls_fit_their_schema() {
    check(include_str!("mistakes/calls-fit-their-schema.txt"));
}

#[test]
fn data_is_checked() {
    check(include_str!("mistakes/data-is-checked.txt"));
}

#[test]
fn loads_are_checked() {
    check(include_str!("mistakes/loads-are-checked.txt"));
}

#[test]
fn thresholds_are_checked() {
    check(include_str!("mistakes/thresholds-are-checked.txt"));
}

#[test]
fn a_mistake_is_one_line_whatever_it_quotes() {
    for text in ["targets: {\"a\\nb\": http://a}", "\"a\\u202eb\\n\": 1"] {
        let lines = compile(text).unwrap_err();
        assert!(
            lines.lines().all(|line| line.starts_with("test.yaml:1: ")),
            "{lines}"
        );
        assert!(!lines.contains('\u{202e}'), "{lines}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let path = examples().join("none.yaml");
    let line = file::read(&path).unwrap_err().to_string();
    let expected = format!("{}:1: cannot read the file: No such file", path.display());
    assert!(line.starts_with(&expected), "{line}");
    has(
        &file::read(Path::new("/dev/zero")).unwrap_err().to_string(),
        "it is a device, and neither a file nor a pipe",
    );
}

#[test]
fn broken_json_is_named_so_with_its_line() {
    let says = |text: &str| {
        let mistakes = file::compile(text, Path::new("a.json"), &|_| None).unwrap_err();
        mistakes.to_string()
    };
    assert_eq!(
        says("{\"targets\": {},\n \"scenarios\": {},,}"),
        "a.json:2: the JSON is broken at column 18: key must be a string"
    );
    assert_eq!(
        says("{\"targets\": {\n"),
        "a.json:1: the JSON is cut short: a value or a bracket is missing at its end"
    );
    // What is fine as YAML is read.
    assert!(!says("targets: {}").contains("JSON"));
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "\\PC{0,60}|[a-z0-9:,{}\\[\\]&*<!|>'\" \n-]{0,60}") {
        if let Err(lines) = compile(&text) {
            prop_assert!(!lines.is_empty());
        }
    }

    #[test]
    fn any_change_of_a_good_file_is_answered(
        place in any::<prop::sample::Index>(),
        length in 0..20_usize,
        put in "[a-z0-9:,{}\\[\\]$/. \n-]{0,6}",
    ) {
        let mut text: Vec<char> = include_str!("../../examples/shop.yaml").chars().collect();
        let start = place.index(text.len());
        let end = text.len().min(start + length);
        text.splice(start..end, put.chars());
        let text: String = text.into_iter().collect();
        if let Err(lines) = compile(&text) {
            prop_assert!(lines.lines().all(|line| line.starts_with("test.yaml:")), "{lines}");
        }
    }
}

/// Each value is checked by itself, and the other fields that it needs stand beside it.
#[test]
fn a_required_field_may_stand_beside_others() {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/protos/proto2.proto");
    let said = |message: &str| {
        let step = format!("{{grpc: '${{rpc}}/old.Old/Call', message: {message}}}");
        let text = format!(
            "targets: {{rpc: http://a}}\ndata: {{u: {{rows: [{{n: a}}]}}}}\nprotos: {proto}\nscenarios: {{s: {{steps: [{step}]}}}}\n"
        );
        compile(&text).err().unwrap_or_default()
    };
    for good in [
        "{name: k}",
        "{name: k, number: 1}",
        "{number: 1, name: '${u.n}'}",
        "{name: '${u.n}', number: 1, part: {size: 2, label: '${u.n}'}}",
    ] {
        assert_eq!(said(good), "", "{good}");
    }
    for (bad, word) in [
        ("{number: 1}", "the required field `name` is missing"),
        ("{number: x, name: '${u.n}'}", "message.number: "),
    ] {
        assert!(said(bad).contains(word), "{bad}: {}", said(bad));
    }
}
