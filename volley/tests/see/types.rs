//! Types that only the server knows, and schemas of editions, from files and by reflection.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use buffa::Message as _;
use serde_json::{Value, json};
use volley::protobuf::compile::compile;
use volley::protobuf::descriptor::{FileDescriptorProto, FileDescriptorSet};
use volley::protobuf::reflection::{Answer, Question};
use volley::protobuf::{Pool, encoded_file};

use crate::common::peer::{Does, peer};
use crate::common::{Scratch, begins, has};
use crate::{error, volley};

/// What these files declare.
fn compiled(files: &[(&str, &str)]) -> Vec<FileDescriptorProto> {
    let texts: BTreeMap<String, Vec<u8>> = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).as_bytes().to_vec()))
        .collect();
    let mut all: Vec<FileDescriptorProto> = Vec::new();
    for (name, _) in files {
        let texts = texts.clone();
        let found = compile(name, &mut move |name: &str| Ok(texts.get(name).cloned()));
        for file in found.unwrap_or_else(|error| panic!("{error}")) {
            if !all.iter().any(|one| one.name == file.name) {
                all.push(file);
            }
        }
    }
    all
}

/// What was asked for, and what the calls sent, in order.
#[derive(Clone, Default)]
struct Heard {
    symbols: Arc<Mutex<Vec<String>>>,
    messages: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// A server with reflection of these files, as far as it does not lack them. It answers each message with the same, or, if
/// it is empty, with this one. Of `Down`, three times.
fn echo(files: Vec<FileDescriptorProto>, lacks: &'static str, reply: &[u8]) -> (String, Heard) {
    let pool = Pool::new(files).unwrap();
    let reply = reply.to_vec();
    let heard = Heard::default();
    let also = heard.clone();
    let host = peer(move |path, _, message| {
        if !path.contains("ServerReflection") {
            also.messages.lock().unwrap().push(message.to_vec());
            let answer = match message {
                [] => reply.clone(),
                message => message.to_vec(),
            };
            return match path.ends_with("/Down") {
                true => Does::Replies(vec![answer; 3]),
                false => Does::Reply(answer),
            };
        }
        let found = match Question::decode(message).unwrap().unwrap() {
            Question::File(name) => pool.file(&name),
            Question::FileOf(symbol) => {
                also.symbols.lock().unwrap().push(symbol.clone());
                pool.file_of(&symbol)
            }
            Question::FileOfExtension(..) => pool.files().last(),
            Question::Extensions(_) => return Answer::Extensions(vec![100, 101]).into(),
            Question::Services(_) => None,
        };
        let found = found.filter(|file| file.name.as_deref() != Some(lacks));
        match found {
            Some(file) => Answer::Files(vec![encoded_file(file)]).into(),
            None => Answer::refused(5, "").into(),
        }
    });
    (host, heard)
}

/// The report of a call, which succeeds.
fn attempt(words: &[&str]) -> Value {
    let (status, out, errors) = volley(&[&["try", "--insecure", "-O", "json"], words].concat());
    assert_eq!((status, errors.as_str()), (0, ""), "{words:?} {out}");
    serde_json::from_str(&out).unwrap()
}

const ANY: (&str, &str) = (
    "a.proto",
    "syntax = \"proto3\"; package a; import \"google/protobuf/any.proto\";
     message M { google.protobuf.Any any = 1; }
     service S { rpc Call(M) returns (M); }",
);

const FAR: (&str, &str) = (
    "far/far.proto",
    "syntax = \"proto3\"; package far; import \"google/protobuf/any.proto\"; import \"far/more.proto\";
     message Far { int32 n = 1; google.protobuf.Any more = 2; More own = 3; }",
);

const MORE: (&str, &str) = (
    "far/more.proto",
    "syntax = \"proto3\"; package far; message More { string s = 1; }",
);

const DEEP: (&str, &str) = (
    "deep.proto",
    "syntax = \"proto3\"; package deep; message Deep { string s = 1; }",
);

fn any(name: &str, content: &[u8]) -> Vec<u8> {
    let url = format!("x/{name}");
    let mut bytes = vec![0x0a, url.len() as u8];
    bytes.extend(url.bytes());
    bytes.extend([0x12, content.len() as u8]);
    bytes.extend(content);
    bytes
}

fn framed(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, content.len() as u8], content].concat()
}

#[test]
fn the_server_is_asked_for_the_types_that_data_names() {
    let files = compiled(&[ANY, FAR, MORE, DEEP]);
    let (host, heard) = echo(files, "", &[]);
    let data =
        r#"{"any": {"@type": "x/far.Far", "n": 5, "more": {"@type": "x/deep.Deep", "s": "q"}}}"#;
    let deep = framed(2, &any("deep.Deep", b"\x0a\x01q"));
    let sent = framed(1, &any("far.Far", &[&[8, 5][..], &deep].concat()));
    let call = ["--call", "a.S/Call", &host];
    let seen = attempt(&[&call[..], &["-d", data]].concat());
    let shown =
        json!({"any": {"@type": "x/far.Far", "n": 5, "more": {"@type": "x/deep.Deep", "s": "q"}}});
    assert_eq!(seen["request"]["messages"][0]["any"]["n"], 5);
    assert_eq!(seen["response"]["replies"][0], shown);
    let symbols = heard.symbols.lock().unwrap().clone();
    assert_eq!(symbols, ["a.S", "deep.Deep", "far.Far"], "and no other");
    // Runs, too; rows name their types as well.
    let scratch = Scratch::new();
    let rows = scratch.write("rows.jsonl", &format!("{data}\n{data}\n"));
    let rows = rows.to_str().unwrap();
    for given in [["-d", data], ["--data-file", rows]] {
        let load = ["--insecure", "-n", "4", "-c", "2"];
        let (status, _, errors) = volley(&[&load[..], &given, &call].concat());
        assert_eq!(status, 0, "{errors}");
    }
    let messages = heard.messages.lock().unwrap();
    assert_eq!(messages.len(), 1 + 4 + 4);
    assert!(messages.iter().all(|message| *message == sent));
}

#[test]
fn types_of_replies_are_asked_for_as_they_show() {
    let deep = framed(2, &any("deep.Deep", b"\x0a\x01q"));
    let reply = framed(1, &any("far.Far", &[&[8, 5][..], &deep].concat()));
    let call = ["--call", "a.S/Call"];
    let (host, heard) = echo(compiled(&[ANY, FAR, MORE, DEEP]), "", &reply);
    let seen = attempt(&[&call[..], &[&host]].concat());
    let shown =
        json!({"any": {"@type": "x/far.Far", "n": 5, "more": {"@type": "x/deep.Deep", "s": "q"}}});
    assert_eq!(seen["response"]["replies"], json!([shown]));
    assert_eq!(seen["response"]["status"]["code"], "OK");
    let symbols = heard.symbols.lock().unwrap().clone();
    let asked = ["a.S", "a.S", "far.Far", "a.S", "deep.Deep", "far.Far"];
    assert_eq!(symbols, asked);
    // What cannot be had is shown as it is, and so is what files do not know: no server is asked.
    let (host, heard) = echo(compiled(&[ANY, FAR, MORE]), "far/far.proto", &reply);
    let as_it_is =
        json!({"any": {"@type": "x/far.Far", "value": "CAUSEgoLeC9kZWVwLkRlZXASAwoBcQ=="}});
    let seen = attempt(&[&call[..], &[&host]].concat());
    assert_eq!(seen["response"]["replies"], json!([as_it_is]));
    let scratch = Scratch::new();
    let proto = scratch.write("a.proto", ANY.1);
    let asked = heard.symbols.lock().unwrap().len();
    let seen = attempt(&[&call[..], &["--proto", proto.to_str().unwrap(), &host]].concat());
    assert_eq!(seen["response"]["replies"], json!([as_it_is]));
    assert_eq!(heard.symbols.lock().unwrap().len(), asked);
}

#[test]
fn a_type_that_the_server_does_not_know_is_named_unless_it_is_given_as_bytes() {
    let (host, heard) = echo(compiled(&[ANY, FAR, MORE]), "", &[]);
    let call = ["--insecure", "--call", "a.S/Call", &host, "-d"];
    let named = r#"{"any": {"@type": "x/no.Such", "n": 1}}"#;
    let line = error(&[&["try"], &call[..], &[named]].concat(), 2);
    assert!(line.contains("the type `no.Such` is missing"), "{line}");
    let given = r#"{"any": {"@type": "x/no.Such", "value": "CAU="}}"#;
    let seen = attempt(&[&call[1..], &[given]].concat());
    let given: Value = serde_json::from_str(given).unwrap();
    assert_eq!(seen["response"]["replies"], json!([given]));
    assert_eq!(
        *heard.messages.lock().unwrap(),
        [framed(1, &any("no.Such", &[8, 5]))]
    );
    // Google's own are known without the server.
    let time = r#"{"any": {"@type": "x/google.protobuf.Duration", "value": "1s"}}"#;
    let seen = attempt(&[&call[1..], &[time]].concat());
    let time: Value = serde_json::from_str(time).unwrap();
    assert_eq!(seen["response"]["replies"], json!([time]));
    let sent = framed(1, &any("google.protobuf.Duration", &[8, 1]));
    assert_eq!(heard.messages.lock().unwrap()[1], sent);
}

#[test]
fn a_file_that_the_server_lacks_costs_only_its_own_types() {
    let (host, _) = echo(compiled(&[ANY, FAR, MORE]), "far/more.proto", &[]);
    let call = ["--call", "a.S/Call", &host, "-d"];
    let seen = attempt(&[&call[..], &[r#"{"any": {"@type": "x/far.Far", "n": 5}}"#]].concat());
    assert_eq!(seen["response"]["replies"][0]["any"]["n"], 5);
    let own = r#"{"any": {"@type": "x/far.Far", "own": {}}}"#;
    let line = error(&[&["try", "--insecure"], &call[..], &[own]].concat(), 2);
    assert!(line.contains("the type `far.More` is missing"), "{line}");
}

#[test]
fn a_short_reply_of_many_messages_is_shown_without_their_empty_fields() {
    let fields: String = (2..50).map(|n| format!("int32 f{n} = {n};")).collect();
    let text = format!(
        "syntax = \"proto3\"; package a; message M {{ repeated M parts = 1; {fields} }} service S {{ rpc Call(M) returns (M); }}"
    );
    for (count, is_whole) in [(1_000, true), (10_000, false)] {
        let (host, _) = echo(
            compiled(&[("a.proto", &text)]),
            "",
            &[0x0a, 0].repeat(count),
        );
        let seen = attempt(&["--call", "a.S/Call", &host]);
        let parts = seen["response"]["replies"][0]["parts"].as_array().unwrap();
        let has_zeros = |part: &Value| part["f7"] == 0;
        assert_eq!(parts.len(), count);
        assert_eq!(parts.iter().all(has_zeros), is_whole);
        assert_eq!(parts.iter().any(has_zeros), is_whole);
        let note = "there are too many: some messages are shown without them";
        let note = Value::from(Some(note).filter(|_| !is_whole));
        assert_eq!(seen.get("zero_fields").unwrap_or(&Value::Null), &note);
    }
}

/// The file of an edition. What it declares is the same in all of them.
fn of_edition(edition: &str) -> String {
    r#"edition = "EDITION";
    package e;
    message M {
      int32 implicit = 1 [features.field_presence = IMPLICIT];
      int32 explicit = 2;
      M part = 3 [features.message_encoding = DELIMITED];
      repeated int32 expanded = 4 [features.repeated_field_encoding = EXPANDED];
      Closed closed = 5;
      string text = 6 [default = "d"];
      Needs needs = 7;
      extensions 100 to 200;
    }
    message Needs { int32 must = 1 [features.field_presence = LEGACY_REQUIRED]; }
    enum Closed { option features.enum_type = CLOSED; CLOSED_ONE = 1; CLOSED_TWO = 2; }
    extend M { string ext = 100; repeated M list = 101 [features.message_encoding = DELIMITED]; }
    service E {
      rpc Call(M) returns (M);
      rpc Down(M) returns (stream M);
      rpc Up(stream M) returns (M);
      rpc Both(stream M) returns (stream M);
    }"#
    .replace("EDITION", edition)
}

#[test]
fn schemas_of_editions_are_the_same_from_a_file_a_set_and_the_server() {
    let data = r#"{"implicit": 0, "explicit": 0, "part": {"explicit": 7}, "expanded": [1, 2],
                   "closed": "CLOSED_TWO", "needs": {"must": 3}, "[e.ext]": "x", "[e.list]": [{}, {"explicit": 9}]}"#;
    let wire = b"\x10\x00\x1b\x10\x07\x1c\x20\x01\x20\x02\x28\x02\x3a\x02\x08\x03\xa2\x06\x01x\xab\x06\xac\x06\xab\x06\x10\x09\xac\x06";
    for edition in ["2023", "2024"] {
        let text = of_edition(edition);
        let files = compiled(&[("e.proto", &text)]);
        let scratch = Scratch::new();
        let proto = scratch.write("e.proto", &text);
        let set: PathBuf = scratch.path("e.binpb");
        let all = FileDescriptorSet {
            file: files.clone(),
            ..FileDescriptorSet::default()
        };
        std::fs::write(&set, all.encode_to_vec()).unwrap();
        let (host, heard) = echo(files, "", &[]);
        let (proto, set) = (proto.to_str().unwrap(), set.to_str().unwrap());
        let mut described = Vec::new();
        for source in [&["--proto", proto][..], &["--protoset", set], &[]] {
            for (method, replies) in [("Call", 1), ("Down", 3), ("Up", 1), ("Both", 1)] {
                let name = format!("e.E/{method}");
                let words = [source, &["--call", &name, &host, "-d", data]].concat();
                let seen = attempt(&words);
                let got = seen["response"]["replies"].as_array().unwrap();
                assert_eq!(got.len(), replies, "{name}");
                for reply in got {
                    assert_eq!(*reply, seen["request"]["messages"][0]);
                    assert_eq!(reply["explicit"], 0);
                    assert_eq!(reply["part"]["explicit"], 7);
                    assert_eq!(reply["closed"], "CLOSED_TWO");
                    assert_eq!(reply["[e.ext]"], "x");
                }
                let expected = ["--expect", "explicit = 0"];
                let load = ["--insecure", "-n", "10", "-c", "2"];
                let (status, out, errors) = volley(&[&load[..], &expected, &words].concat());
                assert_eq!(status, 0, "{name} {errors} {out}");
            }
            let lacking = r#"{"needs": {}}"#;
            let line = error(
                &[
                    &[
                        "try",
                        "--insecure",
                        "--call",
                        "e.E/Call",
                        &host,
                        "-d",
                        lacking,
                    ],
                    source,
                ]
                .concat(),
                2,
            );
            has(&line, "the required field `needs.must` is missing");
            let at: &[&str] = if source.is_empty() {
                &["--insecure", &host]
            } else {
                source
            };
            let (_, out, _) = volley(&[&["describe"], at, &["e.M"]].concat());
            described.push(out);
        }
        begins(&described[0], &format!("edition = \"{edition}\";"));
        assert!(
            described.iter().all(|text| *text == described[0]),
            "{described:?}"
        );
        let scenario = scratch.write(
            "load.yaml",
            &format!(
                "targets: {{t: \"http://{host}\"}}\nprotos: [e.proto]\nscenarios:\n  one:\n    steps:\n      - name: call\n        \
                 grpc: \"${{t}}/e.E/Call\"\n        message: {data}\n        \
                 expect: {{status: OK, fields: {{explicit: 0, part.explicit: 7, closed: CLOSED_TWO, needs.must: 3, \"[e.ext]\": x, \"[e.list].1.explicit\": 9}}}}\n\
                 load: [{{users: 1, iterations: 10, for: 60s}}]\n"
            ),
        );
        let fails = ["--fail-if", "checks < 100%"];
        let (status, out, errors) =
            volley(&[&["run", scenario.to_str().unwrap()], &fails[..]].concat());
        assert_eq!(status, 0, "{errors} {out}");
        let messages = heard.messages.lock().unwrap();
        assert_eq!(messages.len(), 3 * 4 * 11 + 10);
        assert!(messages.iter().all(|message| *message == wire));
    }
}
