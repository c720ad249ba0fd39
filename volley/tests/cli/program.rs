//! The program itself: its streams and its exit status.

use std::fs::File;
use std::io::Write;
use std::process::{Output, Stdio};

use crate::common::{begins, command, ends, has, outcome, volley};
use crate::file;

#[test]
fn the_version_is_one_line_with_the_profile_and_the_features() {
    for flag in ["--version", "-v", "-V"] {
        let (status, line, errors) = volley(&[flag]);
        assert_eq!((status, errors.as_str()), (0, ""));
        let begin = concat!("volley ", env!("CARGO_PKG_VERSION"), " (");
        begins(&line, begin);
        has(&line, "; features: ");
        ends(&line, ")\n");
        assert_eq!(line.lines().count(), 1);
    }
}

#[test]
fn help_goes_to_stdout() {
    for args in [&["--help"][..], &["-h"], &["--insecure", "--help"]] {
        let (status, help, errors) = volley(args);
        assert_eq!((status, errors.as_str()), (0, ""));
        for flag in ["--proto", "--call", "--connections"] {
            assert!(help.contains(flag), "{flag}");
        }
    }
    assert!(volley(&["serve", "--help"]).1.contains("--freeze"));
    assert_eq!(volley(&["help"]), volley(&["--help"]));
    assert_eq!(volley(&["help", "run"]), volley(&["run", "--help"]));
    for (command, usage) in [
        ("schema", " [FILE]"),
        ("completions", " <SHELL>"),
        ("man", " [COMMAND]"),
    ] {
        for flag in ["--help", "-h"] {
            let (status, help, errors) = volley(&[command, flag]);
            assert_eq!((status, errors.as_str()), (0, ""));
            let usage = format!("Usage: volley {command}{usage}\n");
            assert!(help.contains(&usage), "{help}");
        }
    }
    assert_eq!(volley(&["schema", "--rps", "5"]).0, 2);
    assert!(volley(&["blast", "--help"]).1.contains("--repetitions"));
}

#[test]
fn what_cannot_be_printed_ends_with_status_1() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["serve", "--help"],
        &["schema"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (status, _, stderr) = outcome(command(args).stdout(full));
        assert_eq!(status, 1, "{args:?}");
        assert!(stderr.starts_with("error: "), "{args:?}");
    }
    // Nobody can read why.
    for words in ["localhost", "merge /no/such"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let done = command(words.split(' ')).stderr(full).status().unwrap();
        assert_eq!(done.code(), Some(2), "{words}");
    }
}

#[test]
fn what_is_no_file_and_what_is_too_long_is_not_read() {
    let huge = file("huge.lua", "");
    // It has no blocks on disk.
    File::create(&huge).unwrap().set_len(2 << 30).unwrap();
    let huge = huge.to_str().unwrap();
    let device = "it is a device, and neither a file nor a pipe\n";
    for named in ["/dev/zero", huge] {
        for (words, most) in [
            ("--config FILE", 1),
            ("merge FILE FILE", 1024),
            ("compare FILE FILE", 1024),
            ("run FILE", 16),
            ("check FILE", 16),
            ("describe --protoset FILE a.B", 64),
            ("CALL --data-file FILE localhost:1", 1024),
            ("CALL --binary-file FILE localhost:1", 1024),
            ("CALL --metadata-file FILE localhost:1", 16),
            ("serve --tls-cert FILE --tls-key FILE", 16),
        ] {
            let words = words.replace("FILE", named).replace(
                "CALL",
                "--proto ../requests/benchmark.proto --call benchmark.BenchmarkService/GetSum",
            );
            let words: Vec<&str> = words.split(' ').collect();
            let (status, out, errors) = volley(&words);
            assert_eq!((status, out.as_str()), (2, ""), "{words:?}: {errors}");
            let long = format!("it has more than {most} MiB\n");
            let reason = if named == huge { &long } else { device };
            assert!(errors.ends_with(reason), "{words:?}: {errors}");
            assert_eq!(errors.lines().count(), 1, "{errors}");
        }
    }
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let mut child = command(["--config", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(br#"{"proto": "a.proto", "call": "p.S/M", "host": "localhost"}"#)
        .unwrap();
    drop(stdin);
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(2));
    let errors = String::from_utf8(stderr).unwrap();
    assert!(errors.contains("`localhost` has no port"), "{errors}");
}

#[test]
fn a_folder_that_is_missing_is_named_so() {
    let line = "error: `--output`: cannot write `/no/such/x`: its folder is missing: make it\n";
    let (_, out, errors) = volley(&["compare", "-o", "/no/such/x", "a.json", "b.json"]);
    assert_eq!((out.as_str(), errors.as_str()), ("", line));
}

#[test]
fn a_usage_error_is_one_line_on_stderr_and_status_2() {
    for args in [
        &[][..],
        &["--nonsense"],
        &["localhost"],
        &["serve", "--listen", "x"],
        &["blast"],
        &["blast", "--requests", "0", "localhost:1"],
        &["serve", "--tls-cert", "/no/such", "--tls-key", "/no/such"],
    ] {
        let (status, out, errors) = volley(args);
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        begins(&errors, "error: ");
        ends(&errors, "\n");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}
