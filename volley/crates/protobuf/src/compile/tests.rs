//! Whole files: what is taken, what is refused and where, and what becomes of options.

use std::collections::HashMap;

use buffa::Message as _;
use buffa_descriptor::DescriptorPool;
use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};
use buffa_descriptor::generated::descriptor::{
    Edition, FileDescriptorProto, FileDescriptorSet, SymbolVisibility, feature_set,
};

mod as_protoc;

use volley_testkit::table::table;

use super::{CompileError, compile};

/// Compiles `root.proto`; the others are beside it.
fn files(files: &[(&str, &str)]) -> Result<Vec<FileDescriptorProto>, CompileError> {
    let files: HashMap<&str, &str> = files.iter().copied().collect();
    compile("root.proto", &mut |name| {
        Ok(files.get(name).map(|text| text.as_bytes().to_vec()))
    })
}

/// The last file, and whether a pool takes it.
fn file(text: &str) -> FileDescriptorProto {
    let mut compiled =
        files(&[("root.proto", text)]).unwrap_or_else(|error| panic!("{error}: {text}"));
    let file = compiled.clone();
    DescriptorPool::new(FileDescriptorSet {
        file,
        ..FileDescriptorSet::default()
    })
    .unwrap();
    compiled.pop().unwrap()
}

/// The place of the fault in `root.proto`.
fn place(text: &str) -> String {
    let error = match files(&[("root.proto", text)]) {
        Ok(_) => return "taken".to_owned(),
        Err(error) => error.to_string(),
    };
    let parts: Vec<&str> = error.splitn(4, ':').collect();
    format!("{}:{}", parts[1], parts[2])
}

/// The options of the first message in hexadecimal.
fn options(text: &str) -> String {
    let file = file(text);
    let bytes = file.message_type[0]
        .options
        .as_option()
        .unwrap()
        .encode_to_vec();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const PROTO2: &str = "syntax = \"proto2\"; ";
const PROTO3: &str = "syntax = \"proto3\"; ";
const E2023: &str = "edition = \"2023\"; ";
const E2024: &str = "edition = \"2024\"; ";

#[test]
fn fields_have_all_that_a_descriptor_says() {
    let file = file(
        "package p; message M { optional int32 a_field = 1 [default = -0x10]; repeated group Some = 2 { optional E e = 1 \
         [default = B]; } map<string, M> m = 3; extensions 100 to max, 50; reserved 60 to 62; reserved 'x'; } \
         enum E { A = -1; B = 0; reserved 5 to max; } extend M { optional bytes ext = 100 [default = '\\xff']; }",
    );
    let message = &file.message_type[0];
    let [a, some, map] = message.field.as_slice() else {
        panic!("{:?}", message.field);
    };
    assert_eq!(a.json_name.as_deref(), Some("aField"));
    assert_eq!(a.default_value.as_deref(), Some("-16"));
    assert_eq!(
        (some.name.as_deref(), some.r#type),
        (Some("some"), Some(Type::TYPE_GROUP))
    );
    assert_eq!(some.type_name.as_deref(), Some(".p.M.Some"));
    assert_eq!(
        (map.label, map.type_name.as_deref()),
        (Some(Label::LABEL_REPEATED), Some(".p.M.MEntry"))
    );
    let entry = &message.nested_type[1];
    assert_eq!(entry.options.as_option().unwrap().map_entry, Some(true));
    assert_eq!(entry.field[1].type_name.as_deref(), Some(".p.M"));
    assert_eq!(
        message.nested_type[0].field[0].default_value.as_deref(),
        Some("B")
    );
    let ranges: Vec<_> = message
        .extension_range
        .iter()
        .map(|range| (range.start, range.end))
        .collect();
    assert_eq!(
        ranges,
        [(Some(100), Some(536_870_912)), (Some(50), Some(51))]
    );
    assert_eq!(message.reserved_range[0].end, Some(63));
    assert_eq!(file.enum_type[0].reserved_range[0].end, Some(i32::MAX));
    assert_eq!(file.extension[0].default_value.as_deref(), Some("\\377"));
    assert_eq!(file.extension[0].extendee.as_deref(), Some(".p.M"));
    assert_eq!(file.syntax, None);
}

#[test]
fn optional_fields_of_proto3_are_alone_in_oneofs() {
    let text = format!(
        "{PROTO3} message M {{ optional int32 a = 1; oneof o {{ int32 b = 2; }} optional int32 _a = 3; }}"
    );
    let message = &file(&text).message_type[0];
    let names: Vec<_> = message
        .oneof_decl
        .iter()
        .filter_map(|oneof| oneof.name.as_deref())
        .collect();
    assert_eq!(names, ["o", "X_a", "XX_a"]);
    let indexes: Vec<_> = message
        .field
        .iter()
        .map(|field| (field.oneof_index, field.proto3_optional))
        .collect();
    assert_eq!(
        indexes,
        [
            (Some(1), Some(true)),
            (Some(0), None),
            (Some(2), Some(true))
        ]
    );
}

#[test]
fn editions_keep_features_and_visibility() {
    let text = format!(
        "{E2024} option features.field_presence = IMPLICIT; local message M {{ M m = 1 [features.message_encoding = \
         DELIMITED, features = {{ }}]; reserved gone; }}"
    );
    assert_eq!(
        place(&text),
        "1:129",
        "a whole feature set after a part of one"
    );
    let text = format!(
        "{E2024} option features.field_presence = IMPLICIT; local message M {{ M m = 1 [features.message_encoding = \
         DELIMITED]; reserved gone; }}"
    );
    let file = file(&text);
    assert_eq!(
        (file.syntax.as_deref(), file.edition),
        (Some("editions"), Some(Edition::EDITION_2024))
    );
    let features = &file.options.as_option().unwrap().features;
    let presence = features.as_option().unwrap().field_presence;
    assert_eq!(presence, Some(feature_set::FieldPresence::IMPLICIT));
    let message = &file.message_type[0];
    assert_eq!(message.visibility, Some(SymbolVisibility::VISIBILITY_LOCAL));
    assert_eq!(message.field[0].r#type, Some(Type::TYPE_MESSAGE));
}

#[test]
fn custom_options_are_encoded_by_their_schema() {
    let schema = "import 'google/protobuf/any.proto'; import 'google/protobuf/descriptor.proto'; package p; message M { \
        OPTIONS } message S { optional sint32 a = 1; repeated int32 b = 2 [packed = true]; map<string, bool> m = 3; optional \
        group G = 4 { optional string t = 1; } optional google.protobuf.Any any = 5; extensions 9; optional double d = 6; } \
        extend S { optional E e = 9; } enum E { Z = 0; N = -1; } extend google.protobuf.MessageOptions { optional S s = \
        1000; repeated float f = 1001; }";
    for [written, expected] in table(
        r"
        option (s).a = -2; => c23e020803
        option (.p.s).a = -2; option (p.s).(e) = N; => c23e020803c23e0b48ffffffffffffffffff01
        option (s) = { b: [1, 2], b: 0x3 a: 1 }; => c23e0708021203010203
        option (s) = { m { key: 'k' } G { t: 'x' 'y' } }; => c23e0d1a050a016b1000230a02787924
        option (s) = { [p.e]: Z; d: -inf }; => c23e0b31000000000000f0ff4800
        option (f) = 1; option deprecated = true; option (f) = inf; => 1801cd3e0000803fcd3e0000807f
        option (s).any = { [type.googleapis.com/p.S] < a: 1 > }; => c23e1f2a1d0a17747970652e676f6f676c65617069732e636f6d2f702e5312020802
    ",
    ) {
        assert_eq!(
            options(&schema.replace("OPTIONS", written)),
            expected,
            "{written}"
        );
    }
    for [written, column] in table(
        r"
        option (s).a = 1; option (s).a = 2; => 128
        option (s) = { a: 1 a: 2 }; => 123
        option (s) = { nope: 1 }; => 118
        option (s) = 5; => 116
        option (s).b.c = 5; => 110
        option (e) = Z; => 110
        option (nope) = 1; => 110
        option deprecated = 1; => 123
        option (f) = 'x'; => 116
        option (s) = { any { [x.y/p.S] { } } }; => 124
    ",
    ) {
        assert_eq!(
            place(&schema.replace("OPTIONS", written)),
            format!("1:{column}"),
            "{written}"
        );
    }
}

#[test]
fn names_are_resolved_from_the_innermost_scope() {
    let taken = "package p.q; message M { message N { } optional N a = 1; optional q.M b = 2; optional .p.q.M.N c = 3; }";
    let fields = file(taken).message_type[0].field.clone();
    let types: Vec<_> = fields
        .iter()
        .filter_map(|field| field.type_name.as_deref())
        .collect();
    assert_eq!(types, [".p.q.M.N", ".p.q.M", ".p.q.M.N"]);
    assert_eq!(
        place("package p.q; message p { } message M { optional p.q.M a = 1; }"),
        "1:49"
    );
    assert_eq!(place("message M { optional a a = 1; }"), "1:22");
    assert_eq!(
        place("message M { } service S { rpc M(.M) returns (M); }"),
        "1:46"
    );
}

#[test]
fn imports_are_seen_directly_and_through_public_ones() {
    let root = "import 'a.proto'; message M { optional B b = 1; }";
    let through = |import| {
        files(&[
            ("root.proto", root),
            ("a.proto", import),
            ("b.proto", "message B { }"),
        ])
    };
    let names: Vec<_> = through("import public 'b.proto';")
        .unwrap()
        .into_iter()
        .filter_map(|file| file.name)
        .collect();
    assert_eq!(names, ["b.proto", "a.proto", "root.proto"]);
    let error = through("import 'b.proto';").unwrap_err().to_string();
    assert_eq!(
        error,
        "root.proto:1:40: `B` is defined in `b.proto`, which is not imported"
    );
    let error = through("import 'c.proto';").unwrap_err().to_string();
    assert_eq!(error, "a.proto:1:8: `c.proto` is imported, but not found");
    let error = through("import 'root.proto';").unwrap_err().to_string();
    assert!(error.starts_with("a.proto:1:8: "), "{error}");
    let error = through("message B { } message M { }")
        .unwrap_err()
        .to_string();
    assert!(error.contains("`M` is already defined"), "{error}");
    let refused = compile("root.proto", &mut |_| Err("no\nright".to_owned())).unwrap_err();
    assert_eq!(refused.to_string(), "`root.proto`: no right");
}

#[test]
fn local_types_are_for_their_file_alone() {
    let other = format!(
        "{E2024} message A {{ message B {{ }} export message C {{ }} }} local enum D {{ D_A = 0; }}"
    );
    for (name, taken) in [("A", true), ("A.B", false), ("A.C", true), ("D", false)] {
        let root = format!("import 'a.proto'; message M {{ optional {name} x = 1; }}");
        assert_eq!(
            files(&[("root.proto", &root), ("a.proto", &other)]).is_ok(),
            taken,
            "{name}"
        );
    }
}

#[test]
fn a_chain_of_imports_may_be_long() {
    let compiled = compile("0", &mut |name| {
        let number: usize = name.parse().unwrap();
        let import = if number < 3000 {
            format!("import '{}';", number + 1)
        } else {
            String::new()
        };
        Ok(Some(import.into_bytes()))
    });
    assert_eq!(compiled.unwrap().len(), 3001);
}

#[test]
fn the_well_known_files_are_complete() {
    let names = [
        "any",
        "api",
        "compiler/plugin",
        "cpp_features",
        "descriptor",
        "duration",
        "empty",
        "field_mask",
        "go_features",
        "java_features",
        "source_context",
        "struct",
        "timestamp",
        "type",
        "wrappers",
    ];
    let imports: Vec<String> = names
        .iter()
        .map(|name| format!("import 'google/protobuf/{name}.proto';"))
        .collect();
    let compiled = files(&[("root.proto", &imports.concat())]).unwrap();
    assert_eq!(compiled.len(), names.len() + 1);
    // Nothing but what is imported.
    assert_eq!(files(&[("root.proto", "")]).unwrap().len(), 1);
}

#[test]
fn what_protoc_refuses_is_refused_at_its_place() {
    for [text, at] in table(
        r#"
        syntax = "proto2"; message M { int32 a = 1; } => 1:32
        syntax = "proto2"; message M { optional int32 a = 0; } => 1:51
        syntax = "proto2"; message M { optional int32 a = 19000; } => 1:51
        syntax = "proto2"; message M { optional int32 a = 1; optional int32 b = 1; } => 1:73
        syntax = "proto2"; message M { optional int32 a = 1; reserved 1; } => 1:51
        syntax = "proto2"; message M { reserved 'a'; optional int32 a = 1; } => 1:61
        syntax = "proto2"; message M { extensions 5; reserved 4 to 6; } => 1:55
        syntax = "proto2"; message M { reserved a; } => 1:41
        syntax = "proto2"; message M { oneof o { } } => 1:42
        syntax = "proto2"; message M { optional int32 a = 1 [default = 2147483648]; } => 1:64
        syntax = "proto2"; message M { repeated int32 a = 1 [default = 1]; } => 1:64
        syntax = "proto2"; message M { optional string a = 1 [packed = true]; } => 1:41
        syntax = "proto2"; message M { map<float, int32> a = 1; } => 1:36
        syntax = "proto2"; message M { } extend M { optional int32 a = 1; } => 1:64
        syntax = "proto2"; enum E { } => 1:25
        syntax = "proto2"; enum E { A = 0; B = 0; } => 1:40
        syntax = "proto2"; enum E { E_A = 0; A = 1; } => 1:38
        syntax = "proto2"; enum E { A = 0; } enum F { A = 0; } => 1:47
        syntax = "proto3"; enum E { A = 1; } => 1:33
        syntax = "proto3"; message M { required int32 a = 1; } => 1:41
        syntax = "proto3"; message M { int32 a = 1 [default = 1]; } => 1:55
        syntax = "proto3"; message M { extensions 1; } => 1:43
        syntax = "proto3"; message M { repeated group A = 1 { } } => 1:41
        syntax = "proto3"; message M { int32 a_b = 1; int32 aB = 2; } => 1:53
        edition = "2023"; message M { optional int32 a = 1; } => 1:31
        edition = "2023"; message M { repeated int32 a = 1 [packed = true]; } => 1:46
        edition = "2023"; message M { int32 a = 1 [features.enum_type = OPEN]; } => 1:53
        edition = "2023"; message M { M a = 1 [features.field_presence = IMPLICIT]; } => 1:33
        edition = "2023"; export message M { } => 1:19
        edition = "2024"; message bad_name { } => 1:27
        edition = "2024"; import weak 'a.proto'; => 1:31
    "#,
    ) {
        assert_eq!(place(text), at, "{text}");
    }
    // The same is right elsewhere.
    assert_eq!(
        place("message M { optional int32 a_b = 1; optional int32 aB = 2; }"),
        "taken"
    );
    assert_eq!(place(&format!("{E2023} message bad_name {{ }}")), "taken");
    assert_eq!(place("enum E { A = 1; }"), "taken");
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth| format!("{}{}", "message M { ".repeat(depth), "} ".repeat(depth));
    assert_eq!(place(&nested(31)), "taken");
    assert_eq!(place(&nested(32)), "1:373");
    let deep = format!(
        "import 'google/protobuf/descriptor.proto'; message S {{ optional S s = 1; }} extend google.protobuf.FileOptions \
         {{ optional S s = 5000; }} option (s) = {{ {} {} }};",
        "s {".repeat(100_000),
        "}".repeat(100_000)
    );
    assert_ne!(place(&deep), "taken");
    let long = format!("option a{} = 1;", ".a".repeat(100_000));
    assert_eq!(place(&long), "1:8");
}

#[test]
fn names_for_oneofs_stay_short() {
    // Each would be longer than the one before it, and there are too many for that.
    let fields = "optional int32 a = 1; ".repeat(100_000);
    let column = PROTO3.len() + "message M { optional int32 a = 1; optional int32 ".len() + 1;
    let found = place(&format!("{PROTO3}message M {{ {fields} }}"));
    assert_eq!(found, format!("1:{column}"));
}

#[test]
fn a_home_of_enums_may_have_many_reserved_numbers() {
    let numbers: Vec<String> = (0..100_000)
        .map(|index| (2 * index + 1).to_string())
        .collect();
    let enums: String = (0..10_000)
        .map(|index| format!("enum E{index} {{ A{index} = 0; }} "))
        .collect();
    let text = format!(
        "{PROTO2}message M {{ reserved {}; {enums} }}",
        numbers.join(",")
    );
    assert_eq!(file(&text).message_type[0].enum_type.len(), 10_000);
}

#[test]
fn ranges_share_short_options() {
    let text = |ranges: usize, option: &str| {
        let numbers: Vec<String> = (1..=ranges).map(|number| number.to_string()).collect();
        format!(
            "{PROTO2}import \"google/protobuf/descriptor.proto\"; extend google.protobuf.ExtensionRangeOptions {{ \
             optional string s = 50000; }}\nmessage M {{ extensions {}\n[(s) = \"{option}\"]; }}",
            numbers.join(",")
        )
    };
    let ranges = &file(&text(1000, "x")).message_type[0].extension_range;
    assert_eq!(ranges.len(), 1000);
    assert!(ranges.iter().all(|range| range.options.is_set()));
    assert_eq!(place(&text(1, &"x".repeat(5 << 20))), "taken");
    assert_eq!(place(&text(100, &"x".repeat(50_000))), "3:1");
}

#[test]
fn an_extension_of_a_message_set_has_the_name_of_its_type_if_it_is_inside_of_it() {
    let text = |inside: &str, outside: &str| {
        format!(
            "{PROTO2}import \"google/protobuf/descriptor.proto\"; message S {{ option message_set_wire_format = true; \
             extensions 4 to max; }} extend google.protobuf.MessageOptions {{ optional S s = 50000; }} \
             message T {{ {inside} }} {outside}\nmessage M {{ option (s) = {{ [T] {{}} }}; }}"
        )
    };
    let extension = "extend S { optional T x = 5; }";
    assert_eq!(place(&text(extension, "")), "taken");
    assert_eq!(place(&text("", extension)), "2:28");
}
