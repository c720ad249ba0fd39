//! Configuration files of h2loadrunner become scenario files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use volley::scenario::file::{self, FAULTS, How, Imported, Mistakes};
use volley::serve::{Faults, Reference};

use crate::common::{Scratch, begins, command, has, outcome, reference, words};

/// The keys of the schema, with the lists that hold them.
const KEYS: &str = include_str!("../../crates/scenario/src/file/import/keys.txt");

/// Files that use all keys between them.
const FILES: [&str; 6] = [
    "crud",
    "connections",
    "mix",
    "old-user",
    "picks",
    "parallel",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenario/h2loadrunner")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn import(text: &str, as_run: bool) -> Result<Imported, Mistakes> {
    let folder = folder();
    let how = How {
        as_run,
        from: &folder,
        to: &folder,
    };
    file::import(text, Path::new("old.json"), how)
}

/// Compares with a file of expected text.
fn check(name: &str, found: &str) {
    let found = found.replace(&format!("{}/", folder().display()), "");
    let path = folder().join(name);
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if found != expected {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, &found).unwrap();
        panic!("{name} differs from {}", path.display());
    }
}

#[test]
fn what_is_compared_as_text_equals_numbers_and_words_too() {
    let imported = |input: &str| {
        let text = text("mix.json").replace(
            r#""EqualsTo", "input": "a""#,
            &format!(r#""EqualsTo", "input": "{input}""#),
        );
        import(&text, false).unwrap().yaml()
    };
    assert!(imported("1").contains("^(?:1)$"), "{}", imported("1"));
    assert!(imported("true").contains("^(?:true)$"));
    assert!(imported("b1").contains("/item/sku: b1"));
}

#[test]
fn each_file_becomes_what_is_expected_of_it() {
    for name in FILES {
        for (as_run, kind) in [(false, ""), (true, ".as-run")] {
            match import(&text(&format!("{name}.json")), as_run) {
                Ok(imported) => {
                    check(&format!("{name}{kind}.yaml"), &imported.yaml());
                    let warnings = imported.warnings().count();
                    let comments = imported.yaml();
                    let comments = comments
                        .lines()
                        .filter(|line| line.trim_start().starts_with("# "));
                    assert_eq!(comments.count(), warnings + 1, "{name}");
                }
                Err(mistakes) => check(&format!("{name}{kind}.txt"), &format!("{mistakes}\n")),
            }
        }
    }
}

#[test]
fn a_key_that_is_unknown_is_named_first_and_with_the_mistake_that_it_causes() {
    let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
    file["Scenarios"][0]["variabels"] = json!([]);
    let imported = import(&file.to_string(), false).unwrap();
    let warnings: Vec<String> = imported.warnings().collect();
    let unknown = "Scenarios[0].variabels: unknown-key: ";
    assert!(warnings[0].contains(unknown), "{warnings:?}");
    let last = warnings.last().unwrap();
    assert!(last.contains(": header-blank: "), "{warnings:?}");
    file["weight"] = json!(1);
    file["total-request"] = json!(1);
    let imported = import(&file.to_string(), false).unwrap();
    let warnings: Vec<String> = imported.warnings().collect();
    for words in [
        "weight: unknown-key: it has its place in `Scenarios[n]`; ",
        "total-request: unknown-key: h2loadrunner has no such key, and volley takes no notice of it, either; did you mean `total-requests`?",
    ] {
        assert!(
            warnings.iter().any(|line| line.contains(words)),
            "{warnings:?}"
        );
    }
    let scenario = file["Scenarios"][0].as_object_mut().unwrap();
    let requests = scenario.remove("Requests").unwrap();
    scenario.insert("requests".to_owned(), requests);
    let mistakes = import(&file.to_string(), false).unwrap_err().to_string();
    for part in [
        "Scenarios[0].Requests: there is no request: add one",
        "Scenarios[0].requests: h2loadrunner has no such key",
    ] {
        assert!(mistakes.contains(part), "{mistakes}");
    }
}

#[test]
fn yaml_and_json_are_the_same_scenario() {
    for name in FILES {
        let imported = import(&text(&format!("{name}.json")), false).unwrap();
        let compiled = |text: &str| {
            let plan = file::compile(text, &folder().join("new"), &|_| None);
            let plan = format!(
                "{:#?}",
                plan.unwrap_or_else(|mistakes| panic!("{mistakes}"))
            );
            // Steps stand in other lines.
            let lines = plan
                .lines()
                .filter(|line| !line.trim().starts_with("line: "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let json = imported.json().to_string();
        assert_eq!(compiled(&imported.yaml()), compiled(&json), "{name}");
    }
}

/// Notes each key of a value, with the lists that hold it.
fn walk(value: &Value, place: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let place = format!("{place}{key}");
                keys.insert(place.clone());
                walk(value, &format!("{place}."), keys);
            }
        }
        Value::Array(items) => {
            let place = format!("{}[].", place.trim_end_matches('.'));
            for item in items {
                walk(item, &place, keys);
            }
        }
        _ => {}
    }
}

#[test]
fn the_files_use_every_key_of_the_schema_and_none_is_unknown() {
    let mut used = BTreeSet::new();
    let all = FILES.iter().chain(&["untranslatable"]);
    for name in all {
        let file: Value = serde_json::from_str(&text(&format!("{name}.json"))).unwrap();
        walk(&file, "", &mut used);
    }
    let known: BTreeSet<String> = KEYS.lines().map(str::to_owned).collect();
    let unused: Vec<_> = known.difference(&used).collect();
    assert!(unused.is_empty(), "{unused:?}");
    let unknown: Vec<_> = used.difference(&known).collect();
    assert_eq!(unknown, ["Scenarios[].extra", "bogus"]);
    let imported = import(&text("old-user.json"), false).unwrap();
    let unknown = imported
        .warnings()
        .filter(|line| line.contains(": unknown-key: "));
    let unknown: Vec<String> = unknown
        .map(|line| line.split(": unknown").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        unknown,
        ["old.json:24: Scenarios[1].extra", "old.json:8: bogus"]
    );
}

#[test]
fn what_cannot_be_translated_is_reported_at_once_with_its_place() {
    let mistakes = import(&text("untranslatable.json"), false).unwrap_err();
    check("untranslatable.txt", &format!("{mistakes}\n"));
}

/// A mistake that only the new file shows has its cause in the old one.
#[test]
fn mistakes_of_the_new_file_lead_to_the_old_one() {
    let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
    file["clients"] = json!(70_000);
    file["Scenarios"][0]["user-id-range-slicing"] = json!(false);
    file["Scenarios"][0]["Requests"][0]["value-pickers"][0]["regexp"] = json!("(");
    file["Scenarios"][0]["Requests"][1]["method"] = json!("a b");
    file["Scenarios"][0]["Requests"][2]["luaScript"] = json!("function make_request(");
    let mistakes = import(&file.to_string(), false).unwrap_err();
    let places: Vec<&str> = mistakes.all.iter().map(|it| it.path.as_str()).collect();
    let request = "Scenarios[0].Requests";
    assert_eq!(
        places,
        [
            "clients",
            &format!("{request}[0].value-pickers[0]"),
            &format!("{request}[1]"),
            &format!("{request}[2].luaScript")
        ]
    );
}

#[test]
fn a_mistake_in_one_value_names_its_key() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 5] = [
        ("builtin-server-listening-port", |file| {
            file["builtin-server-listening-port"] = json!(70_000);
        }),
        ("stream-timeout", |file| file["stream-timeout"] = json!(0)),
        ("request-per-second", |file| {
            (file["request-per-second"], file["clients"]) = (json!(1e9), json!(60));
        }),
        ("clients", |file| file["clients"] = json!(u64::MAX)),
        (
            "Scenarios[0].Requests[0].response-match.headers[0]",
            |file| {
                let rule = json!({"matchType": "EqualsTo", "header-name": "a b", "input": "c"});
                file["Scenarios"][0]["Requests"][0]["response-match"] = json!({"headers": [rule]});
            },
        ),
    ];
    for (place, change) in changes {
        let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
        change(&mut file);
        let mistakes = import(&file.to_string(), false).unwrap_err();
        assert!(mistakes.all.iter().any(|it| it.path == place), "{mistakes}");
    }
}

#[test]
fn a_request_to_the_last_uri_has_its_own_payload() {
    let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
    let requests = &mut file["Scenarios"][0]["Requests"];
    requests[0]["payload"] = json!("{\"a\": 1}");
    requests[1]["uri"] = json!({"typeOfAction": "sameWithLastOne"});
    requests[1].as_object_mut().unwrap().remove("payload");
    requests[1]["value-pickers"] = json!([{
        "where-to-pickup-from": "Json-Pointer-In-Request-Payload",
        "source": "/a", "regexp": ".*", "save-to-variable": "a"
    }]);
    let mistakes = import(&file.to_string(), false).unwrap_err();
    has(&mistakes.to_string(), "the payload is no JSON");
}

#[test]
fn a_long_csv_file_of_whole_rows_is_not_warned_about() {
    let scratch = Scratch::new();
    let rows: String = (0..100_000)
        .map(|row| format!("{row},user{row}\n"))
        .collect();
    scratch.write("users.csv", &format!("name,id\n{rows}"));
    let folder = scratch.path("");
    let how = How {
        as_run: false,
        from: &folder,
        to: &folder,
    };
    let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
    file["Scenarios"][0]["user-variables-input-file"] = json!("users.csv");
    let imported = file::import(&file.to_string(), Path::new("old.json"), how).unwrap();
    assert!(!imported.warnings().any(|line| line.contains(": csv: ")));
}

#[test]
fn every_fault_is_found_in_a_file_that_it_touches() {
    let file = |change: fn(&mut Value)| {
        let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
        change(&mut file);
        file.to_string()
    };
    let mut files: Vec<String> = FILES
        .iter()
        .map(|name| text(&format!("{name}.json")))
        .collect();
    files.push(file(|file| {
        file.as_object_mut().unwrap().remove("total-requests");
    }));
    files.push(file(|file| {
        file["Scenarios"][0]["Requests"][0]["payload"] = json!("a".repeat(16_385));
    }));
    files.push(file(|file| {
        file["Scenarios"][0]["Requests"][0]["additonalHeaders"] = json!(["x-rev:${rev}"]);
    }));
    let imported = files
        .iter()
        .flat_map(|file| [import(file, false), import(file, true)]);
    let found: Vec<String> = imported
        .flatten()
        .flat_map(|imported| imported.warnings().collect::<Vec<_>>())
        .collect();
    for fault in FAULTS.iter() {
        let name = format!(": {}: ", fault.name);
        assert!(found.iter().any(|line| line.contains(&name)), "{name}");
    }
}

#[test]
fn every_fault_is_in_the_documentation() {
    let document = include_str!("../../H2LOADRUNNER.md");
    for fault in FAULTS.iter() {
        let volley = match fault.by_schema == fault.as_run {
            true => fault.by_schema.to_owned(),
            false => format!("{}; `--as-run`: {}", fault.by_schema, fault.as_run),
        };
        let row = format!(
            "| `{}` | {} | {} | {volley} |\n",
            fault.name, fault.says, fault.does
        );
        assert!(document.contains(&row), "{row}");
    }
}

/// A program that was run in a folder: the exit status, stdout and stderr.
fn volley(folder: &Path, args: &[&str]) -> (i32, String, String) {
    outcome(command(args).current_dir(folder))
}

/// The file of items for a server.
fn crud(server: &Reference, change: impl FnOnce(&mut Value)) -> Scratch {
    let mut file: Value = serde_json::from_str(&text("crud.json")).unwrap();
    file["port"] = json!(server.address().port());
    change(&mut file);
    let scratch = Scratch::new();
    scratch.write("old.json", &file.to_string());
    scratch
}

#[test]
fn an_old_file_runs_as_it_is_and_as_what_it_becomes() {
    let changes: [fn(&mut Value); 3] = [
        |_| {},
        |file| file["no-tls-proto"] = json!("http/1.1"),
        |file| {
            let requests = &mut file["Scenarios"][0]["Requests"];
            requests[1]["uri"] = json!({"typeOfAction": "fromLuaScript"});
            requests[1]["luaScript"] = json!(
                "function make_request(rh, rb, h, b)\n  h[':path'] = rh.location\n  return h, b\nend"
            );
        },
    ];
    for change in changes {
        let server = reference(Faults::default());
        let scratch = crud(&server, change);
        let folder = scratch.path("");
        let run = volley(&folder, &["run", "old.json", "-O", "json"]);
        assert_eq!(run.0, 0, "{run:?}");
        assert!(run.2.starts_with("warning: old.json:1: "), "{}", run.2);
        let counts = server.counts();
        let done = (
            counts.created,
            counts.patched,
            counts.deleted,
            counts.live(),
        );
        assert_eq!(done, (100, 100, 100, 0));
        for (more, new) in [(&[][..], "new.yaml"), (&["--as-run"], "new.json")] {
            let args = ["import", "h2loadrunner", "old.json", "-o", new];
            let (status, out, warnings) = volley(&folder, &[&args[..], more].concat());
            assert_eq!((status, out.as_str()), (0, ""), "{warnings}");
            let run = volley(&folder, &["run", new]);
            assert_eq!((run.0, run.2.as_str()), (0, ""), "{}", run.1);
        }
        let counts = server.counts();
        let done = (
            counts.created,
            counts.patched,
            counts.deleted,
            counts.live(),
        );
        assert_eq!(done, (300, 300, 300, 0));
    }
}

#[test]
fn an_old_file_is_checked_with_its_warnings() {
    let (status, out, warnings) = volley(&folder(), &["check", "crud.json"]);
    assert_eq!(status, 0);
    begins(
        &out,
        "targets\n  api: 127.0.0.1:8080, HTTP/2, 2 connections\n",
    );
    let names = [
        "chain",
        "lost-uri",
        "pick-nothing",
        "header-blank",
        "use-flag",
    ];
    for name in names {
        assert!(
            warnings.contains(&format!(": {name}: ")),
            "{name}: {warnings}"
        );
    }
    let (status, out, mistakes) = volley(&folder(), &["run", "untranslatable.json"]);
    assert_eq!((status, out.as_str()), (2, ""));
    begins(&mistakes, "untranslatable.json:2: schema: ");
    let (status, _, mistakes) = volley(&folder(), &["import", "h2loadrunner", "users.csv"]);
    assert_eq!(status, 2);
    assert!(mistakes.starts_with("users.csv:"), "{mistakes}");
}

#[test]
fn files_that_are_named_are_found_from_the_new_file() {
    let scratch = Scratch::new();
    scratch.write("users.csv", "name\nann\n");
    fs::create_dir_all(scratch.path("below")).unwrap();
    let file = json!({
        "schema": "http", "host": "localhost", "duration": 1,
        "Scenarios": [{"name": "s", "user-variables-input-file": "users.csv", "Requests": [
            {"uri": {"typeOfAction": "input", "input": "/${name}"}, "method": "GET"}
        ]}]
    });
    scratch.write("old.json", &file.to_string());
    let whole = scratch.path("users.csv").display().to_string();
    for (new, expected) in [
        ("new.json", "users.csv"),
        ("./new.json", "users.csv"),
        ("below/new.json", &whole),
    ] {
        let args = ["import", "h2loadrunner", "old.json", "-o", new];
        assert_eq!(volley(&scratch.path(""), &args).0, 0);
        let text = fs::read_to_string(scratch.path(new)).unwrap();
        let made: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(made["data"]["users"]["csv"], *expected);
        assert_eq!(volley(&scratch.path(""), &["check", new]).0, 0);
    }
}

/// Values that a key may have: such that fit, and such that do not.
fn value() -> impl Strategy<Value = Value> {
    let texts = "|/|/${a}|${a}|${|$${a}|http://h|https://h:1/${a}|http://${a}/|input|sameWithLastOne|\
        fromResponseHeader|fromJsonPointer|fromXPath|a:b|:a:b|x-${a}: 1|EqualsTo|RegexMatch|(|Request-Header|Response-Header|\
        Json-Pointer-In-Request-Payload|Json-Pointer-In-Response-Payload|:path|:status|users.csv|ids.csv|item.json|.|GET|POST|http|\
        https|http/1.1|a|{\"a\": \"${a}\"}|[::1]|\u{0}|é\n";
    let leaf = prop_oneof![
        4 => prop::sample::select(words(texts)).prop_map(Value::from),
        2 => prop::sample::select(vec![0_u64, 1, 2, 100, 204, 65_536, u64::MAX]).prop_map(Value::from),
        1 => prop_oneof![Just(json!(-1)), Just(json!(0.5)), Just(json!(1e300)), Just(json!(null))],
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
    ];
    let mut keys: Vec<String> = KEYS
        .lines()
        .filter_map(|line| line.rsplit('.').next())
        .map(str::to_owned)
        .collect();
    keys.push("odd".to_owned());
    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(keys.clone()), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Every place of a value.
fn places(value: &Value, place: &str, all: &mut Vec<String>) {
    all.push(place.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{place}/{key}"), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{place}/{index}"), all);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn any_json_is_imported_or_refused_with_reasons(
        name in prop::sample::select(FILES.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), value()), 1..6),
        as_run in any::<bool>(),
    ) {
        let mut file: Value = serde_json::from_str(&text(&format!("{name}.json"))).unwrap();
        for (place, value) in changes {
            let mut all = Vec::new();
            places(&file, "", &mut all);
            *file.pointer_mut(place.get::<String>(&all)).unwrap() = value;
        }
        match import(&file.to_string(), as_run) {
            Ok(imported) => {
                for line in imported.warnings() {
                    prop_assert!(line.starts_with("old.json:"), "{line}");
                }
                let again = file::compile(&imported.yaml(), &folder().join("new"), &|_| None);
                prop_assert!(again.is_ok(), "{}", again.unwrap_err());
            }
            Err(mistakes) => prop_assert!(!mistakes.all.is_empty()),
        }
    }
}
