//! The services beside the benchmark: health and reflection. They are small and simple, not fast.

use std::collections::VecDeque;
use std::sync::OnceLock;

use super::farewell::Failure;
use super::outbox::{Mark, Outbox};
use volley_http::grpc::{Code, PREFIX_LEN};
use volley_protobuf as protobuf;
use volley_protobuf::Pool;
use volley_protobuf::compile::compile;
use volley_protobuf::reflection::{Answer, METHOD, Question, SERVICES};
use volley_protobuf::wire::{encode_bytes, encode_number, last_text};

/// What the server declares. The second version of reflection differs only in its package.
const FILES: [(&str, &str); 3] = [
    ("benchmark.proto", include_str!("protos/benchmark.proto")),
    (
        "grpc/health/v1/health.proto",
        include_str!("protos/health.proto"),
    ),
    (V1, include_str!("protos/reflection.proto")),
];
const V1: &str = "grpc/reflection/v1/reflection.proto";
const V1_ALPHA: &str = "grpc/reflection/v1alpha/reflection.proto";

/// A client that leaves more unread than this is not served.
const MOST_UNREAD: usize = 4 << 20;

/// `HealthCheckResponse.ServingStatus`.
const SERVING: i32 = 1;
const SERVICE_UNKNOWN: i32 = 3;

/// A method of these services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    Check,
    List,
    Watch,
    Reflect,
}

impl Beside {
    pub(super) fn from_path(path: &[u8]) -> Option<Self> {
        match path {
            b"/grpc.health.v1.Health/Check" => Some(Self::Check),
            b"/grpc.health.v1.Health/List" => Some(Self::List),
            b"/grpc.health.v1.Health/Watch" => Some(Self::Watch),
            path => {
                let (service, method) =
                    std::str::from_utf8(path.get(1..)?).ok()?.split_once('/')?;
                (SERVICES.contains(&service) && method == METHOD).then_some(Self::Reflect)
            }
        }
    }

    /// The answer to a request message.
    pub(super) fn answer(self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let invalid = || Failure::status(Code::Internal, "a request message is not valid protobuf");
        match self {
            Self::List => Ok(health_of_all()),
            Self::Check | Self::Watch => {
                // The service of a `HealthCheckRequest`.
                let asked = last_text(message, 1).ok_or_else(invalid)?;
                let status = match declared().services().any(|one| one.full_name() == asked) {
                    true => SERVING,
                    false if asked.is_empty() => SERVING,
                    false if self == Self::Watch => SERVICE_UNKNOWN,
                    false => return Err(Failure::status(Code::NotFound, "unknown service")),
                };
                Ok(health(status))
            }
            Self::Reflect => Ok(reflect(Question::decode(message).ok_or_else(invalid)?).encode()),
        }
    }
}

/// Replies of these services that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    bytes: VecDeque<u8>,
    /// The bytes of each message, its prefix included, as far as they are not sent.
    messages: VecDeque<usize>,
}

impl Unsent {
    /// Adds a reply, unless too many wait.
    pub(super) fn push(&mut self, message: &[u8]) -> Result<(), Failure> {
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
        if self.bytes.len() + message.len() > MOST_UNREAD {
            let words = "the client does not read its replies";
            return Err(Failure::status(Code::ResourceExhausted, words));
        }
        self.bytes.push_back(0);
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(message);
        self.messages.push_back(PREFIX_LEN + message.len());
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Removes up to `most` bytes from the front, and marks the messages that they end.
    pub(super) fn take(
        &mut self,
        most: usize,
        outbox: &mut Outbox,
        write: impl FnOnce(&mut Vec<u8>, &[u8]),
    ) -> usize {
        let bytes: Vec<u8> = self.bytes.drain(..most.min(self.bytes.len())).collect();
        write(outbox.buffer(), &bytes);
        let mut left = bytes.len();
        while let Some(message) = self.messages.front_mut() {
            if *message > left {
                *message -= left;
                break;
            }
            left -= *message;
            self.messages.pop_front();
            outbox.mark(Mark::Replies);
        }
        bytes.len()
    }
}

/// A `HealthCheckResponse`.
fn health(status: i32) -> Vec<u8> {
    let mut out = Vec::new();
    encode_number(1, status, &mut out);
    out
}

/// A `HealthListResponse`: a map of all services, and of the server by an empty name.
fn health_of_all() -> Vec<u8> {
    let mut out = Vec::new();
    for name in declared().service_names().iter().chain([&String::new()]) {
        let mut entry = Vec::new();
        encode_bytes(1, name.as_bytes(), &mut entry);
        encode_bytes(2, &health(SERVING), &mut entry);
        encode_bytes(1, &entry, &mut out);
    }
    out
}

fn reflect(question: Option<Question>) -> Answer {
    let pool = declared();
    let file = match question {
        Some(Question::Services(_)) => return Answer::Services(pool.service_names()),
        Some(Question::File(name)) => pool.file(&name),
        Some(Question::FileOf(symbol)) => pool.file_of(&symbol),
        Some(Question::FileOfExtension(..) | Question::Extensions(_)) | None => {
            return refusal(Code::Unimplemented, "this server declares no extensions");
        }
    };
    match file {
        Some(file) => Answer::Files(vec![protobuf::encoded_file(file)]),
        None => refusal(Code::NotFound, "it is not declared here"),
    }
}

fn refusal(code: Code, message: &str) -> Answer {
    Answer::refused(code as i32, message)
}

/// All files, compiled when they are first asked for. They are part of the program, and compile.
fn declared() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let names = FILES.iter().map(|(name, _)| *name).chain([V1_ALPHA]);
        // One that did not compile would be missing, which a test would notice.
        let files = names.filter_map(|name| compile(name, &mut embedded).ok());
        Pool::new(files.flatten().collect()).unwrap_or_default()
    })
}

fn embedded(name: &str) -> Result<Option<Vec<u8>>, String> {
    let known = |name| {
        let mut files = FILES.iter();
        files
            .find(|(known, _)| *known == name)
            .map(|(_, text)| (*text).to_owned())
    };
    let text = match name {
        V1_ALPHA => known(V1).map(|text| text.replace("reflection.v1;", "reflection.v1alpha;")),
        name => known(name),
    };
    Ok(text.map(String::into_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_server_offers_is_declared() {
        assert_eq!(
            declared().service_names(),
            [
                "benchmark.BenchmarkService",
                "grpc.health.v1.Health",
                SERVICES[0],
                SERVICES[1],
            ]
        );
        for service in declared().services() {
            for method in service.methods() {
                let path = format!("/{}/{}", service.full_name(), method.name());
                assert!(
                    super::super::requests::Method::from_path(path.as_bytes()).is_some(),
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn the_benchmark_is_the_one_of_the_repository() {
        let text = include_str!("../../../../requests/benchmark.proto");
        assert_eq!(FILES[0].1, text);
    }

    #[test]
    fn unsent_replies_are_counted_with_their_last_bytes() {
        let mut unsent = Unsent::default();
        unsent.push(b"ab").unwrap();
        unsent.push(b"").unwrap();
        let mut outbox = Outbox::default();
        let mut sent = Vec::new();
        for most in [6, 6] {
            unsent.take(most, &mut outbox, |out, bytes| {
                out.extend_from_slice(bytes);
                sent.extend_from_slice(bytes);
            });
        }
        assert_eq!(sent, [0, 0, 0, 0, 2, b'a', b'b', 0, 0, 0, 0, 0]);
        assert!(unsent.is_empty());
        let mut counts = super::super::Counts::default();
        outbox.consume(6, &mut counts);
        assert_eq!(counts.messages_sent, 0);
        outbox.consume(6, &mut counts);
        assert_eq!(counts.messages_sent, 2);
    }

    #[test]
    fn who_does_not_read_gets_no_more() {
        let mut unsent = Unsent::default();
        let large = vec![0; MOST_UNREAD];
        unsent.push(&large).unwrap();
        assert!(unsent.push(b"a").is_err());
    }
}
