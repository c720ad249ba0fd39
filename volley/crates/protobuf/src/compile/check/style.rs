//! The style of names that edition 2024 asks for.

use super::super::error::{Fault, Pos, shown};
use super::super::features::Features;
use super::super::tree::{Enum, Field, File, Message, Service};

pub(super) fn file(file: &File) -> Result<(), Fault> {
    let is_snake = |name: &str| is_lower(&name.replace('.', "a")) && has_tidy_underscores(name);
    check(
        "package",
        file.package(),
        is_snake,
        file.features,
        file.package_at,
    )
}

pub(super) fn message(message: &Message) -> Result<(), Fault> {
    if message.is_map_entry() {
        return Ok(());
    }
    check(
        "message",
        message.name(),
        is_title,
        message.features,
        message.at,
    )?;
    for oneof in &message.oneofs {
        let name = oneof.proto.name.as_deref().unwrap_or_default();
        check("oneof", name, is_snake, oneof.features, oneof.at)?;
    }
    Ok(())
}

pub(super) fn field(field: &Field) -> Result<(), Fault> {
    check("field", field.name(), is_snake, field.features, field.at)
}

pub(super) fn enumeration(item: &Enum) -> Result<(), Fault> {
    check("enum", item.name(), is_title, item.features, item.at)?;
    for value in &item.values {
        check(
            "value",
            value.name(),
            is_upper_snake,
            value.features,
            value.at,
        )?;
    }
    Ok(())
}

pub(super) fn service(service: &Service) -> Result<(), Fault> {
    let name = service.proto.name.as_deref().unwrap_or_default();
    check("service", name, is_title, service.features, service.at)?;
    for method in &service.methods {
        let name = method.proto.name.as_deref().unwrap_or_default();
        check("method", name, is_title, method.features, method.at)?;
    }
    Ok(())
}

fn check(
    what: &str,
    name: &str,
    is_right: impl Fn(&str) -> bool,
    features: Features,
    at: Pos,
) -> Result<(), Fault> {
    if !features.style || name.is_empty() || is_right(name) {
        return Ok(());
    }
    let style = match what {
        "package" | "field" | "oneof" => "lower_snake_case",
        "value" => "UPPER_SNAKE_CASE",
        _ => "TitleCase",
    };
    Err(at.fault(format!(
        "the {what} {} must be in {style}; `features.enforce_naming_style = STYLE_LEGACY` permits any name",
        shown(name)
    )))
}

fn is_title(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && !name.contains('_')
}

fn is_lower(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.contains(|letter: char| letter.is_ascii_uppercase())
}

fn is_snake(name: &str) -> bool {
    is_lower(name) && has_tidy_underscores(name)
}

fn is_upper_snake(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && !name.contains(|letter: char| letter.is_ascii_lowercase())
        && has_tidy_underscores(name)
}

/// A letter follows each.
fn has_tidy_underscores(name: &str) -> bool {
    let mut after = name.split('_').skip(1);
    after.all(|part| part.starts_with(|first: char| first.is_ascii_alphabetic()))
}
