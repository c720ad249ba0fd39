//! HOST, schema and method.

use crate::cli::args::TargetArgs;
use crate::cli::host;
use crate::request::SchemaSource;

use super::error::UsageError;
use super::{filled, filled_path};

pub struct Target {
    pub host: String,
    pub port: u16,
    /// HOST as the user wrote it.
    pub written: String,
    pub schema: SchemaSource,
    pub call: String,
}

pub fn resolve(args: &TargetArgs) -> Result<Target, UsageError> {
    let written = filled(args.host.as_deref()).ok_or(UsageError::NoHost)?;
    let host::Target { host, port } = host::parse(&written)?;
    Ok(Target {
        host,
        port,
        written,
        schema: schema(args)?,
        call: filled(args.call.as_deref()).ok_or(UsageError::NoCall)?,
    })
}

fn schema(args: &TargetArgs) -> Result<SchemaSource, UsageError> {
    match (
        filled_path(args.proto.clone()),
        filled_path(args.protoset.clone()),
    ) {
        (Some(file), _)
            if file
                .extension()
                .is_none_or(|extension| extension != "proto") =>
        {
            Err(UsageError::ProtoExtension(file))
        }
        (Some(file), _) => Ok(SchemaSource::Proto {
            file,
            import_paths: args.import_paths.clone().unwrap_or_default(),
        }),
        (None, Some(file)) => Ok(SchemaSource::Protoset(file)),
        (None, None) => Err(UsageError::NoSchema),
    }
}
