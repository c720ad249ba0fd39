//! The messages of gRPC's server reflection; its two versions have the same.

use prost::{Message, Oneof};

/// The services that offer it, the newest version first.
pub const SERVICES: [&str; 2] = [
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// Their only method: questions and answers, one for one, on one stream.
pub const METHOD: &str = "ServerReflectionInfo";

/// A message of the client.
#[derive(Clone, PartialEq, Message)]
pub struct Request {
    #[prost(oneof = "Question", tags = "3, 4, 7")]
    pub question: Option<Question>,
}

/// What the client asks for. Questions about extensions are left out.
#[derive(Clone, PartialEq, Eq, Hash, Oneof)]
pub enum Question {
    /// The file of this name.
    #[prost(string, tag = "3")]
    File(String),
    /// The file that declares a service, a method or a type.
    #[prost(string, tag = "4")]
    FileOf(String),
    /// The names of all services; the text has no meaning.
    #[prost(string, tag = "7")]
    Services(String),
}

/// A message of the server.
#[derive(Clone, PartialEq, Message)]
pub struct Response {
    #[prost(oneof = "Answer", tags = "4, 6, 7")]
    pub answer: Option<Answer>,
}

/// What the server answers.
#[derive(Clone, PartialEq, Oneof)]
pub enum Answer {
    #[prost(message, tag = "4")]
    Files(Files),
    #[prost(message, tag = "6")]
    Services(Services),
    #[prost(message, tag = "7")]
    Refused(Refused),
}

/// The file that was asked for and, as the server likes, those that it imports: serialized `FileDescriptorProto`s.
#[derive(Clone, PartialEq, Message)]
pub struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub files: Vec<Vec<u8>>,
}

/// All services.
#[derive(Clone, PartialEq, Message)]
pub struct Services {
    #[prost(message, repeated, tag = "1")]
    pub services: Vec<Service>,
}

/// A service's full name.
#[derive(Clone, PartialEq, Message)]
pub struct Service {
    #[prost(string, tag = "1")]
    pub name: String,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Message)]
pub struct Refused {
    /// A status code.
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}
