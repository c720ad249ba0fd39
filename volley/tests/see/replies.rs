//! `--print-replies` and `--save-replies`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use volley::serve::Faults;

use crate::common::peer::{Does, peer};
use crate::common::shape::SERVER_STREAM;
use crate::common::{Scratch, Volley, begins, command, faulty, one, reference};

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_reply_and_every_status_is_saved() {
    let server = reference(faulty(|faults| faults.trailers_only_every = one(10)));
    let scratch = Scratch::new();
    let path = scratch.path("replies.jsonl");
    let report = SERVER_STREAM
        .run("-n 100 -c 10 --connections 2 --threads 2 --save-replies")
        .arg(&path)
        .report(&server);
    assert_eq!((report.ok(), report.failed_total()), (90, 10));
    let saved = lines(&fs::read_to_string(path).unwrap());
    let ended: Vec<&Value> = saved
        .iter()
        .filter(|line| line.get("status").is_some())
        .collect();
    let ok = ended.iter().filter(|line| line["status"] == "OK").count();
    assert_eq!((ended.len(), ok), (100, 90));
    for end in &ended {
        let of_call = |line: &&Value| line["call"] == end["call"] && line.get("reply").is_some();
        let replies: Vec<&Value> = saved.iter().filter(of_call).collect();
        if end["status"] != "OK" {
            assert!(replies.is_empty() && end["error"].as_str().unwrap().contains("Internal"));
            continue;
        }
        assert_eq!(replies.len() as u64, SERVER_STREAM.replies);
        for (index, line) in replies.iter().enumerate() {
            assert_eq!(
                (&line["index"], &line["reply"]["result"]),
                (&index.into(), &(3 + index).into())
            );
        }
    }
}

#[test]
fn the_status_of_a_call_that_cannot_be_sent_is_saved() {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    let path = scratch.path("replies.jsonl");
    // Whether the range is empty is only known when the inner number is drawn.
    let report = Volley::call("GetSum")
        .data(r#"{"a": {{randomInt 3 (randomInt 0 9)}}}"#)
        .flags("-n 200 -c 4 --save-replies")
        .arg(&path)
        .report(&server);
    let saved = lines(&fs::read_to_string(path).unwrap());
    let of = |status: &str| saved.iter().filter(|line| line["status"] == status).count() as u64;
    assert_eq!(report.failed_total(), of("Internal"));
    assert_eq!((of("OK") + of("Internal"), of("OK")), (200, report.ok()));
}

#[test]
fn the_first_replies_are_printed_and_the_report_is_alone_on_stdout() {
    let server = reference(Faults::default());
    let finished = SERVER_STREAM
        .checked("-n 4 -c 1 --quiet --print-replies 60")
        .run(&server);
    assert_eq!(finished.report().all_ok(), 4);
    let printed = lines(&finished.stderr);
    assert_eq!(printed.len(), 60);
    assert_eq!(printed[59]["call"], 1);
    assert_eq!(printed[59]["reply"]["result"], 12);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let server = reference(Faults::default());
    let run = SERVER_STREAM.run("-n 4 -c 1 --save-replies /no/such/folder/x");
    let finished = run.run(&server);
    begins(
        finished.error(),
        "`--save-replies`: cannot write `/no/such/folder/x`: ",
    );
    let run = SERVER_STREAM.run("-n 400 -c 4 --quiet --save-replies /dev/full");
    let finished = run.run(&server);
    assert_eq!(finished.code(), 1);
    assert!(
        finished
            .stderr
            .starts_with("error: `--save-replies`: not all replies are saved: "),
        "{finished:?}"
    );
    assert!(
        finished.stdout.contains("\"count\""),
        "the report is printed all the same"
    );
}

#[test]
fn the_log_has_the_warnings_about_replies() {
    let scratch = Scratch::new();
    let proto = "syntax = \"proto3\"; package p; message M { string text = 1; } \
                 service S { rpc Do(M) returns (M); }";
    let proto = scratch.write("p.proto", proto);
    let data = scratch.write(
        "data.json",
        &json!({ "text": "x".repeat(1 << 20) }).to_string(),
    );
    let log = scratch.path("log.jsonl");
    let host = peer(|_, _, message| Does::Reply(message.to_vec()));
    let call = "--insecure --call p.S/Do -n 40 -c 1 -O json --print-replies 40 --live-json -";
    let mut child = command(call.split(' '))
        .args(["-o", "/dev/null"])
        .args([Path::new("--proto"), &proto, Path::new("-D"), &data])
        .args([Path::new("--debug"), &log, Path::new(&host)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads the replies before the load is over.
    let seconds = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seconds = seconds.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert!(seconds.any(|second| {
        second["length_s"]
            .as_f64()
            .is_some_and(|length| length < 1.0)
    }));
    let mut printed = String::new();
    let mut errors = child.stderr.take().unwrap();
    errors.read_to_string(&mut printed).unwrap();
    assert!(child.wait().unwrap().success());
    let log = lines(&fs::read_to_string(log).unwrap());
    let [.., warning, end] = &log[..] else {
        panic!("{log:?}");
    };
    let message = warning["message"].as_str().unwrap();
    assert!(message.contains("were dropped: print fewer"), "{message}");
    assert!(printed.contains(message));
    assert_eq!(end["message"], "end");
}
