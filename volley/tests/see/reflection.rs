//! Runs whose schema the server describes.

use std::path::PathBuf;

use volley::protobuf::descriptor::FileDescriptorProto;
use volley::protobuf::encoded_file;
use volley::protobuf::reflection::{Answer, Question};
use volley::request::schema;
use volley::serve::{Faults, Identity, Reference};
use volley::spec::SchemaSource;

use crate::common::peer::{Does, peer, reflecting};
use crate::common::scratch::Certificate;
use crate::common::{
    Report, Scratch, begins, command, has, quiet_listener, reference, served, table, words,
};
use crate::flood;
use crate::{GET_SUM, error, unary, volley};

const FAILED: &str = "cannot get the schema from the server by reflection: ";
const REMEDY: &str = "; give it with `--proto` or `--protoset`";

/// The benchmark's file.
fn benchmark() -> Answer {
    let source = SchemaSource::Proto {
        file: "../requests/benchmark.proto".into(),
        import_paths: Vec::new(),
    };
    let pool = schema::read(&source).unwrap().unwrap();
    file(pool.file("benchmark.proto").unwrap())
}

fn file(file: &FileDescriptorProto) -> Answer {
    Answer::Files(vec![encoded_file(file)])
}

/// A file with imports and nothing else.
fn importing(name: &str, imports: &[&str]) -> Answer {
    file(&FileDescriptorProto {
        name: Some(name.to_owned()),
        dependency: imports.iter().map(|&name| name.to_owned()).collect(),
        ..FileDescriptorProto::default()
    })
}

/// Why a server's answers make no run; the error names what to do instead.
fn refusal(answer: impl Fn(Question) -> Does + Send + Sync + 'static) -> String {
    let host = reflecting("v1", move |_, question| answer(question));
    let line = error(&unary(&host, &["--connect-timeout", "20s"]), 1);
    let line = line
        .strip_prefix(FAILED)
        .unwrap_or_else(|| panic!("{line}"));
    line.strip_suffix(REMEDY)
        .unwrap_or_else(|| panic!("{line}"))
        .to_owned()
}

#[test]
fn without_a_file_the_server_is_asked_and_the_report_says_so() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let (status, out, errors) = volley(&unary(&host, &["--expect", "result = a + b"]));
    let report = Report::parse(&out, status, &errors);
    assert_eq!(report.all_ok(), 10);
    assert_eq!(report.json["options"]["schema"], "reflection");
    let blast = ["blast", "--insecure", "--call", GET_SUM, &host];
    let more = words("--requests|5|--connections|1|--repetitions|1");
    assert_eq!(volley(&[&blast[..], &more].concat()).0, 0);
}

/// A server with TLS for `bench.test` that offers these protocols, and the file of its certificate.
fn secure(scratch: &Scratch, alpn: &[&str]) -> (Reference, PathBuf) {
    let Certificate { cert, key, .. } = scratch.certificate("bench.test");
    let identity = Identity {
        cert: cert.clone(),
        key,
    };
    let server = served(|config| {
        config.tls = Some(identity);
        config.alpn = alpn.iter().map(ToString::to_string).collect();
    });
    (server, cert)
}

#[test]
fn a_server_with_tls_is_asked_over_tls() {
    let scratch = Scratch::new();
    let (server, cert) = secure(&scratch, &["h2"]);
    let host = server.address().to_string();
    let call = ["--call", GET_SUM, "-n", "3", "-c", "1", &host];
    let cert = cert.to_str().unwrap();
    for trust in [
        &["--skipTLS"][..],
        &["--cacert", cert, "--cname", "bench.test"],
    ] {
        let (status, _, errors) = volley(&[trust, &call[..]].concat());
        assert_eq!(status, 0, "{errors}");
    }
    let line = error(&["--cacert", cert, call[0], call[1], &host], 1);
    has(&line, "TLS: ");
    has(&line, "`--cname`");
}

#[test]
fn a_server_that_offers_other_protocols_is_refused_and_one_without_alpn_is_warned_of() {
    let scratch = Scratch::new();
    let (other, _) = secure(&scratch, &["http/1.1"]);
    let line = error(&["list", "--skipTLS", &other.address().to_string()], 1);
    assert!(line.ends_with("does not offer HTTP/2 (ALPN h2)"), "{line}");
    let (without, _) = secure(&scratch, &[]);
    let host = without.address().to_string();
    let call = ["--call", "benchmark.BenchmarkService/GetSum"];
    for words in [
        &["list"][..],
        &["describe", "benchmark.SumReply"],
        &["try", call[0], call[1]],
        &[
            "try",
            call[0],
            call[1],
            "--proto",
            "../requests/benchmark.proto",
        ],
    ] {
        // The host comes before a name.
        let words = [&words[..1], &["--skipTLS", &host], &words[1..]].concat();
        let (status, _, errors) = volley(&words);
        assert_eq!((status, errors.lines().count()), (0, 1), "{errors}");
        begins(&errors, "warning: ");
        has(&errors, "it has no ALPN");
    }
}

#[test]
fn a_server_that_only_has_the_older_version_is_asked_by_it() {
    let host = reflecting("v1alpha", |_, _| benchmark().into());
    let (_, out, errors) = volley(&["describe", "--insecure", &host, "benchmark.SumReply"]);
    assert_eq!(
        (out.as_str(), errors.as_str()),
        ("message SumReply {\n  int32 result = 1;\n}\n", "")
    );
}

#[test]
fn a_server_without_reflection_leads_to_the_flags_for_files() {
    let host = peer(|_, _, _| Does::End(12));
    let line = format!("{FAILED}the server does not offer it{REMEDY}");
    assert_eq!(error(&unary(&host, &[]), 1), line);
}

#[test]
fn only_the_metadata_for_it_is_sent_with_the_questions() {
    let host = reflecting("v1", |headers, _| {
        match (headers.get("x-key"), headers.get("x-call")) {
            (Some(key), None) if key == "open" => benchmark().into(),
            _ => Does::End(16),
        }
    });
    let describe = ["describe", "--insecure", &host, "benchmark.SumReply"];
    let line = error(&describe, 1);
    has(&line, "Unauthenticated");
    has(&line, "`--reflect-metadata`");
    let metadata = ["--reflect-metadata", r#"{"x-key": "open"}"#];
    assert_eq!(volley(&[&describe[..], &metadata].concat()).0, 0);
    // The questions are answered; the call itself is unknown there.
    let both = [&metadata[..], &["-m", r#"{"x-call": "1"}"#]].concat();
    let (_, out, errors) = volley(&unary(&host, &both));
    let report = Report::parse(&out, 1, &errors);
    assert_eq!(report.all_failed("Unimplemented"), 10);
}

#[test]
fn a_method_that_the_server_does_not_have_is_suggested() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    for [call, hint] in table(
        r"
        benchmark.BenchmarkService/GetSun => did you mean `GetSum`?
        benchmark.BenchmarkServic/GetSum => did you mean `benchmark.BenchmarkService`?
        BenchmarkService/GetSum => did you mean `benchmark.BenchmarkService`?
        benchmark.BenchmarkService => is a service, and no method; it has: `GetSum`, `StreamSum`, `CollectSum`, `EchoSum`
        Health => `grpc.health.v1.Health` is a service, and no method; it has: `Check`, `List`, `Watch`
        Helth => does not name a method; --call takes package.Service/Method
    ",
    ) {
        let line = error(&["--insecure", "--call", call, &host], 2);
        assert!(line.ends_with(hint), "{line}");
    }
}

#[test]
fn a_server_that_never_answers_takes_no_longer_than_connecting_may() {
    let silent = reflecting("v1", |_, _| Does::Nothing);
    let limit = ["--connect-timeout", "1s"];
    assert_eq!(
        error(&unary(&silent, &limit), 1),
        format!(
            "{FAILED}the server had not answered everything within 1 s (`--connect-timeout`){REMEDY}"
        )
    );
    let listener = quiet_listener();
    let host = listener.local_addr().unwrap().to_string();
    assert_eq!(
        error(&unary(&host, &limit), 1),
        format!(
            "cannot connect to {host}: the server sent no HTTP/2 SETTINGS within 1 s (`--connect-timeout`)"
        )
    );
    assert_eq!(
        error(&unary(&flood(|| ()), &limit), 1),
        format!(
            "{FAILED}the server had not answered everything within 1 s (`--connect-timeout`){REMEDY}"
        )
    );
}

#[test]
fn a_signal_ends_the_wait_for_a_schema() {
    let (tell, asked) = std::sync::mpsc::channel();
    let tell = std::sync::Mutex::new(tell);
    let tell = std::sync::Arc::new(move || tell.lock().unwrap().send(()).unwrap());
    let also = std::sync::Arc::clone(&tell);
    let silent = reflecting("v1", move |_, _| {
        also();
        Does::Nothing
    });
    for host in [silent, flood(move || tell())] {
        let mut child = command(unary(&host, &["--connect-timeout", "10m"]))
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        asked.recv().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
}

#[test]
fn hostile_answers_end_in_one_line() {
    assert_eq!(
        refusal(|_| Does::Reply(vec![0xff; 9])),
        "the server answers with something else than was asked for"
    );
    assert_eq!(
        refusal(|_| Does::End(0)),
        "the server ended the stream before it had answered"
    );
    assert_eq!(
        refusal(|_| Answer::refused(13, "no\nway").into()),
        "the server refused (rpc error: code = Internal desc = no way; see `--reflect-metadata`)"
    );
    assert_eq!(
        refusal(|_| Answer::Files(vec![vec![0xff; 9]]).into()),
        "the server sent a file that is no protobuf descriptor"
    );
    assert_eq!(
        refusal(|question| match question {
            Question::File(_) => importing("other.proto", &[]).into(),
            _ => importing("a.proto", &["b.proto"]).into(),
        }),
        "the server was asked for the file `b.proto` and sent others"
    );
    // A circle of imports is none of this; but these files declare nothing, and are no list of services.
    assert_eq!(
        refusal(|question| match question {
            Question::File(_) => importing("b.proto", &["a.proto"]).into(),
            _ => importing("a.proto", &["b.proto"]).into(),
        }),
        "the server answers with something else than was asked for"
    );
}

#[test]
fn imports_without_end_end_in_one_line() {
    let endless = |question| {
        let name = match question {
            Question::File(name) => name,
            _ => "0".to_owned(),
        };
        let number: u32 = name.parse().unwrap();
        let next: Vec<String> = (1..=100).map(|i| (number * 100 + i).to_string()).collect();
        let next: Vec<&str> = next.iter().map(String::as_str).collect();
        importing(&name, &next).into()
    };
    let line = refusal(endless);
    begins(&line, "the schema has more than 10000 files");
}

#[test]
fn answers_without_end_end_in_one_line() {
    // None of them is part of a schema, so only their bytes count.
    let long = "x".repeat(1 << 20);
    let imports: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let line = refusal(move |question| match question {
        Question::File(_) => Answer::refused(5, &long).into(),
        _ => importing(
            "a.proto",
            &imports.iter().map(String::as_str).collect::<Vec<_>>(),
        )
        .into(),
    });
    assert!(line.starts_with("the schema has more than "), "{line}");
}
