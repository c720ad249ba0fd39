//! Finds a method by the name that a user typed.

use super::suggest;
use super::{Method, SchemaError, last_segment};
use crate::protobuf::{Pool, Service};
use crate::request::excerpt::excerpt;

pub(super) fn method(pool: &Pool, call: &str) -> Result<Method, SchemaError> {
    let (service_name, method_name) = split(call)?;
    let service = service(pool, service_name, call)?;
    let found = service.method(method_name).ok_or_else(|| {
        let methods: Vec<String> = service
            .methods()
            .map(|method| method.name().to_owned())
            .collect();
        SchemaError::UnknownMethod {
            service: service_name.to_owned(),
            method: method_name.to_owned(),
            hint: suggest::hint(method_name, &methods, "it has no methods"),
        }
    })?;
    let types = [found.input(), found.output()];
    match types.iter().find(|one| one.is_missing()) {
        Some(missing) => Err(SchemaError::MissingType {
            call: excerpt(call, 200),
            missing: excerpt(missing.full_name(), 200),
        }),
        None => Ok(Method::from(&found)),
    }
}

/// `package.Service/Method` or `package.Service.Method`. A leading dot (a fully qualified name) or
/// slash (a path) is removed.
pub(super) fn split(call: &str) -> Result<(&str, &str), SchemaError> {
    let name = call.trim();
    let name = name.strip_prefix(['.', '/']).unwrap_or(name);
    let parts = if name.contains('/') {
        name.split_once('/')
    } else {
        name.rsplit_once('.')
    };
    match parts {
        Some((service, method))
            if !service.is_empty() && !method.is_empty() && !method.contains('/') =>
        {
            Ok((service, method))
        }
        _ => Err(SchemaError::NotACall {
            call: call.to_owned(),
        }),
    }
}

pub(super) fn service(pool: &Pool, name: &str, call: &str) -> Result<Service, SchemaError> {
    pool.service(name).ok_or_else(|| {
        let services: Vec<String> = pool
            .services()
            .map(|service| service.full_name().to_owned())
            .collect();
        no_service(name, &services, call)
    })
}

/// Why there is no service of this name: these are all.
pub(super) fn no_service(name: &str, services: &[String], call: &str) -> SchemaError {
    if services.is_empty() {
        return SchemaError::NoServices {
            call: call.to_owned(),
        };
    }
    // People most often forget the package.
    let same_name = services
        .iter()
        .find(|service| last_segment(service) == last_segment(name));
    let hint = match same_name {
        Some(service) if service != name => format!("did you mean `{}`?", excerpt(service, 80)),
        _ => suggest::hint(name, services, ""),
    };
    SchemaError::UnknownService {
        service: name.to_owned(),
        hint,
    }
}
