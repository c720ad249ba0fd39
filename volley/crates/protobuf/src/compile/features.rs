//! Features: what holds for a part of a file, by its edition and what it and its surroundings set.

use buffa_descriptor::generated::descriptor::feature_set::visibility_feature::DefaultSymbolVisibility;
use buffa_descriptor::generated::descriptor::feature_set::{
    EnforceNamingStyle, EnumType, FieldPresence, JsonFormat, MessageEncoding,
    RepeatedFieldEncoding, Utf8Validation,
};
use buffa_descriptor::generated::descriptor::{Edition, FeatureSet};

/// The features that a part of a file sets itself, if it does.
macro_rules! own {
    ($part:expr) => {
        $part
            .proto
            .options
            .as_option()
            .and_then(|options| options.features.as_option())
    };
}
pub(super) use own;

/// Whether a file has an edition instead of a syntax.
pub(super) fn has_edition(edition: Edition) -> bool {
    edition as i32 >= Edition::EDITION_2023 as i32
}

/// Whether a file has this edition or a later one.
pub(super) fn is_2024(edition: Edition) -> bool {
    edition as i32 >= Edition::EDITION_2024 as i32
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Features {
    pub presence: FieldPresence,
    pub enums: EnumType,
    pub repeated: RepeatedFieldEncoding,
    pub utf8: Utf8Validation,
    pub encoding: MessageEncoding,
    pub json: JsonFormat,
    /// A style that is checked.
    pub style: bool,
    pub visibility: DefaultSymbolVisibility,
}

impl Default for Features {
    fn default() -> Self {
        Self::of(Edition::EDITION_PROTO2)
    }
}

impl Features {
    /// The defaults of an edition.
    pub fn of(edition: Edition) -> Self {
        let legacy = edition == Edition::EDITION_PROTO2;
        let is_2024 = is_2024(edition);
        Self {
            presence: match edition {
                Edition::EDITION_PROTO3 => FieldPresence::IMPLICIT,
                _ => FieldPresence::EXPLICIT,
            },
            enums: if legacy {
                EnumType::CLOSED
            } else {
                EnumType::OPEN
            },
            repeated: match legacy {
                true => RepeatedFieldEncoding::EXPANDED,
                false => RepeatedFieldEncoding::PACKED,
            },
            utf8: if legacy {
                Utf8Validation::NONE
            } else {
                Utf8Validation::VERIFY
            },
            encoding: MessageEncoding::LENGTH_PREFIXED,
            json: if legacy {
                JsonFormat::LEGACY_BEST_EFFORT
            } else {
                JsonFormat::ALLOW
            },
            style: is_2024,
            visibility: match is_2024 {
                true => DefaultSymbolVisibility::EXPORT_TOP_LEVEL,
                false => DefaultSymbolVisibility::EXPORT_ALL,
            },
        }
    }

    /// With what a part sets itself.
    #[must_use]
    pub fn with(self, own: Option<&FeatureSet>) -> Self {
        let Some(own) = own else { return self };
        let style = own
            .enforce_naming_style
            .map(|style| style != EnforceNamingStyle::STYLE_LEGACY);
        Self {
            presence: own.field_presence.unwrap_or(self.presence),
            enums: own.enum_type.unwrap_or(self.enums),
            repeated: own.repeated_field_encoding.unwrap_or(self.repeated),
            utf8: own.utf8_validation.unwrap_or(self.utf8),
            encoding: own.message_encoding.unwrap_or(self.encoding),
            json: own.json_format.unwrap_or(self.json),
            style: style.unwrap_or(self.style),
            visibility: own.default_symbol_visibility.unwrap_or(self.visibility),
        }
    }
}

/// The feature that is set to no known value, if there is one.
pub(super) fn unknown(own: &FeatureSet) -> Option<&'static str> {
    // Of each feature, 0 is no value.
    let given = [
        ("field_presence", own.field_presence.map(|it| it as i32)),
        ("enum_type", own.enum_type.map(|it| it as i32)),
        (
            "repeated_field_encoding",
            own.repeated_field_encoding.map(|it| it as i32),
        ),
        ("utf8_validation", own.utf8_validation.map(|it| it as i32)),
        ("message_encoding", own.message_encoding.map(|it| it as i32)),
        ("json_format", own.json_format.map(|it| it as i32)),
        (
            "enforce_naming_style",
            own.enforce_naming_style.map(|it| it as i32),
        ),
        (
            "default_symbol_visibility",
            own.default_symbol_visibility.map(|it| it as i32),
        ),
    ];
    let unknown = given.into_iter().find(|(_, value)| *value == Some(0));
    unknown.map(|(name, _)| name)
}
