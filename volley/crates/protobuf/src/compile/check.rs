//! What a file must not say, although all of it can be read.

mod declarations;
mod enums;
mod fields;
mod json;
mod numbers;
mod presence;
mod style;

use std::collections::HashSet;

use buffa_descriptor::generated::descriptor::feature_set::FieldPresence;
use buffa_descriptor::generated::descriptor::feature_set::visibility_feature::DefaultSymbolVisibility;
use buffa_descriptor::generated::descriptor::field_options::FeatureSupport;
use buffa_descriptor::generated::descriptor::file_options::OptimizeMode;
use buffa_descriptor::generated::descriptor::{Edition, FeatureSet, SymbolVisibility};

use super::error::{Fault, Pos, shown};
use super::features::{self, has_edition, own};
use super::tree::{Enum, File, Message, place};
use super::universe::Universe;

/// Checks a whole file.
pub(super) fn check(universe: &Universe, file: &File) -> Result<(), Fault> {
    let checker = Checker {
        universe,
        edition: file.edition,
        strict: file.features.visibility == DefaultSymbolVisibility::STRICT,
    };
    checker.file_options(file)?;
    style::file(file)?;
    for message in &file.messages {
        checker.message(message, false)?;
    }
    for item in &file.enums {
        checker.enumeration(item, false)?;
    }
    for extension in &file.extensions {
        checker.extension(extension, file.package())?;
    }
    for service in &file.services {
        style::service(service)?;
        checker.features(own!(service), service.at)?;
        for method in &service.methods {
            checker.features(own!(method), method.at)?;
        }
    }
    Ok(())
}

struct Checker<'a> {
    universe: &'a Universe,
    edition: Edition,
    /// Nested types cannot be exported.
    strict: bool,
}

impl Checker<'_> {
    fn is_proto3(&self) -> bool {
        self.edition == Edition::EDITION_PROTO3
    }

    fn file_options(&self, file: &File) -> Result<(), Fault> {
        let Some(options) = file.proto.options.as_option() else {
            return Ok(());
        };
        self.features(own!(file), Pos::START)?;
        let at = |name: &str| {
            let named = file
                .options
                .iter()
                .find(|option| option.path.iter().any(|part| part.name == name));
            named.map_or(Pos::START, |option| option.at)
        };
        if options.java_string_check_utf8 == Some(true) && has_edition(self.edition) {
            let message = "an edition has no option `java_string_check_utf8`";
            return Err(at("java_string_check_utf8").fault(message));
        }
        let generic = [options.cc_generic_services, options.java_generic_services];
        let lite = options.optimize_for == Some(OptimizeMode::LITE_RUNTIME);
        if let Some(service) = file.services.first()
            && lite
            && generic.contains(&Some(true))
        {
            let message = "a lite file with services has neither `cc_generic_services` nor `java_generic_services`";
            return Err(service.at.fault(message));
        }
        if file.features.presence == FieldPresence::LEGACY_REQUIRED {
            return Err(at("field_presence").fault("a whole file cannot have required fields"));
        }
        Ok(())
    }

    fn features(&self, own: Option<&FeatureSet>, at: Pos) -> Result<(), Fault> {
        let Some(own) = own else { return Ok(()) };
        if !has_edition(self.edition) {
            return Err(at.fault("only editions have features"));
        }
        match features::unknown(own) {
            Some(name) => Err(at.fault(format!("the feature {} has no known value", shown(name)))),
            None => Ok(()),
        }
    }

    fn message(&self, message: &Message, nested: bool) -> Result<(), Fault> {
        self.features(own!(message), message.at)?;
        style::message(message)?;
        if self.strict && nested && is_exported(message.proto.visibility) {
            return Err(message
                .at
                .fault("a nested message cannot be exported: the visibility is strict"));
        }
        numbers::message(self.universe, message)?;
        json::message(message, self.edition)?;
        self.message_kind(message)?;
        let used = message
            .fields
            .iter()
            .filter_map(|field| field.proto.oneof_index);
        let used: HashSet<i32> = used.collect();
        for (index, oneof) in (0..).zip(&message.oneofs) {
            self.features(own!(oneof), oneof.at)?;
            if !used.contains(&index) {
                return Err(oneof.at.fault("the oneof has no field"));
            }
        }
        for field in &message.fields {
            self.field(field, Some(message))?;
        }
        for range in &message.ranges {
            self.features(own!(range), range.at)?;
            declarations::range(range)?;
        }
        declarations::unique(message)?;
        for nested in &message.messages {
            self.message(nested, true)?;
        }
        let exported = is_exported(message.proto.visibility);
        let is_namespace = !nested && !exported && numbers::is_namespace(message);
        for item in &message.enums {
            self.enumeration(item, !is_namespace)?;
        }
        let info = self.universe.messages.get(message.index);
        let scope = info.map_or("", |info| &info.full_name);
        for extension in &message.extensions {
            self.extension(extension, scope)?;
        }
        Ok(())
    }

    fn message_kind(&self, message: &Message) -> Result<(), Fault> {
        let options = message.proto.options.as_option();
        let mut written = message.options.iter();
        if let Some(option) = written.find(|option| option.sets("map_entry")) {
            let message = "`map_entry` cannot be set: write `map<key, value>`";
            return Err(option.at.fault(message));
        }
        if options.is_some_and(|options| options.message_set_wire_format == Some(true)) {
            if self.is_proto3() {
                let at = place(&message.options, "message_set_wire_format", message.at);
                return Err(at.fault("proto3 has no message sets"));
            }
            if let Some(field) = message.fields.first() {
                return Err(field
                    .at
                    .fault("a message set has no fields, only extensions"));
            }
        }
        match message.ranges.first() {
            Some(range) if self.is_proto3() => {
                Err(range.at.fault("proto3 has no extension ranges"))
            }
            _ => Ok(()),
        }
    }

    fn enumeration(&self, item: &Enum, nested: bool) -> Result<(), Fault> {
        self.features(own!(item), item.at)?;
        style::enumeration(item)?;
        if self.strict && nested && is_exported(item.proto.visibility) {
            return Err(item
                .at
                .fault("a nested enum cannot be exported: the visibility is strict"));
        }
        for value in &item.values {
            self.features(own!(value), value.at)?;
            let options = value.proto.options.as_option();
            support(
                options.and_then(|own| own.feature_support.as_option()),
                value.at,
            )?;
        }
        enums::check(item, self.edition)
    }
}

/// Checks that the editions of an option, or of a value of one, fit together.
fn support(own: Option<&FeatureSupport>, at: Pos) -> Result<(), Fault> {
    let Some(own) = own else { return Ok(()) };
    let number = |edition: Option<Edition>| edition.map(|edition| edition as i32);
    let introduced = number(own.edition_introduced);
    let (deprecated, removed) = (number(own.edition_deprecated), number(own.edition_removed));
    let is_before = |one: Option<i32>, other| one.is_some() && one < other;
    let faults = [
        (
            deprecated.is_some() != own.deprecation_warning.is_some(),
            "`edition_deprecated` and `deprecation_warning` need each other",
        ),
        (
            is_before(deprecated, introduced),
            "`edition_deprecated` is before `edition_introduced`",
        ),
        (
            is_before(removed, introduced),
            "`edition_removed` is before `edition_introduced`",
        ),
        (
            removed.is_some() && removed <= deprecated,
            "`edition_removed` must be after `edition_deprecated`",
        ),
    ];
    match faults.iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, message)) => Err(at.fault(*message)),
        None => Ok(()),
    }
}

fn is_exported(visibility: Option<SymbolVisibility>) -> bool {
    visibility == Some(SymbolVisibility::VISIBILITY_EXPORT)
}
