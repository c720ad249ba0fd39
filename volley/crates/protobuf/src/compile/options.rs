//! Options: each is written to the binary format by what its schema says, and the whole is read as the type that the
//! descriptor has for it. So an extension becomes a field that this type does not know.

mod aggregate;
mod assign;
mod record;
mod usage;

use buffa::{Inline, MessageField};
use buffa_descriptor::generated::descriptor::Edition;
use buffa_descriptor::generated::descriptor::field_options::OptionTargetType as Target;

use self::assign::Interpreter;
use super::super::full_name::join;
use super::error::Fault;
use super::tree::{Assignment, Enum, Field, File, Message};
use super::universe::{Universe, View};

/// Which options are read. Plain ones come first, as features decide how extensions are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Plain,
    Extensions,
}

/// Reads the options of a whole file.
pub(super) fn interpret(
    universe: &Universe,
    view: &View,
    file: &mut File,
    pass: Pass,
) -> Result<(), Fault> {
    let reader = Reader {
        interpreter: Interpreter::new(universe, view, file.edition),
        pass,
    };
    let package = file.package().to_owned();
    reader.read(
        &mut file.proto.options,
        &file.options,
        Target::TARGET_TYPE_FILE,
        &package,
    )?;
    reader.fields(&mut file.extensions, &package)?;
    for message in &mut file.messages {
        reader.message(message, &package)?;
    }
    for item in &mut file.enums {
        reader.enumeration(item, &package)?;
    }
    for service in &mut file.services {
        let target = Target::TARGET_TYPE_SERVICE;
        reader.read(
            &mut service.proto.options,
            &service.options,
            target,
            &package,
        )?;
        let scope = join(&package, service.proto.name.as_deref().unwrap_or_default());
        for method in &mut service.methods {
            let target = Target::TARGET_TYPE_METHOD;
            reader.read(&mut method.proto.options, &method.options, target, &scope)?;
        }
    }
    Ok(())
}

struct Reader<'a> {
    interpreter: Interpreter<'a>,
    pass: Pass,
}

impl Reader<'_> {
    fn read<M: buffa::Message>(
        &self,
        own: &mut MessageField<M, Inline<M>>,
        options: &[Assignment],
        target: Target,
        scope: &str,
    ) -> Result<(), Fault> {
        let of_pass = options.iter().filter(|option| {
            let extension = option.path.first().is_some_and(|part| part.extension);
            extension == (self.pass == Pass::Extensions)
        });
        let options: Vec<&Assignment> = of_pass.collect();
        let Some(first) = options.first() else {
            return Ok(());
        };
        let bytes = self.interpreter.encode(&options, target, scope)?;
        let merged = own.get_or_insert_default().merge_from_slice(&bytes);
        merged.map_err(|error| {
            first
                .at
                .fault(format!("the options cannot be kept: {error}"))
        })
    }

    fn message(&self, message: &mut Message, scope: &str) -> Result<(), Fault> {
        let target = Target::TARGET_TYPE_MESSAGE;
        self.read(&mut message.proto.options, &message.options, target, scope)?;
        let inside = join(scope, message.name());
        self.fields(&mut message.fields, &inside)?;
        for oneof in &mut message.oneofs {
            let target = Target::TARGET_TYPE_ONEOF;
            self.read(&mut oneof.proto.options, &oneof.options, target, &inside)?;
        }
        for nested in &mut message.messages {
            self.message(nested, &inside)?;
        }
        for item in &mut message.enums {
            self.enumeration(item, &inside)?;
        }
        for range in &mut message.ranges {
            let target = Target::TARGET_TYPE_EXTENSION_RANGE;
            self.read(&mut range.proto.options, &range.options, target, scope)?;
        }
        self.fields(&mut message.extensions, &inside)
    }

    fn fields(&self, fields: &mut [Field], scope: &str) -> Result<(), Fault> {
        for field in fields {
            let target = Target::TARGET_TYPE_FIELD;
            self.read(&mut field.proto.options, &field.options, target, scope)?;
        }
        Ok(())
    }

    fn enumeration(&self, item: &mut Enum, scope: &str) -> Result<(), Fault> {
        self.read(
            &mut item.proto.options,
            &item.options,
            Target::TARGET_TYPE_ENUM,
            scope,
        )?;
        for value in &mut item.values {
            let target = Target::TARGET_TYPE_ENUM_ENTRY;
            self.read(&mut value.proto.options, &value.options, target, scope)?;
        }
        Ok(())
    }
}

/// The message that has the options of something.
fn options_message(target: Target) -> &'static str {
    match target {
        Target::TARGET_TYPE_EXTENSION_RANGE => "google.protobuf.ExtensionRangeOptions",
        Target::TARGET_TYPE_MESSAGE => "google.protobuf.MessageOptions",
        Target::TARGET_TYPE_FIELD => "google.protobuf.FieldOptions",
        Target::TARGET_TYPE_ONEOF => "google.protobuf.OneofOptions",
        Target::TARGET_TYPE_ENUM => "google.protobuf.EnumOptions",
        Target::TARGET_TYPE_ENUM_ENTRY => "google.protobuf.EnumValueOptions",
        Target::TARGET_TYPE_SERVICE => "google.protobuf.ServiceOptions",
        Target::TARGET_TYPE_METHOD => "google.protobuf.MethodOptions",
        Target::TARGET_TYPE_FILE | Target::TARGET_TYPE_UNKNOWN => "google.protobuf.FileOptions",
    }
}

/// An edition as people write it.
fn edition_name(edition: Edition) -> String {
    match edition {
        Edition::EDITION_PROTO2 => "proto2".to_owned(),
        Edition::EDITION_PROTO3 => "proto3".to_owned(),
        Edition::EDITION_2023 => "edition 2023".to_owned(),
        Edition::EDITION_2024 => "edition 2024".to_owned(),
        other => format!("edition {}", other as i32),
    }
}
