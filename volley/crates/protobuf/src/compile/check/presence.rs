//! Features of fields in editions.

use buffa_descriptor::generated::descriptor::feature_set::{FieldPresence, RepeatedFieldEncoding};
use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};

use super::super::error::Fault;
use super::super::features::own;
use super::super::settle;
use super::super::tree::{Field, Message};
use super::super::universe::Universe;

/// Checks what a field sets, and what holds for it.
pub(super) fn check(
    field: &Field,
    message: Option<&Message>,
    universe: &Universe,
) -> Result<(), Fault> {
    let fault = |text: &str| Err(field.at.fault(text));
    let proto = &field.proto;
    let repeated = proto.label == Some(Label::LABEL_REPEATED);
    let is_message = matches!(proto.r#type, Some(Type::TYPE_MESSAGE | Type::TYPE_GROUP));
    let in_oneof = proto.oneof_index.is_some();
    let single = !repeated && !in_oneof && message.is_some();
    let implicit = field.features.presence == FieldPresence::IMPLICIT;
    if single && implicit && !is_message {
        if field.default_at.is_some() {
            return fault("a field without presence has no default");
        }
        let item = universe.enum_of(field.target);
        if item.is_some_and(|item| item.closed) {
            return Err(field
                .type_at
                .fault("the enum of a field without presence must be open"));
        }
    }
    let Some(own) = own!(field) else {
        return Ok(());
    };
    if let Some(presence) = own.field_presence {
        let required = presence == FieldPresence::LEGACY_REQUIRED;
        if in_oneof {
            return fault("`field_presence` cannot be set on a field of a oneof");
        }
        if repeated {
            return fault("`field_presence` cannot be set on a repeated field");
        }
        if message.is_none() && required {
            return fault("an extension cannot be required");
        }
        if message.is_none() {
            return fault("`field_presence` cannot be set on an extension");
        }
        if is_message && presence == FieldPresence::IMPLICIT {
            return fault("a message always has presence");
        }
    }
    let kinds = kinds(field, universe);
    if message.is_some_and(Message::is_map_entry) {
        return Ok(());
    }
    if own.utf8_validation.is_some() && !kinds.contains(&Some(Type::TYPE_STRING)) {
        return fault("`utf8_validation` is for strings alone");
    }
    if let Some(encoding) = own.repeated_field_encoding {
        if !repeated {
            return fault("`repeated_field_encoding` is for repeated fields alone");
        }
        let packable = proto.r#type.is_some_and(settle::is_packable);
        if encoding == RepeatedFieldEncoding::PACKED && !packable {
            return fault("only numbers, enums and bool can be packed");
        }
    }
    if own.message_encoding.is_some() && (!is_message || field.is_map) {
        return fault("`message_encoding` is for messages alone");
    }
    Ok(())
}

/// The type of a field, or those of a map's keys and values.
fn kinds(field: &Field, universe: &Universe) -> Vec<Option<Type>> {
    match universe.message_of(field.target) {
        Some(info) if field.is_map => info.fields.iter().map(|part| Some(part.kind)).collect(),
        _ => vec![field.proto.r#type],
    }
}
