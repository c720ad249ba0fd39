//! Schemas from a server's answers.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use volley_protobuf::compile::compile;
use volley_protobuf::descriptor::FileDescriptorProto;
use volley_protobuf::reflection::{Answer, Question};
use volley_protobuf::{FilesError, Pool, encoded_file};
use volley_request::schema::{self, reflect, text};
use volley_request::{Ask, ReflectError, messages};

use crate::support::proto;
use volley_testkit::texts::has;

/// What the last of these files declares, with what it imports.
fn compiled(files: &[(&'static str, &str)]) -> Pool {
    let texts = files.iter().map(|(name, text)| (*name, (*text).to_owned()));
    let texts: BTreeMap<&str, String> = texts.collect();
    let mut open = move |name: &str| Ok(texts.get(name).map(|text| text.clone().into_bytes()));
    let files = compile(files.last().unwrap().0, &mut open);
    Pool::new(files.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// A server that answers each question on its own.
struct Answers<F>(F);

impl<F: Fn(&Question) -> Answer> Ask for Answers<F> {
    type Error = ReflectError;

    fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, ReflectError> {
        Ok(questions.iter().map(&self.0).collect())
    }
}

/// A server that answers each question with one file, as long as it has it.
struct OneByOne {
    files: BTreeMap<String, FileDescriptorProto>,
    /// The file of every symbol.
    root: String,
    rounds: Vec<usize>,
}

impl OneByOne {
    fn new(pool: &Pool, root: &str) -> Self {
        let protos = pool.files().cloned();
        Self {
            files: protos
                .map(|file| (file.name.clone().unwrap(), file))
                .collect(),
            root: root.to_owned(),
            rounds: Vec::new(),
        }
    }

    fn without(mut self, name: &str) -> Self {
        self.files.remove(name).unwrap();
        self
    }

    fn pool(&mut self) -> Result<Pool, ReflectError> {
        reflect::pool(self, &["any.Symbol".to_owned()])
    }
}

impl Ask for OneByOne {
    type Error = ReflectError;

    fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, ReflectError> {
        self.rounds.push(questions.len());
        let answer = |question: &Question| {
            let name = match question {
                Question::File(name) => name,
                _ => &self.root,
            };
            match self.files.get(name) {
                Some(file) => Answer::Files(vec![encoded_file(file)]),
                None => Answer::refused(5, ""),
            }
        };
        Ok(questions.iter().map(answer).collect())
    }
}

fn everything() -> Pool {
    schema::read(&proto("everything.proto")).unwrap().unwrap()
}

#[test]
fn files_are_asked_for_round_by_round_until_none_is_missing() {
    let mut server = OneByOne::new(&everything(), "everything.proto");
    let pool = server.pool().unwrap();
    assert_eq!(
        server.rounds,
        [1, 3],
        "its own file, and the three that it imports"
    );
    let method = schema::find(&pool, "everything.Everything/Chat").unwrap();
    assert_eq!(method.input.fields().count(), 35);
}

#[test]
fn a_server_may_lack_googles_files_and_those_that_only_describe_options() {
    let files = [
        (
            "options.proto",
            "syntax = \"proto3\"; package o; import \"google/protobuf/descriptor.proto\";
            extend google.protobuf.FieldOptions { string note = 50000; }",
        ),
        (
            "a.proto",
            "syntax = \"proto3\"; package a; import \"options.proto\";
            import \"google/protobuf/timestamp.proto\";
            message M { google.protobuf.Timestamp at = 1 [(o.note) = \"x\"]; }",
        ),
    ];
    let pool = compiled(&files);
    let server = OneByOne::new(&pool, "a.proto").without("options.proto");
    let mut server = server.without("google/protobuf/timestamp.proto");
    let pool = server.pool().unwrap();
    let message = pool.message("a.M").unwrap();
    assert_eq!(message.fields().count(), 1);
    assert!(pool.message("google.protobuf.Timestamp").is_some());
}

#[test]
fn a_symbol_that_the_server_refuses_hides_no_other() {
    let known = compiled(&[("a.proto", "syntax = \"proto3\"; package a; message M {}")]);
    let mut choosy = Answers(|question: &Question| match question {
        Question::FileOf(symbol) if symbol == "a.M" => {
            Answer::Files(known.files().map(encoded_file).collect())
        }
        _ => Answer::refused(3, "no symbol"),
    });
    let mut ask = |symbols: &[&str]| {
        let symbols: Vec<String> = symbols.iter().map(|&name| name.to_owned()).collect();
        reflect::pool(&mut choosy, &symbols)
    };
    assert!(ask(&["a", "a.M"]).unwrap().message("a.M").is_some());
    let error = ask(&["a"]).unwrap_err().to_string();
    has(&error, "InvalidArgument desc = no symbol");
}

#[test]
fn a_file_whose_syntax_is_empty_has_the_oldest() {
    let pool = compiled(&[("a.proto", "package a; message M {}")]);
    let mut server = OneByOne::new(&pool, "a.proto");
    server.files.get_mut("a.proto").unwrap().syntax = Some(String::new());
    let pool = server.pool().unwrap();
    assert_eq!(pool.file("a.proto").unwrap().syntax, None);
}

#[test]
fn a_type_that_is_nowhere_is_named() {
    let files = [
        ("b.proto", "syntax = \"proto3\"; package b; message B {}"),
        (
            "a.proto",
            "syntax = \"proto3\"; package a; import \"b.proto\"; message M { b.B b = 1; }",
        ),
    ];
    let mut server = OneByOne::new(&compiled(&files), "a.proto").without("b.proto");
    let pool = server.pool().unwrap();
    let message = pool.message("a.M").unwrap();
    let error = messages::from_json(r#"{"b": {}}"#, &message).unwrap_err();
    let reason = "the type `b.B` is missing from the schema at line 1";
    assert!(error.to_string().contains(reason), "{error}");
    assert!(messages::from_json("{}", &message).is_ok());
}

#[test]
fn public_imports_are_passed_on_however_deep() {
    let files = [
        ("c.proto", "syntax = \"proto3\"; package c; message C {}"),
        ("b.proto", "syntax = \"proto3\"; import public \"c.proto\";"),
        (
            "b2.proto",
            "syntax = \"proto3\"; import public \"b.proto\";",
        ),
        (
            "a.proto",
            "syntax = \"proto3\"; package a; import \"b2.proto\"; import \"c.proto\";
             message M { c.C c = 1; }",
        ),
    ];
    let mut server = OneByOne::new(&compiled(&files), "a.proto");
    let file = server.files.get_mut("a.proto").unwrap();
    file.dependency.retain(|name| name == "b2.proto");
    assert!(server.pool().unwrap().message("a.M").is_some());
}

/// Files whose every import is public, two in each layer: there are 2^layers ways through them.
#[test]
fn many_ways_through_public_imports_take_no_longer_than_one() {
    let mut files = BTreeMap::new();
    for layer in 0..60 {
        for side in ["l", "r"] {
            let dependency = match layer {
                59 => Vec::new(),
                _ => ["l", "r"]
                    .map(|side| format!("{side}{}", layer + 1))
                    .to_vec(),
            };
            let name = format!("{side}{layer}");
            let file = FileDescriptorProto {
                name: Some(name.clone()),
                public_dependency: (0..).take(dependency.len()).collect(),
                dependency,
                ..FileDescriptorProto::default()
            };
            files.insert(name, file);
        }
    }
    let root = "l0".to_owned();
    let mut server = OneByOne {
        files,
        root,
        rounds: Vec::new(),
    };
    assert!(server.pool().is_ok());
}

#[test]
fn a_service_that_is_listed_and_has_no_file_is_not_guessed() {
    struct Lists(Option<i32>);
    impl Ask for Lists {
        type Error = Box<dyn std::error::Error>;
        fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, Self::Error> {
            let answer = |question: &Question| match (question, self.0) {
                (Question::Services(_), _) => {
                    Answer::Services(["a.S", "b.S"].map(str::to_owned).to_vec())
                }
                (_, Some(code)) => Answer::refused(code, ""),
                _ => Answer::Files(Vec::new()),
            };
            Ok(questions.iter().map(answer).collect())
        }
    }
    for refusal in [Some(5), None] {
        let of_method = schema::ask(&mut Lists(refusal), "a.S/Get", &BTreeSet::new()).unwrap_err();
        let of_service = schema::ask_service(&mut Lists(refusal), "b.S").unwrap_err();
        for (error, name) in [(of_method, "a.S"), (of_service, "b.S")] {
            assert_eq!(
                error.to_string(),
                format!(
                    "the server lists the service `{name}`, and gives no file that declares it: give one with --proto or --protoset"
                )
            );
        }
        let error = schema::ask_service(&mut Lists(refusal), "S").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no service `S`; did you mean `a.S`?"
        );
    }
}

#[test]
fn extensions_are_asked_for() {
    let files = compiled(&[
        (
            "x.proto",
            "syntax = \"proto2\"; package x; message M { message N { extensions 5 to 9; } extensions 5; optional N n = 1; }",
        ),
        (
            "y.proto",
            "syntax = \"proto2\"; package y; import \"x.proto\"; extend x.M.N { optional int32 more = 7; }",
        ),
    ]);
    let file = |at| Answer::Files(files.files().skip(at).take(1).map(encoded_file).collect());
    let mut extended = Answers(|question: &Question| match question {
        Question::FileOf(_) => file(0),
        Question::Extensions(of) if of == "x.M.N" => Answer::Extensions(vec![7]),
        Question::FileOfExtension(of, 7) if of == "x.M.N" => file(1),
        _ => Answer::refused(12, ""),
    });
    let pool = reflect::pool(&mut extended, &["x.M".to_owned()]).unwrap();
    let message = pool.message("x.M").unwrap();
    let sent = messages::from_json(r#"{"n": {"[y.more]": 3}}"#, &message).unwrap();
    assert_eq!(sent[0].bytes, [10, 2, 56, 3]);
}

#[test]
fn few_bytes_of_a_server_do_not_become_many_names() {
    let text =
        "syntax = \"proto2\"; package x; message M { extensions 7; } message N { extensions 7; }";
    let mut file = compiled(&[("x.proto", text)])
        .files()
        .next()
        .unwrap()
        .clone();
    let ask = |file: &FileDescriptorProto, numbers| {
        let mut repeating = Answers(|question: &Question| match question {
            Question::Extensions(_) => Answer::Extensions(vec![7; numbers]),
            _ => Answer::Files(vec![encoded_file(file)]),
        });
        let asked = reflect::pool(&mut repeating, &["x.M".to_owned()]);
        asked.map(|pool| pool.messages().count())
    };
    assert_eq!(ask(&file, 100), Ok(2));
    assert_eq!(ask(&file, 6_000), Err(ReflectError::TooMuch));
    file.package = Some("x".repeat(1 << 20));
    let long = FilesError::Long("x.proto".to_owned());
    assert_eq!(ask(&file, 1), Err(ReflectError::Files(long)));
}

#[test]
fn a_type_whose_name_has_a_slash_is_declared_as_it_is() {
    let text = "syntax = \"proto3\"; package p; message M { int32 a = 1; } ";
    let pool = compiled(&[("m.proto", text)]);
    let mut file = pool.files().next().unwrap().clone();
    file.message_type[0].name = Some("N/M".to_owned());
    let pool = Pool::new(vec![file]).unwrap();
    let declared = text::declaration(&pool, "p.N/M").unwrap();
    has(&declared, "message N/M {");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_bytes_a_server_changes_there_is_a_schema_or_one_line(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let pool = everything();
        let mut files: Vec<Vec<u8>> = pool.files().map(encoded_file).collect();
        for (place, byte) in edits {
            let file = files.iter_mut().max_by_key(|file| file.len()).unwrap();
            let at = place.index(file.len());
            file[at] = byte;
        }
        let mut garbled = Answers(|_: &Question| Answer::Files(files.clone()));
        match reflect::pool(&mut garbled, &["everything.Everything".to_owned()]) {
            Ok(pool) => for message in pool.messages() {
                prop_assert!(text::declaration(&pool, message.full_name()).is_some());
            },
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }
}
