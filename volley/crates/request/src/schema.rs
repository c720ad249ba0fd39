//! The method to call, found in a `.proto` file, in a descriptor set, or in what the server says of itself.

pub mod any;
mod compile;
mod lookup;
pub mod reflect;
pub mod suggest;
pub mod text;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

pub use reflect::{Ask, ReflectError};
use thiserror::Error;
use volley_load::spec::SchemaSource;
use volley_protobuf as protobuf;
use volley_protobuf::full_name::{last, scope};
use volley_protobuf::{Message, Pool, Service};

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
    pub input: Message,
    /// The type of its replies.
    pub output: Message,
    /// Which sides stream.
    pub shape: Shape,
}

impl Method {
    /// The method's own name: `StreamSum`.
    #[must_use]
    pub fn name(&self) -> &str {
        last(&self.full_name)
    }

    /// Its service's own name, without the package: `BenchmarkService`.
    #[must_use]
    pub fn service_name(&self) -> &str {
        last(scope(&self.full_name))
    }
}

impl From<&protobuf::Method> for Method {
    fn from(method: &protobuf::Method) -> Self {
        let shape = match (method.is_client_streaming(), method.is_server_streaming()) {
            (false, false) => Shape::Unary,
            (false, true) => Shape::ServerStreaming,
            (true, false) => Shape::ClientStreaming,
            (true, true) => Shape::Bidirectional,
        };
        Self {
            path: format!("/{}/{}", method.service().full_name(), method.name()),
            full_name: method.full_name(),
            input: method.input(),
            output: method.output(),
            shape,
        }
    }
}

/// What the files of a schema declare; `None` if only the server knows.
///
/// # Errors
///
/// If they cannot be read or compiled.
pub fn read(source: &SchemaSource) -> Result<Option<Pool>, SchemaError> {
    Ok(match source {
        SchemaSource::Reflection => None,
        SchemaSource::Proto { file, import_paths } => Some(compile::proto(file, import_paths)?),
        SchemaSource::Protoset(file) => Some(compile::protoset(file)?),
    })
}

/// Finds `call` in what is declared: `package.Service/Method` or `package.Service.Method`, with or
/// without a leading dot.
///
/// # Errors
///
/// If there is no such service or method.
pub fn find(pool: &Pool, call: &str) -> Result<Method, SchemaError> {
    lookup::method(pool, call)
}

/// Finds `call` in what a server says of itself. What it says of these `types`, which may be in an `Any`, is part of the
/// schema.
///
/// # Errors
///
/// If the server does not say it, or has no such service or method.
pub fn ask<A: Ask>(server: &mut A, call: &str, types: &BTreeSet<String>) -> Result<Method, A::Error>
where
    A::Error: From<SchemaError>,
{
    let (service, _) = match lookup::split(call) {
        Ok(parts) => parts,
        Err(error) => return Err(only_service(server, call)?.unwrap_or(error).into()),
    };
    let symbols: Vec<String> = [service.to_owned()]
        .into_iter()
        .chain(types.iter().cloned())
        .collect();
    let pool = reflect::pool(server, &symbols)?;
    let found = find(&pool, call);
    if let Err(SchemaError::NoServices { .. } | SchemaError::UnknownService { .. }) = found
        && let Some(error) = only_service(server, call)?
    {
        return Err(error.into());
    }
    known(server, service, call, found)
}

/// The error of a call that names a service of the server, and no method of it.
fn only_service<A: Ask>(server: &mut A, call: &str) -> Result<Option<SchemaError>, A::Error> {
    let services = reflect::services(server)?;
    let Some(service) = lookup::named(&services, call) else {
        return Ok(None);
    };
    let pool = reflect::pool(server, std::slice::from_ref(service))?;
    let found = find(&pool, service).err();
    Ok(found.filter(|error| matches!(error, SchemaError::NoMethod { .. })))
}

/// Finds a service in what a server says of itself.
///
/// # Errors
///
/// If the server does not say it, or has no such service.
pub fn ask_service<A: Ask>(server: &mut A, name: &str) -> Result<Service, A::Error>
where
    A::Error: From<SchemaError>,
{
    let pool = reflect::pool(server, &[name.to_owned()])?;
    known(server, name, name, service(&pool, name))
}

/// What was found; if there is no such service, the error names those that the server lists.
fn known<A: Ask, T>(
    server: &mut A,
    service: &str,
    call: &str,
    found: Result<T, SchemaError>,
) -> Result<T, A::Error>
where
    A::Error: From<SchemaError>,
{
    match found {
        Err(SchemaError::NoServices { .. } | SchemaError::UnknownService { .. }) => {
            Err(lookup::no_service(service, &reflect::services(server)?, call).into())
        }
        found => Ok(found?),
    }
}

/// Finds a service by the name that a user gave.
///
/// # Errors
///
/// If there is none.
pub fn service(pool: &Pool, name: &str) -> Result<Service, SchemaError> {
    lookup::service(pool, name, name)
}

/// Why the method could not be found.
#[derive(Debug, Error)]
pub enum SchemaError {
    #[error("nothing is declared as `{symbol}`: {hint}")]
    NoSymbol { symbol: String, hint: String },
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
    #[error("`{}` is the text of a schema, and no descriptor set: give it with --proto", file.display())]
    NotCompiled { file: PathBuf },
    #[error("`{}` is not a descriptor set, or a damaged one: {reason}; make one with \
         `protoc --include_imports -o FILE`",
 file.display())]
    Protoset { file: PathBuf, reason: String },
    #[error("cannot use the descriptor set `{}`: {reason}", file.display())]
    UnfitProtoset { file: PathBuf, reason: String },
    #[error(
        "`{call}` needs the type `{missing}`, which no file of the schema declares: add its file, as `protoc --include_imports` does"
    )]
    MissingType { call: String, missing: String },
    #[error("`{call}` does not name a method; --call takes package.Service/Method")]
    NotACall { call: String },
    #[error("`{service}` is a service, and no method; it has: {methods}")]
    NoMethod { service: String, methods: String },
    #[error("the schema describes no service, so there is no `{call}` to call")]
    NoServices { call: String },
    #[error("there is no service `{service}`; {hint}")]
    UnknownService { service: String, hint: String },
    #[error(
        "the server lists the service `{service}`, and gives no file that declares it: give one with --proto or --protoset"
    )]
    NoFile { service: String },
    #[error("service `{service}` has no method `{method}`; {hint}")]
    UnknownMethod {
        service: String,
        method: String,
        hint: String,
    },
}
