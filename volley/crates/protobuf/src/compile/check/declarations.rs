//! Extensions that a message has declared: only those may use its range.

use std::collections::HashSet;

use buffa_descriptor::generated::descriptor::extension_range_options::{
    Declaration, VerificationState,
};
use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};

use super::super::DESCRIPTOR;
use super::super::error::{Fault, shown};
use super::super::parse::scalar;
use super::super::tree::{Field, Message, Range};
use super::super::universe::{MessageInfo, TypeRef, Universe};

/// Checks the declarations of one range.
pub(super) fn range(range: &Range) -> Result<(), Fault> {
    let Some(options) = range.proto.options.as_option() else {
        return Ok(());
    };
    let fault = |message: String| Err(range.at.fault(message));
    let unverified = options.verification == Some(VerificationState::UNVERIFIED);
    if unverified && !options.declaration.is_empty() {
        return fault("the range has declarations, and cannot be `UNVERIFIED`".to_owned());
    }
    let mut numbers = HashSet::new();
    for declaration in &options.declaration {
        let number = declaration.number.unwrap_or_default();
        if range.proto.start > Some(number) || range.proto.end <= Some(number) {
            return fault(format!(
                "the declared number {number} is outside of the range"
            ));
        }
        if !numbers.insert(number) {
            return fault(format!("the number {number} is declared twice"));
        }
        let (name, kind) = (&declaration.full_name, &declaration.r#type);
        match (name, kind) {
            (Some(name), Some(kind)) => {
                if !is_absolute(name) {
                    return fault(format!(
                        "{} must be a full name with a point before it",
                        shown(name)
                    ));
                }
                // Without a name, an enum is declared for nothing.
                let is_scalar =
                    kind == "enum" || scalar(kind).is_some_and(|kind| kind != Type::TYPE_GROUP);
                if !is_scalar && !is_absolute(kind) {
                    return fault(format!(
                        "{} must be a type with a point before it",
                        shown(kind)
                    ));
                }
            }
            (None, None) if declaration.reserved == Some(true) => {}
            _ => {
                return fault(format!(
                    "the declaration of {number} needs `full_name` and `type`"
                ));
            }
        }
    }
    Ok(())
}

fn is_absolute(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    // As in protoc, a part may start with a digit.
    let is_name = |part: &str| !part.is_empty() && part.chars().all(is_letter);
    name.strip_prefix('.')
        .is_some_and(|name| name.split('.').all(is_name))
}

/// Checks that no name is declared twice in a message.
pub(super) fn unique(message: &Message) -> Result<(), Fault> {
    let mut names = HashSet::new();
    for range in &message.ranges {
        let options = range.proto.options.as_option();
        let declarations = options.map(|options| options.declaration.as_slice());
        for declaration in declarations.unwrap_or_default() {
            if let Some(name) = &declaration.full_name
                && !names.insert(name)
            {
                return Err(range.at.fault(format!("{} is declared twice", shown(name))));
            }
        }
    }
    Ok(())
}

/// Checks an extension against the declarations of the range that it uses.
pub(super) fn extension(
    universe: &Universe,
    field: &Field,
    extendee: &MessageInfo,
    full_name: &str,
) -> Result<(), Fault> {
    // As in protoc, the schema of options does not insist.
    if universe.file_name(extendee.file) == DESCRIPTOR {
        return Ok(());
    }
    let number = field.number();
    let range = extendee.range_of(number);
    let Some(range) = range.filter(|range| range.declared_only) else {
        return Ok(());
    };
    let Some(declared) = range.declarations.get(&number) else {
        let message = format!("the extension {} is not declared", shown(full_name));
        return Err(field.at.fault(message));
    };
    matches(universe, field, declared, full_name).map_err(|message| field.at.fault(message))
}

fn matches(
    universe: &Universe,
    field: &Field,
    declared: &Declaration,
    full_name: &str,
) -> Result<(), String> {
    let number = field.number();
    if declared.reserved == Some(true) {
        return Err(format!("the number {number} is reserved by a declaration"));
    }
    if let Some(name) = &declared.full_name
        && name.strip_prefix('.') != Some(full_name)
    {
        return Err(format!(
            "the number {number} is declared for {}",
            shown(name)
        ));
    }
    if let Some(kind) = &declared.r#type {
        let own = match field.target {
            Some(target @ (TypeRef::Message(_) | TypeRef::Enum(_))) => {
                format!(".{}", universe.type_name(target))
            }
            None => String::new(),
        };
        let declared = scalar(kind);
        if *kind != own && (declared.is_none() || declared != field.proto.r#type) {
            return Err(format!(
                "the number {number} is declared with the type {}",
                shown(kind)
            ));
        }
    }
    let repeated = field.proto.label == Some(Label::LABEL_REPEATED);
    match repeated == (declared.repeated == Some(true)) {
        true => Ok(()),
        false if repeated => Err(format!("the number {number} is declared as not repeated")),
        false => Err(format!("the number {number} is declared as repeated")),
    }
}
