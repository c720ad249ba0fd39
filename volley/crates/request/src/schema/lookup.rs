//! Finds a method by the name that a user typed.

use volley_base::excerpt::{excerpt, list};
use volley_protobuf as protobuf;
use volley_protobuf::full_name::last;
use volley_protobuf::{Pool, Service};

use super::suggest;
use super::{Method, SchemaError};

pub(super) fn method(pool: &Pool, call: &str) -> Result<Method, SchemaError> {
    let or_none = |error| only_service(pool, call).unwrap_or(error);
    let (service_name, method_name) = split(call).map_err(or_none)?;
    let service = service(pool, service_name, call).map_err(or_none)?;
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

/// The error of a call that names a service, and no method of it.
fn only_service(pool: &Pool, call: &str) -> Option<SchemaError> {
    let services = pool.service_names();
    let service = pool.service(named(&services, call)?)?;
    let methods: Vec<_> = service.methods().collect();
    Some(SchemaError::NoMethod {
        service: excerpt(service.full_name(), 200),
        methods: match methods.as_slice() {
            [] => "none".to_owned(),
            methods => list(methods.iter().map(protobuf::Method::name)),
        },
    })
}

/// The service that a text names, with or without its package.
pub(super) fn named<'a>(services: &'a [String], text: &str) -> Option<&'a String> {
    let name = text
        .trim()
        .trim_start_matches(['.', '/'])
        .trim_end_matches('/');
    let whole = services.iter().find(|service| *service == name);
    whole.or_else(|| services.iter().find(|service| last(service) == name))
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
    let found = pool.service(name);
    found.ok_or_else(|| no_service(name, &pool.service_names(), call))
}

/// Why there is no service of this name: these are all.
pub(super) fn no_service(name: &str, services: &[String], call: &str) -> SchemaError {
    if services.is_empty() {
        return SchemaError::NoServices {
            call: call.to_owned(),
        };
    }
    if services.iter().any(|service| service == name) {
        return SchemaError::NoFile {
            service: excerpt(name, 200),
        };
    }
    // People most often forget the package.
    let same_name = services.iter().find(|service| last(service) == last(name));
    let hint = match same_name {
        Some(service) => format!("did you mean `{}`?", excerpt(service, 80)),
        None => suggest::hint(name, services, ""),
    };
    SchemaError::UnknownService {
        service: name.to_owned(),
        hint,
    }
}
