//! Fields: labels, types, options.

use buffa_descriptor::generated::descriptor::feature_set::MessageEncoding;
use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};
use buffa_descriptor::generated::descriptor::field_options::JSType;

use super::super::super::full_name::join;
use super::super::error::{Fault, shown};
use super::super::features::{has_edition, is_2024, own};
use super::super::parse::MAX_NUMBER;
use super::super::settle;
use super::super::tree::{Field, Message, place};
use super::{Checker, declarations, json, numbers, presence, style};

/// The messages that proto3 may extend.
const OPTIONS: [&str; 9] = [
    "google.protobuf.EnumOptions",
    "google.protobuf.EnumValueOptions",
    "google.protobuf.ExtensionRangeOptions",
    "google.protobuf.FieldOptions",
    "google.protobuf.FileOptions",
    "google.protobuf.MessageOptions",
    "google.protobuf.MethodOptions",
    "google.protobuf.OneofOptions",
    "google.protobuf.ServiceOptions",
];

impl Checker<'_> {
    pub(super) fn extension(&self, field: &Field, scope: &str) -> Result<(), Fault> {
        let Some(extendee) = self.universe.messages.get(field.extendee) else {
            return Ok(());
        };
        let max = if extendee.message_set {
            i32::MAX
        } else {
            MAX_NUMBER
        };
        numbers::number(field.number(), max, field.number_at)?;
        if json::has_own_name(field) {
            return Err(field.at.fault("an extension has no `json_name`"));
        }
        if field.proto.label == Some(Label::LABEL_REQUIRED) {
            return Err(field.at.fault("an extension cannot be required"));
        }
        let at = field.extendee_at;
        if self.is_proto3() && !OPTIONS.contains(&extendee.full_name.as_str()) {
            return Err(at.fault("proto3 extends only the messages of options"));
        }
        let is_single_message = field.proto.r#type == Some(Type::TYPE_MESSAGE)
            && field.proto.label == Some(Label::LABEL_OPTIONAL);
        if extendee.message_set && !is_single_message {
            let at = field.type_at;
            return Err(at.fault("a message set has only single messages"));
        }
        let lite = |file: usize| self.universe.files.get(file).is_some_and(|info| info.lite);
        let own = self.universe.files.len().saturating_sub(1);
        if lite(own) && !lite(extendee.file) {
            return Err(at.fault("a lite file extends only messages of lite files"));
        }
        declarations::extension(self.universe, field, extendee, &join(scope, field.name()))?;
        self.field(field, None)
    }

    /// A field of a message, or else an extension.
    pub(super) fn field(&self, field: &Field, message: Option<&Message>) -> Result<(), Fault> {
        let proto = &field.proto;
        let is_entry = message.is_some_and(Message::is_map_entry);
        if !is_entry {
            style::field(field)?;
        }
        if let Some(at) = field
            .default_at
            .filter(|_| proto.label == Some(Label::LABEL_REPEATED))
        {
            return Err(at.fault("a repeated field has no default"));
        }
        if self.is_proto3() {
            self.proto3(field)?;
        }
        if is_entry {
            self.entry(field)?;
        }
        self.field_options(field)?;
        self.features(own!(field), field.at)?;
        match has_edition(self.edition) {
            true => presence::check(field, message, self.universe),
            false => Ok(()),
        }
    }

    fn proto3(&self, field: &Field) -> Result<(), Fault> {
        let proto = &field.proto;
        if proto.label == Some(Label::LABEL_REQUIRED) {
            return Err(field.type_at.fault("proto3 has no required fields"));
        }
        if let Some(at) = field.default_at {
            return Err(at.fault("proto3 has no defaults"));
        }
        if proto.r#type == Some(Type::TYPE_GROUP) {
            return Err(field.type_at.fault("proto3 has no groups"));
        }
        match self
            .universe
            .enum_of(field.target)
            .filter(|item| item.closed)
        {
            Some(item) => {
                let name = shown(&item.full_name);
                Err(field.type_at.fault(format!(
                    "{name} is a closed enum, which proto3 does not use"
                )))
            }
            None => Ok(()),
        }
    }

    /// A part of a map's entry.
    fn entry(&self, field: &Field) -> Result<(), Fault> {
        let at = field.type_at;
        if field.number() == 2 {
            let item = self.universe.enum_of(field.target);
            return match item.and_then(|item| item.first) {
                Some(first) if first != 0 => {
                    Err(at.fault("the enum of a map's values must have 0 as its first value"))
                }
                _ => Ok(()),
            };
        }
        match field.proto.r#type {
            Some(
                Type::TYPE_FLOAT
                | Type::TYPE_DOUBLE
                | Type::TYPE_BYTES
                | Type::TYPE_MESSAGE
                | Type::TYPE_GROUP
                | Type::TYPE_ENUM,
            ) => Err(at.fault("the keys of a map are whole numbers, strings or bool")),
            _ => Ok(()),
        }
    }

    fn field_options(&self, field: &Field) -> Result<(), Fault> {
        let (proto, at) = (&field.proto, field.type_at);
        let kind = proto.r#type;
        let message = self.universe.message_of(field.target);
        if message.is_some_and(|info| info.map_entry) && !field.is_map {
            return Err(at.fault("the entry of a map is no type: write `map<key, value>`"));
        }
        let Some(options) = proto.options.as_option() else {
            return Ok(());
        };
        super::support(options.feature_support.as_option(), field.at)?;
        let is_lazy = options.lazy == Some(true) || options.unverified_lazy == Some(true);
        let delimited = field.features.encoding == MessageEncoding::DELIMITED;
        if is_lazy && (kind != Some(Type::TYPE_MESSAGE) || delimited) {
            return Err(at.fault("`lazy` is for messages alone"));
        }
        let packable = kind.is_some_and(settle::is_packable);
        let repeated = proto.label == Some(Label::LABEL_REPEATED);
        if options.packed == Some(true) && !(packable && repeated) {
            return Err(at.fault("`packed` is for repeated numbers, enums and bool alone"));
        }
        if options.packed.is_some() && has_edition(self.edition) {
            return Err(field.at.fault(
                "an edition has no option `packed`; the feature `repeated_field_encoding` is in its place",
            ));
        }
        if options.ctype.is_some() && is_2024(self.edition) {
            return Err(field.at.fault("edition 2024 has no option `ctype`"));
        }
        let long = matches!(
            kind,
            Some(
                Type::TYPE_INT64
                    | Type::TYPE_UINT64
                    | Type::TYPE_SINT64
                    | Type::TYPE_FIXED64
                    | Type::TYPE_SFIXED64
            )
        );
        let asked = options.jstype.filter(|asked| *asked != JSType::JS_NORMAL);
        if asked.is_some() && !long {
            let at = place(&field.options, "jstype", field.at);
            return Err(at.fault("`jstype` is for whole numbers of 64 bits alone"));
        }
        Ok(())
    }
}
