//! Files of any compiler and server make a pool.

use buffa::Message as _;

use super::super::descriptor::field_descriptor_proto::{Label, Type};
use super::super::descriptor::{
    Edition, FeatureSet, FieldOptions, FileDescriptorProto, FileDescriptorSet, FileOptions,
    feature_set,
};
use super::super::{FilesError, Kind, Pool, files_of_set};
use super::{compile, everything, pool};

/// The files of one text.
fn files(text: &str) -> Vec<FileDescriptorProto> {
    let text = text.to_owned();
    let mut open = move |name: &str| Ok((name == "a.proto").then(|| text.clone().into_bytes()));
    compile("a.proto", &mut open).unwrap_or_else(|error| panic!("{error}"))
}

fn set(files: Vec<FileDescriptorProto>) -> Vec<u8> {
    let set = FileDescriptorSet {
        file: files,
        ..FileDescriptorSet::default()
    };
    set.encode_to_vec()
}

#[test]
fn sets_behind_each_other_are_one_set() {
    let bytes = set(everything().files().cloned().collect());
    let other = set(files("syntax = \"proto3\"; package x; message X {}"));
    let all = [&bytes[..], &bytes, &other].concat();
    let pool = Pool::new(files_of_set(&all).unwrap()).unwrap();
    assert_eq!(pool.files().count(), everything().files().count() + 1);
    assert!(pool.message("x.X").is_some() && pool.service("everything.Everything").is_some());
}

#[test]
fn two_files_of_one_name_are_refused_only_if_they_differ() {
    let one = files("syntax = \"proto3\"; message A { int32 a = 1; }");
    let other = files("syntax = \"proto3\"; message A { int32 b = 1; }");
    let again = [one.clone(), one.clone()].concat();
    assert_eq!(Pool::new(again).unwrap().messages().count(), 1);
    let error = Pool::new([one, other].concat()).unwrap_err();
    assert_eq!(error, FilesError::Twice("a.proto".to_owned()));
}

#[test]
fn names_that_are_the_same_in_json_each_keep_their_own() {
    for syntax in ["proto2", "proto3"] {
        let label = if syntax == "proto2" { "optional" } else { "" };
        let mut files = files(&format!(
            "syntax = \"{syntax}\"; message A {{ {label} int32 user_id = 1; {label} int32 other = 2;
             {label} int32 third_name = 3; {label} int32 free_one = 4; }}"
        ));
        let fields = &mut files[0].message_type[0].field;
        fields[1].name = Some("userId".to_owned());
        fields[1].json_name = Some("userId".to_owned());
        fields[2].json_name = Some("user_id".to_owned());
        let pool = Pool::new(files).unwrap();
        let message = pool.message("A").unwrap();
        let number = |name| message.field_by_name(name).map(|field| field.number());
        for (name, expected) in [
            ("user_id", Some(1)),
            ("userId", Some(2)),
            ("third_name", Some(3)),
            ("free_one", Some(4)),
            ("freeOne", Some(4)),
            ("thirdName", None),
        ] {
            assert_eq!(number(name), expected, "{syntax} {name}");
        }
        let declared = |number| message.field(number).unwrap().declared_json_name();
        assert_eq!(declared(1).as_deref(), Some("userId"));
        assert_eq!(declared(3).as_deref(), Some("user_id"));
    }
}

/// A file of an edition, made of one of proto3.
fn of_edition(edition: Option<Edition>, text: &str) -> FileDescriptorProto {
    let mut file = files(text).remove(0);
    file.syntax = Some("editions".to_owned());
    file.edition = edition;
    file
}

#[test]
fn features_of_editions_are_those_of_the_file_and_of_the_field() {
    for edition in [
        Some(Edition::EDITION_2023),
        Some(Edition::EDITION_2024),
        None,
    ] {
        let mut file = of_edition(
            edition,
            "syntax = \"proto3\"; package e; message M { int32 a = 1; int32 b = 2; M c = 3; map<int32, M> d = 4; E e = 5; int32 f = 6; }
             enum E { Z = 0; }",
        );
        let features = |features| FieldOptions {
            features: Some(features).into(),
            ..FieldOptions::default()
        };
        let fields = &mut file.message_type[0].field;
        fields[1].options = Some(features(FeatureSet {
            field_presence: Some(feature_set::FieldPresence::IMPLICIT),
            ..FeatureSet::default()
        }))
        .into();
        fields[2].options = Some(features(FeatureSet {
            message_encoding: Some(feature_set::MessageEncoding::DELIMITED),
            ..FeatureSet::default()
        }))
        .into();
        fields[5].options = Some(features(FeatureSet {
            field_presence: Some(feature_set::FieldPresence::LEGACY_REQUIRED),
            ..FeatureSet::default()
        }))
        .into();
        let beside = files("syntax = \"proto3\"; package o; message Old { int32 a = 1; }");
        let mut beside = beside;
        beside[0].name = Some("old.proto".to_owned());
        let pool = Pool::new([vec![file], beside].concat()).unwrap();
        let old = pool.message("o.Old").unwrap();
        assert!(!old.field(1).unwrap().has_presence());
        let message = pool.message("e.M").unwrap();
        let field = |number| message.field(number).unwrap();
        assert!(field(1).has_presence() && !field(2).has_presence());
        assert!(field(3).is_delimited() && !field(4).is_delimited() && !field(5).is_closed_enum());
        assert!(field(6).is_required() && !field(1).is_required());
        assert_eq!(
            message.decode(&[8, 1]).unwrap_err().to_string(),
            "the required field `f` is missing"
        );
        // Number 3 holds a message between two keys.
        let whole = [0x1b, 8, 7, 0x30, 1, 0x1c, 0x30, 2];
        let decoded = message.decode(&whole).unwrap();
        let json = message.to_json(&decoded).to_string();
        assert_eq!(json, r#"{"c":{"a":7,"f":1},"f":2}"#);
        assert_eq!(super::super::encode(&decoded), whole);
    }
}

#[test]
fn a_file_that_is_missing_makes_only_its_own_types_useless() {
    let mut files = files(
        "syntax = \"proto3\"; package m; import \"google/protobuf/timestamp.proto\"; import \"google/protobuf/struct.proto\";
         message M { google.protobuf.Timestamp when = 1; int32 own = 2; map<string, google.protobuf.Value> all = 3;
                     google.protobuf.NullValue none = 4; }
         service S { rpc Own(M) returns (M); rpc Other(google.protobuf.Timestamp) returns (M); }",
    );
    files.retain(|file| file.name.as_deref() == Some("a.proto"));
    let pool = Pool::new(files).unwrap();
    assert_eq!(pool.files().count(), 1);
    let names: Vec<String> = pool
        .messages()
        .map(|one| one.full_name().to_owned())
        .collect();
    assert_eq!(names, ["m.M", "m.M.AllEntry"]);
    let message = pool.message("m.M").unwrap();
    let Kind::Message(missing) = message.field(1).unwrap().kind() else {
        panic!("it is a message")
    };
    assert!(missing.is_missing() && pool.message("google.protobuf.Timestamp").is_none());
    // Its bytes are shown beside what can be read.
    let reply = message.decode(&[0x0a, 2, 8, 5, 0x10, 3, 0x20, 9]).unwrap();
    assert_eq!(
        message.to_json(&reply).to_string(),
        r#"{"when":"CAU=","own":3,"none":null}"#
    );
    let service = pool.service("m.S").unwrap();
    assert!(service.method("Other").unwrap().input().is_missing());
    assert!(!service.method("Own").unwrap().input().is_missing());
}

#[test]
fn extensions_without_a_place_are_left_out() {
    let text = "syntax = \"proto2\"; package x; import \"google/protobuf/descriptor.proto\";
        message M { extensions 10 to 20; }
        extend M { optional int32 good = 10; optional M more = 11; }
        extend google.protobuf.FieldOptions { optional int32 lost = 50000; }";
    let mut all = files(text);
    all.retain(|file| file.name.as_deref() == Some("a.proto"));
    let mut twice = all[0].extension[0].clone();
    twice.name = Some("twice".to_owned());
    all[0].extension.push(twice);
    let pool = Pool::new(all).unwrap();
    let names: Vec<String> = pool
        .message("x.M")
        .unwrap()
        .extensions()
        .map(|one| one.full_name())
        .collect();
    assert_eq!(names, ["x.good", "x.more"]);
    assert!(pool.extension("x.lost").is_none() && pool.extension("x.twice").is_none());
}

#[test]
fn a_field_that_must_be_there_may_be_one_by_its_scope_and_is_never_an_extension() {
    let text = "syntax = \"proto2\"; message M { optional M inner = 1; extensions 10; } extend M { optional int32 e = 10; }";
    let mut file = of_edition(Some(Edition::EDITION_2023), text);
    file.extension[0].label = Some(Label::LABEL_REQUIRED);
    let extended = Pool::new(vec![file.clone()]).unwrap();
    assert!(!extended.extension("e").unwrap().is_required());
    file.message_type[0].field[0].r#type = Some(Type::TYPE_INT32);
    file.message_type[0].field[0].type_name = None;
    file.options = Some(FileOptions {
        features: Some(FeatureSet {
            field_presence: Some(feature_set::FieldPresence::LEGACY_REQUIRED),
            ..FeatureSet::default()
        })
        .into(),
        ..FileOptions::default()
    })
    .into();
    let message = Pool::new(vec![file]).unwrap().message("M").unwrap();
    let error = message.decode(&[]).unwrap_err().to_string();
    assert_eq!(error, "the required field `inner` is missing");
    assert!(message.decode(&[8, 1]).is_ok());
}

#[test]
fn names_have_a_limit_which_scopes_reach_together() {
    let text = "syntax = \"proto3\"; package a; message M { message N {} } service S { rpc A(M) returns (M.N); }";
    let with = |package: usize, nested: usize, service: usize| {
        let mut file = files(text).remove(0);
        file.package = Some("p".repeat(package));
        file.message_type[0].nested_type[0].name = Some("n".repeat(nested));
        file.service[0].name = Some("s".repeat(service));
        file.service[0].method.clear();
        Pool::new(vec![file])
    };
    assert_eq!(with(300, 209, 1).unwrap().messages().count(), 2);
    assert!(with(300, 1, 211).is_ok());
    let long = Err(FilesError::Long("a.proto".to_owned()));
    assert_eq!(with(300, 211, 1), long);
    assert_eq!(with(300, 1, 213), long);
    assert_eq!(with(520, 1, 1), long);
}

#[test]
fn types_may_be_named_as_seen_from_where_they_are_used() {
    let mut all =
        files("syntax = \"proto3\"; package a.b; message M { message N {} N n = 1; M m = 2; }");
    let fields = &mut all[0].message_type[0].field;
    fields[0].type_name = Some("N".to_owned());
    fields[0].r#type = None;
    fields[1].type_name = Some("b.M".to_owned());
    let pool = Pool::new(all).unwrap();
    let message = pool.message("a.b.M").unwrap();
    let kinds: Vec<String> = message
        .fields()
        .map(|field| field.kind().to_string())
        .collect();
    assert_eq!(kinds, ["a.b.M.N", "a.b.M"]);
}

#[test]
fn names_are_seen_through_any_number_of_scopes() {
    // As many scopes as a name may have, and a lot of names that only the outermost one knows.
    let package = vec!["a"; 250].join(".");
    let text = format!(
        "syntax = \"proto3\"; package {package}; message M {{ message N {{ M m = 1; N n = 2; }} message b {{}} }}"
    );
    let mut all = files(&text);
    let outer = files("syntax = \"proto3\"; message Far { message In {} }");
    let outer = FileDescriptorProto {
        name: Some("far.proto".to_owned()),
        ..outer[0].clone()
    };
    let message = &mut all[0].message_type[0];
    let field = |name: &str, number: i32| {
        let mut field = message.nested_type[0].field[0].clone();
        (field.name, field.number) = (Some(format!("f{number}")), Some(number));
        (field.json_name, field.type_name) = (None, Some(name.to_owned()));
        field
    };
    let named = ["a.M", "M.N", "N", "b", "Far", "Far.In", "a.a.M", "No", "a"];
    let many: Vec<_> = (1..18_000)
        .map(|number| field(named[number as usize % named.len()], number))
        .collect();
    message.field = many;
    let pool = Pool::new(vec![all.remove(0), outer]).unwrap();
    let message = pool.message(&format!("{package}.M")).unwrap();
    let kind = |number: u32| message.field(number).unwrap().kind().to_string();
    let found: Vec<String> = (9..18).map(kind).collect();
    let own = |name: &str| format!("{package}.M{name}");
    let expected = [
        own(""),
        own(".N"),
        own(".N"),
        own(".b"),
        "Far".to_owned(),
        "Far.In".to_owned(),
    ];
    assert_eq!(found[..6], expected);
    assert_eq!(found[6..], [own(""), "No".to_owned(), "a".to_owned()]);
    let inner = message.pool().message(&own(".N")).unwrap();
    let kinds = inner.fields().map(|field| field.kind().to_string());
    assert_eq!(kinds.collect::<Vec<_>>(), [own(""), own(".N")]);
    assert!(pool.file_of("No").is_none() && pool.messages().count() == 5);
}

#[test]
fn only_known_syntaxes_are_taken() {
    let mut all = files("syntax = \"proto3\"; message M {}");
    all[0].syntax = Some("proto9".to_owned());
    assert_eq!(
        Pool::new(all).unwrap_err(),
        FilesError::Syntax("proto9".to_owned())
    );
}

#[test]
fn what_a_file_declares_is_found_by_its_name() {
    let pool = pool(
        "syntax = \"proto2\"; package p.q;
         message M { enum E { ONE = 1; TWO = 2; } optional E e = 1 [default = TWO]; optional E f = 2;
                     optional double d = 3 [default = -inf]; optional bytes b = 7 [default = '\\001\\377\\n']; optional group G = 4 { required int32 in = 1; }
                     extensions 5; extend M { optional string note = 5; } oneof o { int32 x = 6; } }",
    );
    let message = pool.message("p.q.M").unwrap();
    assert_eq!((message.name(), message.parent()), ("M", None));
    let group = message.field(4).unwrap();
    assert!(group.is_delimited());
    assert_eq!(
        group.kind().as_message().unwrap().parent(),
        Some(message.clone())
    );
    let default = |number| super::super::default_value(&message.field(number).unwrap());
    assert_eq!(default(1), Some(super::super::Value::EnumNumber(2)));
    assert_eq!(default(2), Some(super::super::Value::EnumNumber(1)));
    assert_eq!(
        default(3),
        Some(super::super::Value::F64(f64::NEG_INFINITY))
    );
    assert_eq!(default(4), None);
    let bytes = super::super::Value::Bytes(b"\x01\xff\n".to_vec());
    assert_eq!(default(7), Some(bytes));
    let note = pool.extension("p.q.M.note").unwrap();
    assert_eq!(note.message(), message);
    assert_eq!(note.proto().unwrap().name.as_deref(), Some("note"));
    assert_eq!(message.field(6).unwrap().oneof().unwrap().name(), "o");
    for symbol in [
        "p.q.M",
        "p.q.M.E",
        "p.q.M.e",
        "p.q.M.TWO",
        "p.q.M.note",
        "p.q.M.o",
    ] {
        assert!(pool.file_of(symbol).is_some(), "{symbol}");
    }
}

#[test]
fn no_type_has_a_name_that_begins_with_a_dot() {
    let text = "syntax = \"proto3\"; package a; message M { E e = 1; enum E { ZERO = 0; } }";
    type Change = fn(&mut FileDescriptorProto);
    let changes: [(Change, &str); 4] = [
        (|file| file.package = Some(".a".to_owned()), ".a.M"),
        (
            |file| {
                let of = &mut file.message_type[0];
                file.package = None;
                file.enum_type.append(&mut of.enum_type);
                file.enum_type[0].name = Some(".E".to_owned());
            },
            ".E",
        ),
        (
            |file| {
                file.package = None;
                file.message_type[0].name = None;
                file.message_type[0].enum_type[0].name = Some(".E".to_owned());
            },
            ".E",
        ),
        (
            |file| file.message_type[0].field[0].type_name = Some("..E".to_owned()),
            ".E",
        ),
    ];
    for (change, name) in changes {
        let mut file = files(text).remove(0);
        change(&mut file);
        let error = Pool::new(vec![file]).unwrap_err();
        assert_eq!(error, FilesError::Dot(name.to_owned()));
    }
}
