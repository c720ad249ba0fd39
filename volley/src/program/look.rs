//! `volley list` and `volley describe`: what a server, or a file, declares.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Failure, buffered, unless_hung_up};
use crate::cli::{Look, Question};
use crate::engine::{Asked, EngineError};
use crate::protobuf::{Pool, Service};
use crate::report::visible;
use crate::request::SchemaError;
use crate::request::schema::{self, text};

/// Prints what is asked for.
///
/// # Errors
///
/// If the schema cannot be had, or does not declare it.
pub fn look(look: &Look) -> Result<ExitCode, Failure> {
    let text = match look.question {
        Question::List if look.name.is_empty() => list(look)?,
        Question::List => methods(&service(look)?),
        Question::Describe => describe(look)?,
    };
    buffered(io::stdout().lock(), |out| {
        let mut lines = text.lines();
        lines.try_for_each(|line| writeln!(out, "{}", visible(line)))
    })
    .or_else(unless_hung_up)?;
    Ok(ExitCode::SUCCESS)
}

fn list(look: &Look) -> Result<String, Failure> {
    if let Some(pool) = schema::read(&look.spec.request.schema).map_err(EngineError::from)? {
        return Ok(pool.services().map(|service| methods(&service)).collect());
    }
    let mut server = ask(look)?;
    let names = server.services()?;
    // A service whose files are missing or broken is there all the same.
    let pool = server.pool(&names).unwrap_or_else(|error| {
        // For a person; nothing depends on it.
        let _ = writeln!(io::stderr(), "warning: {}", visible(&error.to_string()));
        Pool::default()
    });
    let shown = names.iter().map(|name| match pool.service(name) {
        Some(service) => methods(&service),
        None => format!("{}\n", visible(name)),
    });
    Ok(shown.collect())
}

fn service(look: &Look) -> Result<Service, EngineError> {
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
    let found = text::declaration(&pool, &symbol);
    let missing = || {
        EngineError::from(SchemaError::NoSymbol {
            symbol: look.name.clone(),
            hint: hint(&pool, &symbol),
        })
    };
    Ok(found.ok_or_else(missing)?)
}

/// The nearest name of those that are known, or where there are some.
fn hint(pool: &Pool, symbol: &str) -> String {
    let services = pool
        .services()
        .map(|service| service.full_name().to_owned());
    let methods = pool.services().flat_map(|service| {
        let methods = service.methods();
        let names = methods.map(|method| method.full_name().to_owned());
        names.collect::<Vec<_>>()
    });
    let messages = pool.messages();
    let messages = messages.map(|message| message.full_name().to_owned());
    let enums = pool.enums().map(|one| one.full_name().to_owned());
    let names = services.chain(methods).chain(messages).chain(enums);
    match schema::suggest::closest(symbol, &names.collect::<Vec<_>>()) {
        Some(name) => format!("did you mean `{}`?", visible(name)),
        None => "give its full name, such as `package.Message`; `volley list` shows the services"
            .to_owned(),
    }
}

/// What declares these symbols: a file's schema, or what the server says.
fn pool(look: &Look, symbols: &[String]) -> Result<Pool, EngineError> {
    match schema::read(&look.spec.request.schema)? {
        Some(pool) => Ok(pool),
        None => ask(look)?.pool(symbols),
    }
}

fn ask(look: &Look) -> Result<Asked<'_>, EngineError> {
    let server = Asked::connect(&look.spec, &nobody())?;
    if let Some(warning) = server.warning() {
        // For a person; nothing depends on it.
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
    Ok(server)
}

/// A signal ends the program; nobody else interrupts it.
pub fn nobody() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}
