//! The method to call, found in a `.proto` file or a descriptor set.

mod compile;
mod lookup;
mod suggest;

use std::io;
use std::path::PathBuf;

use prost_reflect::{MessageDescriptor, MethodDescriptor};
use thiserror::Error;

use crate::spec::SchemaSource;

/// Which sides of a call send a stream of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One request, one reply.
    Unary,
    /// One request, many replies.
    ServerStreaming,
    /// Many requests, one reply.
    ClientStreaming,
    /// Many of both.
    Bidirectional,
}

impl Shape {
    /// Whether the client may send any number of messages.
    #[must_use]
    pub fn streams_requests(self) -> bool {
        matches!(self, Self::ClientStreaming | Self::Bidirectional)
    }

    /// Whether the server may send any number of messages.
    #[must_use]
    pub fn streams_replies(self) -> bool {
        matches!(self, Self::ServerStreaming | Self::Bidirectional)
    }
}

/// The method to call.
#[derive(Clone, Debug)]
pub struct Method {
    /// The `:path` of its calls: `/benchmark.BenchmarkService/StreamSum`.
    pub path: String,
    /// `benchmark.BenchmarkService.StreamSum`.
    pub full_name: String,
    /// The type of its requests.
    pub input: MessageDescriptor,
    /// The type of its replies.
    pub output: MessageDescriptor,
    /// Which sides stream.
    pub shape: Shape,
}

impl Method {
    /// The method's own name: `StreamSum`.
    #[must_use]
    pub fn name(&self) -> &str {
        last_segment(&self.full_name)
    }

    /// Its service's own name, without the package: `BenchmarkService`.
    #[must_use]
    pub fn service_name(&self) -> &str {
        let service = self
            .full_name
            .rsplit_once('.')
            .map_or("", |(service, _)| service);
        last_segment(service)
    }
}

impl From<&MethodDescriptor> for Method {
    fn from(method: &MethodDescriptor) -> Self {
        let shape = match (method.is_client_streaming(), method.is_server_streaming()) {
            (false, false) => Shape::Unary,
            (false, true) => Shape::ServerStreaming,
            (true, false) => Shape::ClientStreaming,
            (true, true) => Shape::Bidirectional,
        };
        Self {
            path: format!("/{}/{}", method.parent_service().full_name(), method.name()),
            full_name: method.full_name().to_owned(),
            input: method.input(),
            output: method.output(),
            shape,
        }
    }
}

/// Finds `call` in the schema: `package.Service/Method` or `package.Service.Method`, with or
/// without a leading dot.
///
/// # Errors
///
/// If the schema cannot be read or compiled, or has no such service or method.
pub fn load(source: &SchemaSource, call: &str) -> Result<Method, SchemaError> {
    let pool = match source {
        SchemaSource::Proto { file, import_paths } => compile::proto(file, import_paths)?,
        SchemaSource::Protoset(file) => compile::protoset(file)?,
    };
    lookup::method(&pool, call)
}

fn last_segment(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

/// Why the method could not be found.
#[derive(Debug, Error)]
pub enum SchemaError {
    #[error("cannot read `{}`: {error}", file.display())]
    Read { file: PathBuf, error: io::Error },
    #[error("`{}` does not end in .proto; for a descriptor set use --protoset",
 file.display())]
    NotProto { file: PathBuf },
    #[error("there is no file `{}`{import_paths}", file.display())]
    NotFound { file: PathBuf, import_paths: String },
    #[error("cannot compile `{}`: {reason}", file.display())]
    Compile { file: PathBuf, reason: String },
    #[error("cannot compile `{}`: {reason}; give the folder that holds it with --import-paths",
 file.display())]
    MissingImport { file: PathBuf, reason: String },
    #[error("`{}` is not a descriptor set: {reason}; make one with \
         `protoc --include_imports -o FILE`",
 file.display())]
    Protoset { file: PathBuf, reason: String },
    #[error("`{call}` does not name a method; --call takes package.Service/Method")]
    NotACall { call: String },
    #[error("the schema describes no service, so there is no `{call}` to call")]
    NoServices { call: String },
    #[error("there is no service `{service}`; {hint}")]
    UnknownService { service: String, hint: String },
    #[error("service `{service}` has no method `{method}`; {hint}")]
    UnknownMethod {
        service: String,
        method: String,
        hint: String,
    },
}
