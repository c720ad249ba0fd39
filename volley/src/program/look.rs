//! `volley list` and `volley describe`: what a server, or a file, declares.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::check::warn;
use super::{Failure, to_stdout};
use crate::cli::{Look, Question};
use crate::excerpt::list as list_of;
use crate::plain::{Asked, LoadError};
use crate::protobuf::{Pool, Service};
use crate::report::visible;
use crate::request::SchemaError;
use crate::request::schema::{self, text};
use crate::spec::SchemaSource;

/// Prints what is asked for.
///
/// # Errors
///
/// If the schema cannot be had, or does not declare it.
pub fn look(look: &Look) -> Result<ExitCode, Failure> {
    let text = match look.question {
        Question::List if look.name.is_empty() => list(look).inspect(|text| {
            if text.is_empty() {
                warn(&["there are no services".to_owned()]);
            }
        })?,
        Question::List => methods(&service(look)?),
        Question::Describe => describe(look)?,
    };
    to_stdout(|out| {
        let mut lines = text.lines();
        lines.try_for_each(|line| writeln!(out, "{}", visible(line)))
    })?;
    Ok(ExitCode::SUCCESS)
}

fn list(look: &Look) -> Result<String, Failure> {
    if let Some(pool) = schema::read(&look.spec.request.schema).map_err(LoadError::from)? {
        return Ok(pool.services().map(|service| methods(&service)).collect());
    }
    let mut server = ask(look)?;
    let names = server.services()?;
    // A service whose files are missing or broken is there all the same.
    let pool = server.pool(&names).unwrap_or_else(|error| {
        warn(&[error.to_string()]);
        Pool::default()
    });
    let shown = names.iter().map(|name| match pool.service(name) {
        Some(service) => methods(&service),
        None => format!("{}\n", visible(name)),
    });
    Ok(shown.collect())
}

fn service(look: &Look) -> Result<Service, LoadError> {
    match schema::read(&look.spec.request.schema)? {
        Some(pool) => Ok(schema::service(&pool, &look.name)?),
        None => ask(look)?.service(&look.name),
    }
}

fn methods(service: &Service) -> String {
    let mut text = format!("{}\n", visible(service.full_name()));
    for method in service.methods() {
        text += &format!("  {}\n", visible(&text::rpc(&method)));
    }
    text
}

fn describe(look: &Look) -> Result<String, Failure> {
    let symbol = match look.name.ends_with(".proto") {
        true => look.name.clone(),
        false => look.name.trim_start_matches(['.', '/']).replace('/', "."),
    };
    // Not every server knows the names of methods.
    let parent = symbol.rsplit_once('.').map(|(parent, _)| parent.to_owned());
    let wanted: Vec<String> = [symbol.clone()].into_iter().chain(parent).collect();
    let pool = pool(look, &wanted)?;
    let found = text::declaration(&pool, &look.name);
    let missing = || {
        LoadError::from(SchemaError::NoSymbol {
            symbol: look.name.clone(),
            hint: hint(look, &pool, &symbol),
        })
    };
    Ok(found.ok_or_else(missing)?)
}

/// What is in a package of this name, or the nearest name of those that are known, or where there are some.
fn hint(look: &Look, pool: &Pool, symbol: &str) -> String {
    let mut services = pool.service_names();
    if services.is_empty() && look.spec.request.schema == SchemaSource::Reflection {
        // Servers know no packages; without an answer, there is no better hint.
        let found = ask(look).and_then(|mut server| server.services());
        services = found.unwrap_or_default();
    }
    let methods = pool.services().flat_map(|service| {
        let methods = service.methods();
        let names = methods.map(|method| method.full_name());
        names.collect::<Vec<_>>()
    });
    let messages = pool.messages();
    let messages = messages.map(|message| message.full_name().to_owned());
    let enums = pool.enums().map(|one| one.full_name().to_owned());
    let mut names = services;
    names.extend(messages.chain(enums));
    let inside = |name: &&String| {
        let rest = name.strip_prefix(symbol);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let inside: Vec<&str> = names.iter().filter(inside).map(String::as_str).collect();
    if !inside.is_empty() {
        return format!("it is a package, which has {}", list_of(inside.into_iter()));
    }
    names.extend(methods);
    match schema::suggest::closest(symbol, &names) {
        Some(name) => format!("did you mean `{}`?", visible(name)),
        None => "give its full name, such as `package.Message`; `volley list` shows the services"
            .to_owned(),
    }
}

/// What declares these symbols: a file's schema, or what the server says.
fn pool(look: &Look, symbols: &[String]) -> Result<Pool, LoadError> {
    match schema::read(&look.spec.request.schema)? {
        Some(pool) => Ok(pool),
        None => ask(look)?.pool(symbols),
    }
}

fn ask(look: &Look) -> Result<Asked<'_>, LoadError> {
    let server = Asked::connect(&look.spec, &nobody())?;
    if let Some(warning) = server.warning() {
        warn(&[warning.to_string()]);
    }
    Ok(server)
}

/// A signal ends the program; nobody else interrupts it.
pub fn nobody() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}
