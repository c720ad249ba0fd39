//! Decides the features of each part of a file, and tells what follows from them to what is known of its types.

use buffa_descriptor::generated::descriptor::feature_set::visibility_feature::DefaultSymbolVisibility;
use buffa_descriptor::generated::descriptor::feature_set::{
    EnumType, FieldPresence, MessageEncoding, RepeatedFieldEncoding,
};
use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};
use buffa_descriptor::generated::descriptor::{Edition, SymbolVisibility};

use super::super::full_name::join;
use super::features::{Features, has_edition, own};
use super::tree::{Enum, Field, File, Message};
use super::universe::{FieldInfo, Kind, RangeInfo, Universe};

pub(super) fn settle(universe: &mut Universe, file: &mut File) {
    file.features = Features::of(file.edition).with(own!(file));
    let mut settler = Settler {
        universe,
        edition: file.edition,
        visibility: file.features.visibility,
    };
    let (features, package) = (
        file.features,
        file.proto.package.clone().unwrap_or_default(),
    );
    for message in &mut file.messages {
        settler.message(message, features, &package, false);
    }
    for item in &mut file.enums {
        settler.enumeration(item, features, false);
    }
    settler.extensions(&mut file.extensions, features, &package);
    for service in &mut file.services {
        service.features = features.with(own!(service));
        for method in &mut service.methods {
            method.features = service.features.with(own!(method));
        }
    }
}

struct Settler<'a> {
    universe: &'a mut Universe,
    edition: Edition,
    visibility: DefaultSymbolVisibility,
}

impl Settler<'_> {
    fn message(&mut self, message: &mut Message, around: Features, scope: &str, nested: bool) {
        message.features = around.with(own!(message));
        let features = message.features;
        let scope = join(scope, message.name());
        for oneof in &mut message.oneofs {
            oneof.features = features.with(own!(oneof));
        }
        let exported = self.exported(message.proto.visibility, nested);
        for range in &mut message.ranges {
            range.features = features.with(own!(range));
        }
        let edition = self.edition;
        if let Some(info) = self.universe.messages.get_mut(message.index) {
            info.exported = exported;
            info.ranges = RangeInfo::all(&message.ranges);
            for (field, known) in message.fields.iter_mut().zip(&mut info.fields) {
                let oneof = field
                    .proto
                    .oneof_index
                    .and_then(|index| usize::try_from(index).ok());
                let oneof = oneof.and_then(|index| message.oneofs.get(index));
                field.features = oneof
                    .map_or(features, |oneof| oneof.features)
                    .with(own!(field));
                // Maps and the parts of their entries are never delimited.
                if field.is_map || info.map_entry {
                    field.features.encoding = MessageEncoding::LENGTH_PREFIXED;
                }
                tell(field, known, edition);
                if known.required {
                    info.required.push(known.number);
                }
            }
        }
        for nested in &mut message.messages {
            self.message(nested, features, &scope, true);
        }
        for item in &mut message.enums {
            self.enumeration(item, features, true);
        }
        self.extensions(&mut message.extensions, features, &scope);
    }

    fn extensions(&mut self, extensions: &mut [Field], around: Features, scope: &str) {
        for field in extensions {
            field.features = around.with(own!(field));
            let symbol = self.universe.symbols.get(&join(scope, field.name()));
            if let Some(Kind::Extension(index)) = symbol.map(|symbol| symbol.kind)
                && let Some(known) = self.universe.extensions.get_mut(index)
            {
                tell(field, known, self.edition);
            }
        }
    }

    fn enumeration(&mut self, item: &mut Enum, around: Features, nested: bool) {
        item.features = around.with(own!(item));
        let exported = self.exported(item.proto.visibility, nested);
        let Some(info) = self.universe.enums.get_mut(item.index) else {
            return;
        };
        info.exported = exported;
        info.closed = item.features.enums == EnumType::CLOSED;
        for value in &mut item.values {
            value.features = item.features.with(own!(value));
            let options = value.proto.options.as_option();
            if let Some(support) = options.and_then(|own| own.feature_support.as_option()) {
                info.support
                    .insert(value.name().to_owned(), support.clone());
            }
        }
    }

    fn exported(&self, written: Option<SymbolVisibility>, nested: bool) -> bool {
        match (written, self.visibility) {
            (Some(SymbolVisibility::VISIBILITY_EXPORT), _) => true,
            (Some(SymbolVisibility::VISIBILITY_LOCAL), _) => false,
            (_, DefaultSymbolVisibility::EXPORT_TOP_LEVEL) => !nested,
            (_, DefaultSymbolVisibility::LOCAL_ALL | DefaultSymbolVisibility::STRICT) => false,
            _ => true,
        }
    }
}

/// Whether values of a type can be in one piece.
pub(super) fn is_packable(kind: Type) -> bool {
    !matches!(
        kind,
        Type::TYPE_STRING | Type::TYPE_BYTES | Type::TYPE_MESSAGE | Type::TYPE_GROUP
    )
}

/// What options of other things need to know of a field.
fn tell(field: &Field, known: &mut FieldInfo, edition: Edition) {
    let proto = &field.proto;
    let has_edition = has_edition(edition);
    let options = proto.options.as_option();
    let packed = options
        .and_then(|options| options.packed)
        .filter(|_| !has_edition);
    let by_feature = field.features.repeated == RepeatedFieldEncoding::PACKED;
    known.packed = known.repeated && is_packable(known.kind) && packed.unwrap_or(by_feature);
    known.implicit = field.features.presence == FieldPresence::IMPLICIT
        && known.target.is_none_or(|_| known.kind == Type::TYPE_ENUM)
        && proto.oneof_index.is_none()
        && !known.extension
        && !known.repeated;
    known.required = proto.label == Some(Label::LABEL_REQUIRED)
        || has_edition
            && field.features.presence == FieldPresence::LEGACY_REQUIRED
            && !known.repeated;
    if known.kind == Type::TYPE_MESSAGE && field.features.encoding == MessageEncoding::DELIMITED {
        known.kind = Type::TYPE_GROUP;
    }
    if let Some(options) = options {
        known.targets.clone_from(&options.targets);
        known.support = options.feature_support.as_option().cloned();
    }
}
