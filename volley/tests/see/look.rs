//! `volley list` and `volley describe`.

use volley::serve::Faults;

use crate::common::{Scratch, begins, ends, has, reference};
use crate::{error, volley};

const BENCHMARK: &str = "\
benchmark.BenchmarkService
  rpc GetSum(benchmark.SumRequest) returns (benchmark.SumReply);
  rpc StreamSum(benchmark.StreamRequest) returns (stream benchmark.SumReply);
  rpc CollectSum(stream benchmark.SumRequest) returns (benchmark.SumReply);
  rpc EchoSum(stream benchmark.SumRequest) returns (stream benchmark.SumReply);
";

const PROTO: [&str; 2] = ["--proto", "../requests/benchmark.proto"];

fn printed(words: &[&str]) -> String {
    let (status, out, errors) = volley(words);
    assert_eq!((status, errors.as_str()), (0, ""));
    out
}

#[test]
fn services_are_listed_with_their_methods() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let all = printed(&["list", "--insecure", &host]);
    let services: Vec<&str> = all.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        services,
        [
            "benchmark.BenchmarkService",
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection",
        ]
    );
    assert!(all.starts_with(BENCHMARK));
    let one = ["list", "--insecure", &host, "benchmark.BenchmarkService"];
    assert_eq!(printed(&one), BENCHMARK);
}

#[test]
fn a_file_is_listed_without_a_server() {
    assert_eq!(printed(&[&["list"][..], &PROTO].concat()), BENCHMARK);
}

#[test]
fn symbols_of_every_kind_are_described() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let describe = |symbol| printed(&["describe", "--insecure", &host, symbol]);
    assert_eq!(
        describe("benchmark.BenchmarkService/GetSum"),
        "rpc GetSum(benchmark.SumRequest) returns (benchmark.SumReply);\n\n\
         message SumRequest {\n  int32 a = 1;\n  int32 b = 2;\n}\n\n\
         message SumReply {\n  int32 result = 1;\n}\n"
    );
    begins(
        &describe("benchmark.BenchmarkService"),
        "service BenchmarkService {\n  rpc ",
    );
    assert_eq!(
        describe("grpc.health.v1.HealthListResponse"),
        "message HealthListResponse {\n  \
         map<string, grpc.health.v1.HealthCheckResponse> statuses = 1;\n}\n"
    );
    assert_eq!(
        describe("grpc.health.v1.HealthCheckResponse.ServingStatus"),
        "enum ServingStatus {\n  UNKNOWN = 0;\n  SERVING = 1;\n  NOT_SERVING = 2;\n  SERVICE_UNKNOWN = 3;\n}\n"
    );
}

#[test]
fn a_name_that_is_not_there_is_one_line() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    let line = error(&["describe", "--insecure", &host, "benchmark.Sum"], 2);
    has(&line, "`benchmark.Sum`");
    has(&line, "`volley list`");
    for (typed, near) in [
        ("benchmark.SumRequst", "benchmark.SumRequest"),
        (
            "benchmark.BenchmarkService/GetSm",
            "benchmark.BenchmarkService.GetSum",
        ),
    ] {
        let line = error(&[&["describe"], &PROTO[..], &[typed]].concat(), 2);
        assert!(line.ends_with(&format!("did you mean `{near}`?")), "{line}");
    }
    for schema in [&PROTO[..], &["--insecure", &host]] {
        let line = error(
            &[&["list"], schema, &["benchmark.BenchmarkServic"]].concat(),
            2,
        );
        ends(&line, "did you mean `benchmark.BenchmarkService`?");
    }
}

#[test]
fn a_package_is_told_from_what_is_not_there() {
    let server = reference(Faults::default());
    let host = server.address().to_string();
    for (schema, name, found) in [
        (
            &PROTO[..],
            "benchmark",
            "`benchmark.BenchmarkService`, `benchmark.SumRequest`",
        ),
        (
            &["--insecure", &host],
            "benchmark",
            "`benchmark.BenchmarkService`",
        ),
        (
            &["--insecure", &host],
            ".grpc.health",
            "`grpc.health.v1.Health`",
        ),
    ] {
        let line = error(&[&["describe"], schema, &[name]].concat(), 2);
        let wanted = format!("nothing is declared as `{name}`: it is a package, which has {found}");
        assert!(line.starts_with(&wanted), "{line}");
    }
    // The names of others may begin as its own does.
    let line = error(&[&["describe"], &PROTO[..], &["bench"]].concat(), 2);
    assert!(!line.contains("package, which"), "{line}");
}

#[test]
fn an_empty_list_says_so() {
    let scratch = Scratch::new();
    let proto = scratch.write("a.proto", "syntax = \"proto3\"; message M {}");
    let listed = volley(&["list", "--proto", proto.to_str().unwrap()]);
    let warning = "warning: there are no services\n".to_owned();
    assert_eq!(listed, (0, String::new(), warning));
}
