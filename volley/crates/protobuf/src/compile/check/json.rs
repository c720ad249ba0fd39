//! The names of fields in JSON.

use std::collections::HashMap;

use buffa_descriptor::generated::descriptor::Edition;
use buffa_descriptor::generated::descriptor::feature_set::JsonFormat;

use super::super::error::{Fault, shown};
use super::super::names;
use super::super::tree::{Field, Message};

pub(super) fn message(message: &Message, edition: Edition) -> Result<(), Fault> {
    let options = message.proto.options.as_option();
    let lenient =
        options.is_some_and(|own| own.deprecated_legacy_json_field_conflicts == Some(true));
    for field in &message.fields {
        let (name, Some(at)) = (json_name(field), field.json_name_at) else {
            continue;
        };
        if name.contains('\0') {
            return Err(at.fault("a name in JSON has no NUL in it"));
        }
        if !lenient && name.starts_with('[') && name.ends_with(']') {
            return Err(at.fault("a name in JSON is not in brackets: those are for extensions"));
        }
    }
    let strict = message.features.json == JsonFormat::ALLOW && edition != Edition::EDITION_PROTO2;
    // The names that fields would have if none were written, and those that they have.
    unique(
        message,
        |field| (names::json(field.name()), false),
        strict && !lenient,
        lenient,
    )?;
    unique(
        message,
        |field| (json_name(field).to_owned(), has_own_name(field)),
        strict && !lenient,
        lenient,
    )
}

fn json_name(field: &Field) -> &str {
    field.proto.json_name.as_deref().unwrap_or_default()
}

/// Whether a field has another name than the one it would have if none were written.
pub(super) fn has_own_name(field: &Field) -> bool {
    json_name(field) != names::json(field.name())
}

/// Two names that fields have of their own are a fault in any syntax.
fn unique(
    message: &Message,
    name_of: impl Fn(&Field) -> (String, bool),
    strict: bool,
    lenient: bool,
) -> Result<(), Fault> {
    let mut taken: HashMap<String, (&Field, bool)> = HashMap::new();
    for field in &message.fields {
        let (name, own) = name_of(field);
        if let Some((other, other_own)) = taken.get(&name) {
            if strict || !lenient && own && *other_own {
                let message = format!(
                    "{} has the same name in JSON as {}: {}",
                    shown(field.name()),
                    shown(other.name()),
                    shown(&name)
                );
                return Err(field.at.fault(message));
            }
        } else {
            taken.insert(name, (field, own));
        }
    }
    Ok(())
}
