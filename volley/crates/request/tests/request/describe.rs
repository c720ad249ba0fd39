//! Declarations as text: what is in it, and how much of it there is.

use std::collections::BTreeMap;

use volley_protobuf::Pool;
use volley_protobuf::compile::compile;
use volley_protobuf::descriptor::feature_set::{FieldPresence, MessageEncoding};
use volley_protobuf::descriptor::field_descriptor_proto::{Label, Type};
use volley_protobuf::descriptor::{
    DescriptorProto, Edition, FeatureSet, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
    FileOptions,
};
use volley_request::schema::{self, text};

use crate::support::proto;
use volley_testkit::texts::{begins, has};

/// The files of these texts; the last one imports the others.
fn files(texts: &[(&'static str, &str)]) -> Vec<FileDescriptorProto> {
    let all: BTreeMap<&str, Vec<u8>> = texts
        .iter()
        .map(|(name, text)| (*name, text.as_bytes().to_vec()))
        .collect();
    let mut open = move |name: &str| Ok(all.get(name).cloned());
    let files = compile(texts.last().unwrap().0, &mut open);
    files.unwrap_or_else(|error| panic!("{error}"))
}

fn compiled(texts: &[(&'static str, &str)]) -> Pool {
    Pool::new(files(texts)).unwrap()
}

/// A file that is described is the same file again.
fn same(texts: &[(&'static str, &str)]) -> String {
    let (name, _) = *texts.last().unwrap();
    let pool = compiled(texts);
    let whole = text::declaration(&pool, name).unwrap();
    let mut again = texts.to_vec();
    again.last_mut().unwrap().1 = &whole;
    let again = Pool::new(files(&again)).unwrap();
    assert_eq!(again.file(name), pool.file(name), "{whole}");
    whole
}

fn field(name: &str, number: i32, kind: Type, of: &str) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::LABEL_OPTIONAL),
        r#type: Some(kind),
        type_name: Some(of.to_owned()).filter(|of| !of.is_empty()),
        ..FieldDescriptorProto::default()
    }
}

/// The messages of a file; what is nested in them in the order of names: a compiler adds the entries of maps.
fn sorted(file: &FileDescriptorProto) -> Vec<DescriptorProto> {
    let mut messages = file.message_type.clone();
    for message in &mut messages {
        message.nested_type.sort_by(|a, b| a.name.cmp(&b.name));
    }
    messages
}

#[test]
fn declarations_are_the_text_that_they_were_compiled_from() {
    let old = r#"
        syntax = "proto2";
        package old;
        message M {
            enum E { option allow_alias = true; A = 0; B = 0; C = -1 [deprecated = true]; reserved 5, 7 to max; reserved "Z"; }
            message N { optional N n = 1; }
            required int32 a = 1;
            optional string s = 2 [default = "q\"\n\\"];
            optional bytes b = 3 [default = "\001\377"];
            optional E e = 4 [default = C];
            optional double d = 5 [default = -inf];
            repeated int32 p = 6 [packed = true];
            repeated group G = 7 { optional N n = 1; }
            oneof o { int32 x = 8; N y = 9 [deprecated = true]; }
            map<string, N> m = 10;
            extensions 100 to 199, 1000 to max;
            reserved 11, 20 to 30, 2000;
            reserved "gone", "lost";
        }
        service S { rpc Get(M) returns (stream M.N); rpc Put(stream M) returns (M); rpc Both(stream M) returns (stream M); }
        service Empty {}
    "#
    .replace("1000 to max", "1000 to 1999");
    for (pool, file, header) in [
        (
            compiled(&[("old.proto", &old)]),
            "old.proto",
            "syntax = \"proto2\"; package old;\n",
        ),
        (
            schema::read(&proto("everything.proto")).unwrap().unwrap(),
            "everything.proto",
            "syntax = \"proto3\"; package everything; import \"common/types.proto\";
             import \"google/protobuf/timestamp.proto\";
             import \"google/protobuf/wrappers.proto\";\n",
        ),
    ] {
        let before = pool.file(file).unwrap();
        let messages = before.message_type.iter().map(|one| &one.name);
        let services = before.service.iter().map(|one| &one.name);
        let full = |name: &Option<String>| {
            format!(
                "{}.{}",
                before.package.as_deref().unwrap(),
                name.as_deref().unwrap()
            )
        };
        let names: Vec<String> = messages.chain(services).map(full).collect();
        let mut written = header.to_owned();
        for name in names {
            written += &text::declaration(&pool, &name).unwrap();
        }
        let common = std::fs::read_to_string("../../tests/protos/common/types.proto").unwrap();
        let again = compiled(&[
            ("common/types.proto", &common),
            (
                if file == "old.proto" {
                    "old.proto"
                } else {
                    "everything.proto"
                },
                &written,
            ),
        ]);
        let after = again.file(file).unwrap();
        assert_eq!(sorted(before), sorted(after), "{written}");
        assert_eq!(before.service, after.service, "{written}");
    }
}

#[test]
fn whatever_has_a_name_is_described_with_its_options() {
    let options = "syntax = \"proto3\"; package o; import \"google/protobuf/descriptor.proto\";
        message Note { string text = 1; repeated int32 all = 2; }
        extend google.protobuf.FieldOptions { Note note = 50001; }
        extend google.protobuf.MethodOptions { repeated string tag = 50002; }
        extend google.protobuf.EnumValueOptions { double weight = 50003; }";
    let file = r#"syntax = "proto3"; package d; import "o.proto";
        option java_package = "x.y";
        enum E { option allow_alias = true; ZERO = 0 [(o.weight) = 1.5]; NIL = 0 [deprecated = true]; }
        message M { option deprecated = true;
            int32 user_id = 1 [json_name = "uid", (o.note) = { text: "q\"" all: [1, 2] }];
            oneof choice { E e = 2 [jstype = JS_STRING]; string s = 3; } }
        service S { option deprecated = true;
            rpc Get(M) returns (M) { option idempotency_level = IDEMPOTENT; option (o.tag) = "a"; option (o.tag) = "b"; } }"#
        .replace("[jstype = JS_STRING]", "");
    let pool = compiled(&[("o.proto", options), ("d.proto", &file)]);
    let field =
        r#"int32 user_id = 1 [json_name = "uid", (o.note) = { text: "q\"" all: 1 all: 2 }];"#;
    let choice = "oneof choice {\n  E e = 2;\n  string s = 3;\n}\n".replace("E e", "d.E e");
    let value = "ZERO = 0 [(o.weight) = 1.5];";
    let method = "rpc Get(d.M) returns (d.M) {\n  option idempotency_level = IDEMPOTENT;\n  option (o.tag) = \"a\";\n  option (o.tag) = \"b\";\n}\n";
    for (symbol, expected) in [
        ("d.M.user_id", format!("{field}\n")),
        (".d.M.choice", choice.clone()),
        ("d.ZERO", format!("{value}\n")),
        ("d.E.ZERO", format!("{value}\n")),
        ("d.NIL", "NIL = 0 [deprecated = true];\n".to_owned()),
        (
            "o.tag",
            "extend google.protobuf.MethodOptions {\n  repeated string tag = 50002;\n}\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(
            text::declaration(&pool, symbol).as_deref(),
            Some(&*expected),
            "{symbol}"
        );
    }
    let of_method = text::declaration(&pool, "d.S/Get").unwrap();
    assert!(
        of_method.starts_with(method)
            && of_method.contains("message M {\n  option deprecated = true;\n"),
        "{of_method}"
    );
    // A file, which says the same again.
    let whole = text::declaration(&pool, "d.proto").unwrap();
    assert!(whole.starts_with("syntax = \"proto3\";\npackage d;\nimport \"o.proto\";\noption java_package = \"x.y\";\n"), "{whole}");
    let again = compiled(&[("o.proto", options), ("d.proto", &whole)]);
    assert_eq!(again.file("d.proto"), pool.file("d.proto"));
    for nothing in ["d.X", "d.M.x", "d.E.X", "x.proto", ""] {
        assert_eq!(text::declaration(&pool, nothing), None, "{nothing}");
    }
}

#[test]
fn a_file_of_an_edition_is_described_as_one() {
    let mut files: Vec<FileDescriptorProto> = compiled(&[(
        "e.proto",
        "syntax = \"proto3\"; package e; message M { int32 a = 1; M b = 2; repeated M c = 3; }",
    )])
    .files()
    .cloned()
    .collect();
    let file = &mut files[0];
    file.syntax = Some("editions".to_owned());
    file.edition = Some(Edition::EDITION_2023);
    let features = |presence, encoding| FeatureSet {
        field_presence: presence,
        message_encoding: encoding,
        ..FeatureSet::default()
    };
    let of_file = features(Some(FieldPresence::IMPLICIT), None);
    file.options = Some(FileOptions {
        features: Some(of_file).into(),
        ..FileOptions::default()
    })
    .into();
    let of_field = features(None, Some(MessageEncoding::DELIMITED));
    file.message_type[0].field[1].options = Some(FieldOptions {
        features: Some(of_field).into(),
        ..FieldOptions::default()
    })
    .into();
    // An edition of which nobody knows yet does not hide the others.
    let mut later = file.clone();
    later.name = Some("later.proto".to_owned());
    later.package = Some("later".to_owned());
    later.edition = None;
    later.message_type[0].field.truncate(1);
    let pool = Pool::new(vec![file.clone(), later]).unwrap();
    assert_eq!(
        text::declaration(&pool, "e.M").unwrap(),
        "edition = \"2023\";\noption features.field_presence = IMPLICIT;\n\n\
         message M {\n  int32 a = 1;\n  e.M b = 2 [features.message_encoding = DELIMITED];\n  repeated e.M c = 3;\n}\n"
    );
    begins(
        &text::declaration(&pool, "later.M").unwrap(),
        "edition = \"unknown\";\n",
    );
}

#[test]
fn messages_that_contain_themselves_as_groups_are_described_once() {
    let field = |name: &str, kind: Type, of: &str| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(i32::from(name.as_bytes()[0])),
        label: Some(Label::LABEL_OPTIONAL),
        r#type: Some(kind),
        type_name: Some(of.to_owned()),
        ..FieldDescriptorProto::default()
    };
    let message = |name: &str, field: Vec<_>, nested_type: Vec<_>| DescriptorProto {
        name: Some(name.to_owned()),
        field,
        nested_type,
        ..DescriptorProto::default()
    };
    let group = |name: &str, of: &str| field(name, Type::TYPE_GROUP, of);
    let nested = message("N", vec![group("n", ".A.N"), group("a", ".A")], vec![]);
    let fields = vec![
        group("a", ".A"),
        group("b", ".B"),
        field("m", Type::TYPE_MESSAGE, ".A"),
        group("n", ".A.N"),
        group("o", ".A.N"),
    ];
    let file = FileDescriptorProto {
        name: Some("a.proto".to_owned()),
        message_type: vec![
            message("A", fields, vec![nested]),
            message("B", vec![group("a", ".A")], vec![]),
        ],
        ..FileDescriptorProto::default()
    };
    let pool = Pool::new(vec![file]).unwrap();
    assert_eq!(
        text::declaration(&pool, "A").unwrap(),
        "\
message A {
  optional A a = 97 [features.message_encoding = DELIMITED];
  optional B b = 98 [features.message_encoding = DELIMITED];
  optional A m = 109;
  optional group N = 110 {
    optional A.N n = 110 [features.message_encoding = DELIMITED];
    optional A a = 97 [features.message_encoding = DELIMITED];
  }
  optional A.N o = 111 [features.message_encoding = DELIMITED];
}
"
    );
    let of_b = "message B {\n  optional A a = 97 [features.message_encoding = DELIMITED];\n}\n";
    assert_eq!(text::declaration(&pool, "B").unwrap(), of_b);
}

#[test]
fn a_group_is_shown_once_whatever_fields_are_named_as_it() {
    let depth = 20;
    let mut inner = DescriptorProto {
        name: Some("Gg".to_owned()),
        ..DescriptorProto::default()
    };
    for level in (1..depth).rev() {
        let of = format!(".A{}", ".Gg".repeat(level));
        let name = if level == 1 { "A" } else { "Gg" };
        let names = ["gg", "gG", "GG"].iter().zip(1..);
        let mut field: Vec<_> = names
            .map(|(name, number)| field(name, number, Type::TYPE_GROUP, &of))
            .collect();
        // An extension in the same scope has the name as well.
        let extension = FieldDescriptorProto {
            extendee: Some(".X".to_owned()),
            number: Some(i32::try_from(level).unwrap()),
            ..field[0].clone()
        };
        field[0].name = Some(if level % 2 == 0 { "gg" } else { "Gg" }.to_owned());
        inner = DescriptorProto {
            name: Some(name.to_owned()),
            field,
            extension: vec![extension],
            nested_type: vec![inner],
            ..DescriptorProto::default()
        };
    }
    let mut all = files(&[(
        "a.proto",
        "syntax = \"proto2\"; message X { extensions 1 to 100; }",
    )]);
    all[0].message_type.push(inner);
    let pool = Pool::new(all).unwrap();
    let text = text::declaration(&pool, "A").unwrap();
    assert_eq!(text.matches("group Gg").count(), depth - 1);
    assert_eq!(text.matches("message Gg").count(), 0);
    assert_eq!(text.matches("= DELIMITED").count(), 3 * (depth - 1));
}

#[test]
fn groups_are_shown_where_they_are_declared() {
    let whole = same(&[(
        "a.proto",
        "syntax = \"proto2\"; package a;
         message M { extensions 100 to 200; oneof o { group Two = 1 { optional int32 x = 1; } int32 n = 2; }
                     extend M { repeated group Own = 101 { optional M m = 1; } } }
         message Plain { optional group Three = 1 { optional group Four = 2 {} } }
         extend M { optional group Top = 100 { optional int32 y = 1; } }",
    )]);
    assert_eq!(whole.matches(" group ").count(), 5, "{whole}");
    assert_eq!(whole.matches("message ").count(), 2, "{whole}");
}

#[test]
fn a_message_of_many_fields_and_a_file_of_many_messages_are_shown_whole() {
    let count = 20_000;
    let mut all = files(&[(
        "a.proto",
        "syntax = \"proto3\"; message A { oneof o { int32 x = 30000; } }",
    )]);
    let plain = |number| field(&format!("f{number}"), number, Type::TYPE_INT32, "");
    all[0].message_type[0]
        .field
        .extend((1..=count / 2).map(plain));
    // As many in a oneof, which are shown where the first one is.
    let more = (30_001..30_001 + count / 2).map(|number| FieldDescriptorProto {
        oneof_index: Some(0),
        ..plain(number)
    });
    all[0].message_type[0].field.extend(more);
    all[0]
        .message_type
        .extend((0..count).map(|number| DescriptorProto {
            name: Some(format!("M{number}")),
            field: vec![field("f", 1, Type::TYPE_INT32, "")],
            ..DescriptorProto::default()
        }));
    let pool = Pool::new(all).unwrap();
    let text = text::declaration(&pool, "a.proto").unwrap();
    assert_eq!(text.matches(" int32 f = 1;\n").count(), count as usize);
    let one = text::declaration(&pool, "A").unwrap();
    assert_eq!(one.lines().count(), 1 + 1 + 1 + count as usize + 1 + 1);
    begins(
        &one,
        "message A {\n  oneof o {\n    int32 x = 30000;\n    int32 f30001",
    );
}

#[test]
fn a_file_of_an_edition_keeps_its_keywords_and_its_reserved_names() {
    let whole = same(&[
        (
            "o.proto",
            "syntax = \"proto2\"; package o; import \"google/protobuf/descriptor.proto\";
             extend google.protobuf.MessageOptions { optional string tag = 50001; }",
        ),
        (
            "a.proto",
            "edition = \"2024\"; package a; import option \"o.proto\";
             local message Hidden { option (o.tag) = \"x\"; string s = 1; reserved gone, lost; reserved 5; }
             export message Shown { Hidden h = 1; export message In {} local enum Le { LE_UNSET = 0; } }
             local enum En { EN_UNSET = 0; reserved old; }
             message Plain {}",
        ),
    ]);
    for line in [
        "import option \"o.proto\";",
        "local message Hidden {",
        "export message Shown {",
        "  export message In {}",
        "  local enum Le {",
        "local enum En {",
        "  reserved old;",
        "  reserved gone, lost;",
        "message Plain {}",
    ] {
        assert!(whole.lines().any(|one| one == line), "{line}\n{whole}");
    }
}

#[test]
fn extensions_are_declared_as_their_ranges_are() {
    let whole = same(&[(
        "a.proto",
        "syntax = \"proto2\"; package a;
         message M { extensions 10 to 20, 30;
             extensions 4 to 5 [declaration = { number: 4 full_name: \".a.e\" type: \".a.T\" }, declaration = { number: 5 reserved: true }];
             extensions 100 to max [verification = UNVERIFIED]; }
         message T {} extend M { optional T e = 4; }",
    )]);
    assert!(whole.contains("  extensions 10 to 20, 30;\n"), "{whole}");
    has(&whole, " to max [verification = UNVERIFIED];");
}

#[test]
fn options_that_the_schema_does_not_know_are_told() {
    let options = "syntax = \"proto2\"; package o; import \"google/protobuf/descriptor.proto\";
        extend google.protobuf.FileOptions { optional int32 a = 50000; }
        extend google.protobuf.MessageOptions { optional int32 b = 50001; }
        extend google.protobuf.FieldOptions { optional string c = 50002; repeated string d = 50003; }
        extend google.protobuf.EnumOptions { optional int32 e = 50004; }
        extend google.protobuf.EnumValueOptions { optional int32 f = 50005; }
        extend google.protobuf.ServiceOptions { optional int32 g = 50006; }
        extend google.protobuf.MethodOptions { optional int32 h = 50007; }
        extend google.protobuf.OneofOptions { optional int32 i = 50008; }
        extend google.protobuf.ExtensionRangeOptions { optional int32 j = 50009; }";
    let text = "syntax = \"proto2\"; package a; import \"o.proto\"; option (o.a) = 1;
        message M { option (o.b) = 1; optional int32 n = 1 [deprecated = true, (o.c) = \"x\", (o.d) = \"y\", (o.d) = \"z\"];
          oneof one { option (o.i) = 1; int32 m = 2; } extensions 5 to 9 [(o.j) = 1];
          optional group G = 3 [(o.c) = \"g\"] {} }
        enum E { option (o.e) = 1; ZERO = 0 [(o.f) = 1]; }
        service S { option (o.g) = 1; rpc Call(M) returns (M) { option (o.h) = 1; } }";
    let mut all = files(&[("o.proto", options), ("a.proto", text)]);
    let known = Pool::new(all.clone()).unwrap();
    let whole = text::declaration(&known, "a.proto").unwrap();
    assert!(!whole.contains("//"), "{whole}");
    all.retain(|file| file.name.as_deref() == Some("a.proto"));
    let pool = Pool::new(all).unwrap();
    let whole = text::declaration(&pool, "a.proto").unwrap();
    for (number, before) in [
        ("50000", "import \"o.proto\";"),
        ("50001", "message M {"),
        ("50002, 50003", ""),
        ("50004", "enum E {"),
        ("50005", ""),
        ("50006", "service S {"),
        ("50007", "  rpc Call(a.M) returns (a.M) {"),
        ("50008", "  oneof one {"),
        ("50009", ""),
    ] {
        let note = format!("// unknown options: {number}");
        let lines: Vec<&str> = whole.lines().collect();
        let at = lines.iter().position(|line| line.trim() == note);
        let at = at.unwrap_or_else(|| panic!("{number}\n{whole}"));
        assert!(before.is_empty() || lines[at - 1] == before, "{whole}");
    }
    has(
        &whole,
        "  // unknown options: 50002, 50003\n  optional int32 n = 1 [deprecated = true];\n",
    );
    has(
        &whole,
        "  // unknown options: 50002\n  optional group G = 3 {}\n",
    );
    // It can be compiled without them.
    let text = whole.replace("import \"o.proto\";", "");
    assert!(Pool::new(files(&[("a.proto", &text)])).is_ok());
}
