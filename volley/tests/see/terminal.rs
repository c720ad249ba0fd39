//! What a server says is shown, and acts on no terminal.

use std::fs;

use volley::protobuf::descriptor::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
    ServiceDescriptorProto, field_descriptor_proto,
};
use volley::protobuf::encoded_file;
use volley::protobuf::reflection::{Answer, Question};

use crate::common::peer::{Does, peer};
use crate::common::{Scratch, has};
use crate::volley;

/// Clears the screen, turns it red, and reorders what follows.
const ACTS: &str = "\u{1b}[2J\u{7f}\u{9b}31m\u{202e}";

/// `p.S/Do` takes and returns a `p.M`, whose field has a hostile name. So have another method and another service.
fn schema() -> FileDescriptorProto {
    let method = |name: &str| MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(".p.M".to_owned()),
        output_type: Some(".p.M".to_owned()),
        ..MethodDescriptorProto::default()
    };
    let service = |name: &str| ServiceDescriptorProto {
        name: Some(name.to_owned()),
        method: vec![method("Do"), method(ACTS)],
        ..ServiceDescriptorProto::default()
    };
    let field = FieldDescriptorProto {
        name: Some(format!("text{ACTS}")),
        number: Some(1),
        r#type: Some(field_descriptor_proto::Type::TYPE_STRING),
        ..FieldDescriptorProto::default()
    };
    FileDescriptorProto {
        name: Some("a.proto".to_owned()),
        package: Some("p".to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: vec![DescriptorProto {
            name: Some("M".to_owned()),
            field: vec![field],
            ..DescriptorProto::default()
        }],
        service: vec![service("S"), service(ACTS)],
        ..FileDescriptorProto::default()
    }
}

/// A server that describes itself and replies to every call.
fn hostile() -> String {
    peer(|path, _, message| {
        if path == "/p.S/Do" {
            // Field 1, a string.
            let reply = [&[10, ACTS.len() as u8], ACTS.as_bytes()];
            return Does::Reply(reply.concat());
        }
        let answer = match Question::decode(message).unwrap().unwrap() {
            Question::Services(_) => {
                let names = ["p.S", &format!("p.{ACTS}"), &format!("unknown.{ACTS}")];
                Answer::Services(names.map(str::to_owned).into())
            }
            Question::FileOf(name) if name.starts_with("p.") => {
                Answer::Files(vec![encoded_file(&schema())])
            }
            _ => Answer::refused(13, ACTS),
        };
        answer.into()
    })
}

/// Whether a terminal would only show it.
fn is_inert(text: &str) -> bool {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
    !text.contains(acts)
}

#[test]
fn nothing_a_server_says_acts_on_a_terminal() {
    let host = hostile();
    let call = ["--call", "p.S/Do", "-d", "{}", "--insecure", &host];
    let load = ["-n", "2", "-c", "1", "--print-replies", "2"];
    let run = [&call[..], &load].concat();
    for (words, status) in [
        (vec!["list", "--insecure", &host], 0),
        (vec!["list", "--insecure", &host, "p.S"], 0),
        (vec!["list", "--insecure", &host, "no.S"], 1),
        (vec!["describe", "--insecure", &host, "p.S"], 0),
        (vec!["describe", "--insecure", &host, "p.M"], 0),
        ([&["try"][..], &call].concat(), 0),
        ([&["try"][..], &call, &["-O", "json"]].concat(), 0),
        (run.clone(), 0),
        ([&run[..], &["--expect-replies", "2"]].concat(), 2),
        ([&run[..], &["--expect", "a = b"]].concat(), 2),
    ] {
        let (ended, out, errors) = volley(&words);
        assert_eq!(ended, status, "{words:?}: {out}{errors}");
        assert!(
            is_inert(&out) && is_inert(&errors),
            "{words:?}: {out}{errors}"
        );
    }
    let (_, out, _) = volley(&[&["try"][..], &call].concat());
    assert!(out.contains(r"\u001b[2J\u007f\u009b31m\u202e"), "{out}");
    let (_, out, _) = volley(&["list", "--insecure", &host]);
    has(&out, r"unknown.\u{1b}[2J\u{7f}\u{9b}31m\u{202e}");
}

#[test]
fn a_saved_reply_keeps_what_the_server_said() {
    let host = hostile();
    let scratch = Scratch::new();
    let path = scratch.path("replies.jsonl");
    let call = ["--call", "p.S/Do", "-d", "{}", "--insecure", &host];
    let save = [
        "-n",
        "1",
        "-c",
        "1",
        "--save-replies",
        path.to_str().unwrap(),
    ];
    assert_eq!(volley(&[&call[..], &save].concat()).0, 0);
    let saved = fs::read_to_string(path).unwrap();
    assert!(is_inert(&saved), "{saved}");
    let first: serde_json::Value = serde_json::from_str(saved.lines().next().unwrap()).unwrap();
    let texts: Vec<_> = first["reply"].as_object().unwrap().values().collect();
    assert_eq!(texts, [ACTS]);
}
