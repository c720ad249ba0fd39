//! Fields, and what they hold.

use std::fmt;
use std::sync::Arc;

use buffa::editions::{EnumType, FieldPresence};
use buffa_descriptor::{
    ExtensionDescriptor, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind,
};

use super::descriptor::FieldDescriptorProto;
use super::descriptor::feature_set::Utf8Validation;
use super::full_name::join;
use super::pool::Pool;
use super::types::{Enum, Message, Oneof};

/// A field of a message.
#[derive(Clone)]
pub struct Field {
    pool: Pool,
    message: MessageIndex,
    of: Arc<FieldDescriptor>,
    /// Of an extension, its full name.
    extension: Option<Arc<str>>,
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.pool == other.pool
            && self.message == other.message
            && self.number() == other.number()
            && self.extension == other.extension
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// Declares the types that hold no others, with their names in .proto files.
macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// What a field holds; of a list, one element; of a map, one entry.
        #[derive(Clone, PartialEq)]
        pub enum Kind { $($kind,)* Enum(Enum), Message(Message) }

        /// As .proto files name it.
        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$kind => $name,)*
                    Self::Enum(of) => of.full_name(),
                    Self::Message(of) => of.full_name(),
                })
            }
        }

        impl Kind {
            fn scalar(scalar: ScalarType) -> Self {
                match scalar { $(ScalarType::$kind => Self::$kind,)* }
            }
        }
    };
}

kinds! {
    Double = "double",
    Float = "float",
    Int64 = "int64",
    Uint64 = "uint64",
    Int32 = "int32",
    Fixed64 = "fixed64",
    Fixed32 = "fixed32",
    Bool = "bool",
    String = "string",
    Bytes = "bytes",
    Uint32 = "uint32",
    Sfixed32 = "sfixed32",
    Sfixed64 = "sfixed64",
    Sint32 = "sint32",
    Sint64 = "sint64",
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Kind {
    pub(super) fn new(pool: &Pool, kind: SingularKind) -> Self {
        match kind {
            SingularKind::Scalar(scalar) => Self::scalar(scalar),
            SingularKind::Enum(index) => Self::Enum(Enum::new(pool, index)),
            SingularKind::Message(index) => Self::Message(Message::new(pool, index)),
        }
    }

    /// The message, if it is one.
    #[must_use]
    pub fn as_message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            _ => None,
        }
    }
}

impl Field {
    pub(super) fn new(pool: &Pool, message: MessageIndex, of: &FieldDescriptor) -> Self {
        Self {
            pool: pool.clone(),
            message,
            of: Arc::new(of.clone()),
            extension: None,
        }
    }

    pub(super) fn extension(pool: &Pool, of: &ExtensionDescriptor) -> Self {
        Self {
            extension: Some(of.full_name().into()),
            ..Self::new(pool, of.extendee(), of.field())
        }
    }

    /// A field or an extension of a message, by its number.
    pub(super) fn of_number(message: &Message, number: u32) -> Option<Self> {
        let descriptors = message.pool().descriptors();
        let extension = || descriptors.extension_for(message.index(), number);
        let extension = || Some(Self::extension(message.pool(), extension()?));
        message.field(number).or_else(extension)
    }

    /// Its name in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        self.of.name()
    }

    /// `package.Message.field`; of an extension, `package.name`.
    #[must_use]
    pub fn full_name(&self) -> String {
        match &self.extension {
            Some(name) => name.to_string(),
            None => join(self.message().full_name(), self.name()),
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn json_name(&self) -> &str {
        self.of.json_name()
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.of.number()
    }

    /// The message that it belongs to, or extends.
    #[must_use]
    pub fn message(&self) -> Message {
        Message::new(&self.pool, self.message)
    }

    /// What it holds.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.of.kind() {
            FieldKind::Singular(kind) | FieldKind::List(kind) => Kind::new(&self.pool, kind),
            FieldKind::Map { value, .. } => match self.entry() {
                Some(entry) => Kind::Message(entry),
                None => Kind::new(&self.pool, value),
            },
        }
    }

    fn entry(&self) -> Option<Message> {
        let entry = self.pool.places().entry(self.message, self.number())?;
        Some(Message::new(&self.pool, entry))
    }

    /// What the keys and the values of a map are.
    #[must_use]
    pub fn map_kinds(&self) -> Option<(Kind, Kind)> {
        match self.of.kind() {
            FieldKind::Map { key, value } => {
                Some((Kind::scalar(key), Kind::new(&self.pool, value)))
            }
            _ => None,
        }
    }

    /// It holds any number of values.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.of.kind(), FieldKind::List(_))
    }

    /// It holds values by keys.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.of.kind(), FieldKind::Map { .. })
    }

    /// It may be absent, and not only zero or empty.
    #[must_use]
    pub fn has_presence(&self) -> bool {
        self.of.presence() != FieldPresence::Implicit
    }

    /// A message without it is none.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.of.presence() == FieldPresence::LegacyRequired
    }

    /// Its messages stand between two keys, as those of groups.
    #[must_use]
    pub fn is_delimited(&self) -> bool {
        self.of.is_delimited() && !self.is_map()
    }

    /// It holds an enum, and a number that has no name there is an unknown field.
    #[must_use]
    pub fn is_closed_enum(&self) -> bool {
        self.of.enum_type() == Some(EnumType::Closed)
    }

    /// Its text must be UTF-8. In files of proto2 it need not be.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        let Some(file) = self.pool.file_of(&self.full_name()) else {
            return true;
        };
        let own = self.proto().and_then(|proto| proto.options.as_option());
        let own = own.and_then(|options| options.features.as_option());
        let all = file.options.as_option();
        let all = all.and_then(|options| options.features.as_option());
        let told = [own, all].into_iter().flatten();
        let told = told.filter_map(|features| features.utf8_validation).next();
        match told {
            Some(told) => told != Utf8Validation::NONE,
            None => file
                .syntax
                .as_deref()
                .is_some_and(|syntax| syntax != "proto2"),
        }
    }

    /// The oneof that it belongs to.
    #[must_use]
    pub fn oneof(&self) -> Option<Oneof> {
        let index = usize::from(self.of.oneof_index()?);
        Some(Oneof::new(&self.message(), index))
    }

    /// As its file has it.
    #[must_use]
    pub fn proto(&self) -> Option<&FieldDescriptorProto> {
        let descriptors = self.pool.descriptors();
        let (places, files) = (self.pool.places(), descriptors.files());
        match &self.extension {
            Some(name) => places.extension(files, descriptors.extension_index(name)?),
            None => places.field(files, self.message, self.number()),
        }
    }

    /// The name in JSON that its file gives it.
    #[must_use]
    pub fn declared_json_name(&self) -> Option<String> {
        match self.pool.renamed(&self.full_name()) {
            Some(original) => original.clone(),
            None => self.proto()?.json_name.clone(),
        }
    }
}
