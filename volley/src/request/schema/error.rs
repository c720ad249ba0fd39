use std::io;
use std::path::PathBuf;

use thiserror::Error;

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
