//! Secrets in metadata: nothing prints them unless it is asked to.

use std::fs;

use volley::serve::Faults;

use crate::common::{Scratch, begins, reference, words};
use crate::{GET_SUM, error, volley};

const METADATA: [&str; 4] = [
    "-m",
    r#"{"Authorization": "Bearer hush-1", "x-api-key": "hush-2", "x-id": "plain"}"#,
    "--reflect-metadata",
    r#"{"x-token": "hush-3"}"#,
];

#[test]
fn no_output_holds_a_secret_unless_it_is_asked_to() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let share = ["--share", "1/2", "--connections", "2"];
    let call = ["--call", GET_SUM, "--insecure", &host];
    let blast = words("--requests|2|--connections|1|--repetitions|1|-O|json");
    let run = [&call[..], &METADATA, &["-n", "4", "-c", "2"]].concat();
    for words in [
        [&run[..], &["-O", "json"]].concat(),
        [&run[..], &["-O", "json"], &share].concat(),
        [&run[..], &["-O", "html"]].concat(),
        [&["try"][..], &call, &METADATA].concat(),
        [&["blast"][..], &call, &blast, &METADATA].concat(),
    ] {
        let (status, out, errors) = volley(&words);
        assert_eq!(status, 0, "{words:?}: {errors}");
        assert!(out.contains("plain") && out.contains("***"), "{out}");
        assert!(!format!("{out}{errors}").contains("hush"), "{out}{errors}");
        let (_, out, _) = volley(&[&words[..], &["--show-secrets"]].concat());
        assert!(out.contains("hush-1") && out.contains("hush-2"), "{out}");
    }
}

#[test]
fn no_log_holds_a_secret_unless_it_is_asked_to() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let scratch = Scratch::new();
    let path = scratch.path("debug.jsonl");
    let call = ["--call", GET_SUM, "--insecure", "-n", "4", "-c", "2"];
    let debug = ["--debug", path.to_str().unwrap(), &host];
    let words = [&call[..], &METADATA, &debug].concat();
    let logged = |more: &[&str]| {
        let (status, _, errors) = volley(&[&words[..], more].concat());
        assert_eq!(status, 0, "{errors}");
        fs::read_to_string(&path).unwrap()
    };
    let log = logged(&[]);
    assert!(
        log.contains("plain") && log.contains("***") && !log.contains("hush"),
        "{log}"
    );
    assert!(logged(&["--show-secrets"]).contains("hush-1"));
}

#[test]
fn metadata_that_is_not_understood_is_not_quoted() {
    for flag in ["--metadata", "--reflect-metadata"] {
        let (status, _, errors) = volley(&[flag, r#"{"authorization": "hush"#, "localhost:1"]);
        assert_eq!(status, 2);
        begins(
            &errors,
            &format!("error: `{flag}`: invalid value: it is not JSON"),
        );
        assert!(!errors.contains("hush"), "{errors}");
    }
}

#[test]
fn a_secret_that_is_no_template_is_not_quoted() {
    let words = ["--proto", "../requests/benchmark.proto", "--call", GET_SUM];
    for value in ["Bearer {{hush", "Bearer {{hush}}", "{{add \\\"hush\\\"}}"] {
        let metadata = format!(r#"{{"authorization": "{value}"}}"#);
        let line = error(&[&words[..], &["-m", &metadata, "localhost:1"]].concat(), 2);
        assert_eq!(
            line,
            "metadata `authorization`: its template is wrong (not shown: it may be a secret); \
             `--disable-template-data` sends it as it is"
        );
    }
}
