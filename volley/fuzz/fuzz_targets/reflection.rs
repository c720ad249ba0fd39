//! Any bytes as a server's answers: they are refused, or make a schema that can be shown and used.
#![no_main]

mod benchmark;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use volley_load::spec::{Data, Spec};
use volley_protobuf::reflection::{Answer, Question};
use volley_protobuf::{Zeros, encoded_file};
use volley_request::schema::{reflect, text};
use volley_request::{Ask, ReflectError, Source, messages};

/// What comes back for each question.
enum Reply<'a> {
    /// A message of the server, as it comes from the wire.
    Wire(&'a [u8]),
    /// One file.
    File(&'a [u8]),
    /// The benchmark's file, with these bytes at its end: protobuf merges them into it.
    Changed(&'a [u8]),
}

/// A server that has as many answers as there are in the input.
struct Server<'a>(std::vec::IntoIter<Reply<'a>>);

impl Ask for Server<'_> {
    type Error = ReflectError;

    fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, ReflectError> {
        let mut answer = |_: &Question| self.0.next().ok_or(ReflectError::Ended)?.answer();
        questions.iter().map(&mut answer).collect()
    }
}

impl Reply<'_> {
    fn answer(self) -> Result<Answer, ReflectError> {
        let file = match self {
            Self::Wire(bytes) => {
                let answer = Answer::decode(bytes);
                return answer.ok_or(ReflectError::WrongAnswer);
            }
            Self::File(bytes) => bytes.to_vec(),
            Self::Changed(bytes) => [benchmark_file(), bytes].concat(),
        };
        Ok(Answer::Files(vec![file]))
    }
}

/// The file of `benchmark.BenchmarkService`.
fn benchmark_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let pool = benchmark::pool();
        encoded_file(pool.file("benchmark.proto").expect("it is there"))
    })
}

fuzz_target!(|input: (Vec<(u8, &[u8])>, &[u8])| {
    let (replies, message) = input;
    let replies = replies.into_iter().map(|(kind, bytes)| match kind % 3 {
        0 => Reply::Changed(bytes),
        1 => Reply::File(bytes),
        _ => Reply::Wire(bytes),
    });
    let mut server = Server(replies.collect::<Vec<_>>().into_iter());
    let names = ["benchmark.BenchmarkService".to_owned()];
    let Ok(pool) = reflect::pool(&mut server, &names) else {
        let _ = reflect::services(&mut server);
        return;
    };
    for kind in pool.messages() {
        let _ = text::declaration(&pool, kind.full_name());
        let _ = messages::to_json(message, &kind, &Zeros::default());
        let _ = messages::from_json("{}", &kind);
    }
    for kind in pool.enums() {
        let _ = text::declaration(&pool, kind.full_name());
    }
    for service in pool.services() {
        let _ = text::declaration(&pool, service.full_name());
        for method in service.methods() {
            let _ = text::declaration(&pool, &method.full_name());
            let mut spec = Spec::default();
            spec.request.data = Data::Json("{}".to_owned());
            let _ = Source::new(&spec, &(&method).into());
        }
    }
});
