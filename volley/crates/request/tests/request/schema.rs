use std::fs;
use std::path::PathBuf;

use buffa::Message as _;
use proptest::prelude::*;
use volley_load::spec::SchemaSource;
use volley_protobuf::compile::compile;
use volley_protobuf::descriptor::{FileDescriptorProto, FileDescriptorSet};
use volley_request::{Shape, Source};
use volley_testkit::scratch::Scratch;
use volley_testkit::table::table;

use crate::support::{json, load, method, proto};
use volley_testkit::texts::{begins, ends, has};

/// The test's own file of all kinds of fields, with all that it imports.
fn everything() -> FileDescriptorSet {
    let mut open = |name: &str| Ok(fs::read(PathBuf::from("../../tests/protos").join(name)).ok());
    FileDescriptorSet {
        file: compile("everything.proto", &mut open).unwrap(),
        ..FileDescriptorSet::default()
    }
}

fn refusal(source: &SchemaSource, call: &str) -> String {
    let error = load(source, call).unwrap_err().to_string();
    assert!(!error.contains('\n'), "more than one line: {error}");
    error
}

fn benchmark() -> SchemaSource {
    SchemaSource::Proto {
        file: PathBuf::from("../../../requests/benchmark.proto"),
        import_paths: Vec::new(),
    }
}

fn proto_file(file: PathBuf) -> SchemaSource {
    SchemaSource::Proto {
        file,
        import_paths: Vec::new(),
    }
}

#[test]
fn a_method_knows_its_path_types_and_shape() {
    let stream = method("StreamSum");
    assert_eq!(stream.path, "/benchmark.BenchmarkService/StreamSum");
    assert_eq!(stream.full_name, "benchmark.BenchmarkService.StreamSum");
    assert_eq!(stream.name(), "StreamSum");
    assert_eq!(stream.service_name(), "BenchmarkService");
    assert_eq!(stream.input.full_name(), "benchmark.StreamRequest");
    assert_eq!(stream.output.full_name(), "benchmark.SumReply");
    assert_eq!(stream.shape, Shape::ServerStreaming);
    assert_eq!(method("GetSum").shape, Shape::Unary);
    assert_eq!(method("CollectSum").shape, Shape::ClientStreaming);
    assert_eq!(method("EchoSum").shape, Shape::Bidirectional);
}

#[test]
fn a_call_may_be_written_in_each_of_ghz_s_ways() {
    for call in [
        "benchmark.BenchmarkService/GetSum",
        "benchmark.BenchmarkService.GetSum",
        ".benchmark.BenchmarkService/GetSum",
        ".benchmark.BenchmarkService.GetSum",
        "/benchmark.BenchmarkService/GetSum",
    ] {
        assert_eq!(load(&benchmark(), call).unwrap().name(), "GetSum", "{call}");
    }
}

#[test]
fn imports_are_found_beside_the_file() {
    assert!(load(&proto("everything.proto"), "everything.Everything/Call").is_ok());
}

#[test]
fn imports_are_found_in_the_import_paths() {
    let mut source = SchemaSource::Proto {
        file: PathBuf::from("../../tests/protos/apart/needs_path.proto"),
        import_paths: vec![PathBuf::from("../../tests/protos")],
    };
    assert!(load(&source, "apart.Apart/Call").is_ok());
    if let SchemaSource::Proto { import_paths, .. } = &mut source {
        import_paths.clear();
    }
    assert_eq!(
        refusal(&source, "apart.Apart/Call"),
        "cannot compile `../../tests/protos/apart/needs_path.proto`: needs_path.proto:3:8: \
         `everything.proto` is imported, but not found; give the folder that holds it with --import-paths"
    );
}

#[test]
fn the_file_itself_is_found_in_the_import_paths() {
    let source = SchemaSource::Proto {
        file: PathBuf::from("apart/needs_path.proto"),
        import_paths: vec![PathBuf::from("../../tests/protos")],
    };
    assert!(load(&source, "apart.Apart/Call").is_ok());
}

#[test]
fn an_absolute_path_is_a_path() {
    let file = fs::canonicalize("../../tests/protos/everything.proto").unwrap();
    assert!(load(&proto_file(file), "everything.Everything/Call").is_ok());
}

#[test]
fn a_descriptor_set_serves_as_well() {
    let scratch = Scratch::new();
    let set = everything();
    let file = scratch.write("set.bin", &set.encode_to_vec());
    let method = load(&SchemaSource::Protoset(file), "everything.Everything.Chat").unwrap();
    assert_eq!(method.shape, Shape::Bidirectional);
}

#[test]
fn a_descriptor_set_that_is_none_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.write("set.bin", b"these are no descriptors");
    let error = refusal(&SchemaSource::Protoset(file), "a.B/C");
    has(
        &error,
        "/set.bin` is not a descriptor set, or a damaged one: ",
    );
    ends(&error, "; make one with `protoc --include_imports -o FILE`");
}

#[test]
fn a_file_of_text_is_not_taken_for_a_descriptor_set() {
    let scratch = Scratch::new();
    let file = scratch.write("a.proto", b"syntax = \"proto3\"; message M {}");
    let shown = file.display().to_string();
    let error = refusal(&SchemaSource::Protoset(file), "a.B/C");
    assert_eq!(
        error,
        format!("`{shown}` is the text of a schema, and no descriptor set: give it with --proto")
    );
}

#[test]
fn few_bytes_of_a_descriptor_set_do_not_take_much_memory() {
    let scratch = Scratch::new();
    // Messages, enums, files and unknown fields: empty ones, in a set and in its files.
    let inside = |parts: Vec<u8>| {
        let mut set = vec![0x0a];
        volley_protobuf::wire::encode_varint(parts.len() as u64, &mut set);
        [set, parts].concat()
    };
    for bytes in [
        inside([0x22, 0].repeat(500_000)),
        inside([0x2a, 0].repeat(1_000_000)),
        [0x0a, 0].repeat(500_000),
        inside([0xa0, 1, 0].repeat(1_100_000)),
    ] {
        let file = scratch.write("set.bin", &bytes);
        let error = refusal(&SchemaSource::Protoset(file), "a.B/C");
        begins(&error, "cannot use the descriptor set `");
        ends(&error, "`: it has too many parts that are empty or unknown");
    }
}

#[test]
fn a_descriptor_set_may_lack_what_is_not_used() {
    let scratch = Scratch::new();
    let mut set = everything();
    set.file
        .retain(|file| file.name.as_deref() == Some("everything.proto"));
    let file = scratch.write("set.bin", &set.encode_to_vec());
    let method = load(&SchemaSource::Protoset(file), "everything.Everything/Call").unwrap();
    assert!(Source::new(&json(r#"{"int32": 1}"#), &method).is_ok());
    for [data, missing] in table(
        r#"
        {"level": "HIGH"} => common.Level
        {"levels": [1]} => common.Level
        {"self": {"when": "2024-01-01T00:00:00Z"}} => google.protobuf.Timestamp
    "#,
    ) {
        let error = crate::support::refusal(&json(data), &method);
        let reason = format!("the type `{missing}` is missing from the schema at line 1");
        assert!(error.contains(&reason), "{error}");
    }
}

#[test]
fn a_descriptor_set_whose_files_make_no_schema_is_refused() {
    let scratch = Scratch::new();
    let whole = everything();
    let refused = |edit: fn(&mut FileDescriptorProto), reason: &str| {
        let mut set = whole.clone();
        let mut files = set.file.iter_mut();
        edit(
            files
                .find(|file| file.name.as_deref() == Some("everything.proto"))
                .unwrap(),
        );
        let file = scratch.write("set.bin", &set.encode_to_vec());
        let error = refusal(&SchemaSource::Protoset(file), "everything.Everything/Call");
        assert!(error.contains(reason), "{error}");
        assert!(!error.contains("not a descriptor set"), "{error}");
    };
    refused(
        |file| file.syntax = Some("proto9".to_owned()),
        "a file has the syntax `proto9`",
    );
    refused(
        |file| {
            let entries = file
                .message_type
                .iter_mut()
                .flat_map(|message| &mut message.nested_type);
            let mut entries = entries.filter(|entry| entry.options.is_set());
            entries.next().unwrap().field.clear();
        },
        "malformed map entry message",
    );
    refused(
        |file| file.message_type[0].name = Some("Everything".to_owned()),
        "its files do not fit together: ",
    );
    refused(
        |file| file.service[0].method[0].name = Some("Ca\nll".to_owned()),
        "has no method `Call`; did you mean `Ca ll`?",
    );
}

#[test]
fn a_line_break_anywhere_in_a_descriptor_set_makes_no_error_of_two_lines() {
    let scratch = Scratch::new();
    let set = everything();
    let bytes = set.encode_to_vec();
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] = b'\n';
        assert_one_line(scratch.write("set.bin", &bytes));
    }
}

/// A request is made of the descriptor set, or an error of one line.
fn assert_one_line(set: PathBuf) {
    let data = r#"{"int32": 1, "string": "x", "level": "HIGH", "byId": {"1": {}}, "when": "2020-01-01T00:00:00Z"}"#;
    let error = match load(&SchemaSource::Protoset(set), "everything.Everything/Call") {
        Ok(method) => Source::new(&json(data), &method)
            .err()
            .map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    let error = error.unwrap_or_default();
    assert!(!error.contains('\n'), "{error:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_bytes_of_a_descriptor_set_are_changed_there_is_a_request_or_one_line(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let scratch = Scratch::new();
        let set = everything();
        let mut bytes = set.encode_to_vec();
        for (place, byte) in edits {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        assert_one_line(scratch.write("set.bin", &bytes));
    }
}

#[test]
fn an_empty_descriptor_set_has_no_services() {
    let scratch = Scratch::new();
    let file = scratch.write("set.bin", b"");
    assert_eq!(
        refusal(&SchemaSource::Protoset(file), "a.B/C"),
        "the schema describes no service, so there is no `a.B/C` to call"
    );
}

#[test]
fn files_that_are_not_there_are_named() {
    assert_eq!(
        refusal(&proto("not_here.proto"), "a.B/C"),
        "there is no file `../../tests/protos/not_here.proto`"
    );
    assert_eq!(
        refusal(
            &SchemaSource::Protoset(PathBuf::from("not_here.bin")),
            "a.B/C"
        ),
        "cannot read `not_here.bin`: No such file or directory (os error 2)"
    );
}

#[test]
fn the_import_paths_that_a_file_is_not_in_are_named() {
    let source = SchemaSource::Proto {
        file: PathBuf::from("not_here.proto"),
        import_paths: vec![
            PathBuf::from("../../tests"),
            PathBuf::from("../../tests/protos"),
        ],
    };
    assert_eq!(
        refusal(&source, "a.B/C"),
        "there is no file `not_here.proto`, nor in `../../tests`, nor in `../../tests/protos`"
    );
}

#[test]
fn a_file_of_another_kind_is_refused() {
    assert_eq!(
        refusal(&proto_file(PathBuf::from("Cargo.toml")), "a.B/C"),
        "`Cargo.toml` does not end in .proto; for a descriptor set use --protoset"
    );
}

#[test]
fn a_folder_is_no_file() {
    let scratch = Scratch::new();
    let folder = scratch.path("folder.proto");
    fs::create_dir(&folder).unwrap();
    let path = folder.display();
    let line = format!(
        "cannot compile `{path}`: `folder.proto`: it is a folder, and neither a file nor a pipe"
    );
    assert_eq!(refusal(&proto_file(folder.clone()), "a.B/C"), line);
}

#[test]
fn a_mistake_in_the_file_is_shown_with_its_place() {
    assert_eq!(
        refusal(&proto("broken.proto"), "a.B/C"),
        "cannot compile `../../tests/protos/broken.proto`: broken.proto:3:11: `=` is expected here, \
         but `1` is found"
    );
}

#[test]
fn a_cycle_of_imports_is_refused() {
    let error = refusal(&proto("cycle_a.proto"), "a.B/C");
    assert_eq!(
        error,
        "cannot compile `../../tests/protos/cycle_a.proto`: cycle_b.proto:2:8: the file is imported by \
         `cycle_a.proto`, which it imports"
    );
}

#[test]
fn an_import_that_is_not_there_is_named() {
    assert_eq!(
        refusal(&proto("lost_import.proto"), "a.B/C"),
        "cannot compile `../../tests/protos/lost_import.proto`: lost_import.proto:2:8: \
         `nowhere/to/be/found.proto` is imported, but not found; give the folder that holds it with --import-paths"
    );
}

#[test]
fn a_file_without_a_service_is_refused() {
    for file in ["empty.proto", "no_service.proto"] {
        assert_eq!(
            refusal(&proto(file), "a.B/C"),
            "the schema describes no service, so there is no `a.B/C` to call"
        );
    }
}

#[test]
fn comments_may_be_in_any_encoding() {
    let scratch = Scratch::new();
    let text =
        b"syntax = \"proto3\"; // \xe9t\xe9\nservice A { rpc B(M) returns (M); } message M {}";
    let file = scratch.write("latin.proto", text);
    assert!(load(&proto_file(file), "A/B").is_ok());
}

#[test]
fn endless_nesting_is_refused() {
    let scratch = Scratch::new();
    let deep = format!(
        "syntax = \"proto3\";\n{}{}",
        "message A { ".repeat(100_000),
        "}".repeat(100_000)
    );
    let file = scratch.write("deep.proto", &deep);
    let error = refusal(&proto_file(file), "a.B/C");
    has(&error, "messages are nested more than 31 deep");
}

#[test]
fn a_service_without_a_method_is_named_with_its_methods() {
    for call in [
        "benchmark.BenchmarkService",
        "BenchmarkService",
        "/benchmark.BenchmarkService/",
        ".benchmark.BenchmarkService",
    ] {
        assert_eq!(
            refusal(&benchmark(), call),
            "`benchmark.BenchmarkService` is a service, and no method; it has: `GetSum`, `StreamSum`, `CollectSum`, `EchoSum`",
            "{call}"
        );
    }
}

#[test]
fn a_name_that_is_no_call_is_refused() {
    for call in [
        "",
        ".",
        "/",
        "GetSum",
        "a/b/c",
        "benchmark.Service/",
        "/GetSum",
    ] {
        assert_eq!(
            refusal(&benchmark(), call),
            format!("`{call}` does not name a method; --call takes package.Service/Method")
        );
    }
}

#[test]
fn a_misspelt_method_is_guessed() {
    assert_eq!(
        refusal(&benchmark(), "benchmark.BenchmarkService/StreamSums"),
        "service `benchmark.BenchmarkService` has no method `StreamSums`; did you mean \
         `StreamSum`?"
    );
    assert_eq!(
        refusal(&benchmark(), "benchmark.BenchmarkService/Nonsense"),
        "service `benchmark.BenchmarkService` has no method `Nonsense`; there are: `GetSum`, \
         `StreamSum`, `CollectSum`, `EchoSum`"
    );
}

#[test]
fn a_misspelt_service_is_guessed() {
    let meant = "did you mean `benchmark.BenchmarkService`?";
    assert_eq!(
        refusal(&benchmark(), "BenchmarkService/GetSum"),
        format!("there is no service `BenchmarkService`; {meant}")
    );
    assert_eq!(
        refusal(&benchmark(), "benchmark.BenchmarkServer/GetSum"),
        format!("there is no service `benchmark.BenchmarkServer`; {meant}")
    );
}
