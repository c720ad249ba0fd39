//! Secrets in metadata: nothing prints them unless it is asked to.

use volley::serve::Faults;

use crate::common::reference;
use crate::volley;

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
    let call = [
        "--call",
        "benchmark.BenchmarkService/GetSum",
        "--insecure",
        &host,
    ];
    let blast = [
        "--requests",
        "2",
        "--connections",
        "1",
        "--repetitions",
        "1",
        "-O",
        "json",
    ];
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
fn metadata_that_is_not_understood_is_not_quoted() {
    for flag in ["--metadata", "--reflect-metadata"] {
        let (status, _, errors) = volley(&[flag, r#"{"authorization": "hush"#, "localhost:1"]);
        assert_eq!(status, 2);
        assert!(
            errors.starts_with(&format!("error: `{flag}`: invalid value: it is not JSON")),
            "{errors}"
        );
        assert!(!errors.contains("hush"), "{errors}");
    }
}
