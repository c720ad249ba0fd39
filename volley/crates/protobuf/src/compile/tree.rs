//! A file as it is parsed: descriptors that are not complete yet, with the places of their parts.
//!
//! A node's `proto` has no children: they are nodes too, and come together in `assemble`.

use buffa_descriptor::generated::descriptor::{
    DescriptorProto, Edition, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, MethodDescriptorProto, OneofDescriptorProto, ServiceDescriptorProto,
    descriptor_proto, enum_descriptor_proto,
};

use super::error::Pos;
use super::features::Features;
use super::universe::TypeRef;

/// How a file is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportKind {
    Plain,
    Public,
    Weak,
    /// For its options alone.
    Option,
}

#[derive(Debug)]
pub(super) struct Import {
    pub name: String,
    pub kind: ImportKind,
    pub at: Pos,
}

/// A part of an option's name.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub name: String,
    /// Written in parentheses.
    pub extension: bool,
    pub at: Pos,
}

/// The value of an option as it is written.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Name(String),
    Integer {
        negative: bool,
        value: u64,
    },
    Float(f64),
    Text(Vec<u8>),
    /// The text between braces, and its place.
    Block(Vec<u8>, Pos),
}

#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub path: Vec<Part>,
    pub value: Value,
    pub at: Pos,
    pub value_at: Pos,
}

#[derive(Debug)]
pub(super) struct File {
    pub proto: FileDescriptorProto,
    pub edition: Edition,
    pub imports: Vec<Import>,
    pub package_at: Pos,
    pub messages: Vec<Message>,
    pub enums: Vec<Enum>,
    pub services: Vec<Service>,
    pub extensions: Vec<Field>,
    pub options: Vec<Assignment>,
    pub features: Features,
}

impl File {
    pub fn name(&self) -> &str {
        self.proto.name.as_deref().unwrap_or_default()
    }

    pub fn package(&self) -> &str {
        self.proto.package.as_deref().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(super) struct Message {
    pub proto: DescriptorProto,
    pub at: Pos,
    pub fields: Vec<Field>,
    pub extensions: Vec<Field>,
    pub messages: Vec<Message>,
    pub enums: Vec<Enum>,
    pub oneofs: Vec<Oneof>,
    pub ranges: Vec<Range>,
    pub reserved: Vec<(descriptor_proto::ReservedRange, Pos)>,
    pub reserved_names: Vec<(String, Pos)>,
    pub options: Vec<Assignment>,
    pub features: Features,
    /// Its index among all messages.
    pub index: usize,
}

impl Message {
    pub fn name(&self) -> &str {
        self.proto.name.as_deref().unwrap_or_default()
    }

    pub fn is_map_entry(&self) -> bool {
        let options = self.proto.options.as_option();
        options.is_some_and(|options| options.map_entry == Some(true))
    }
}

#[derive(Debug, Default)]
pub(super) struct Field {
    pub proto: FieldDescriptorProto,
    pub at: Pos,
    pub number_at: Pos,
    pub type_at: Pos,
    pub extendee_at: Pos,
    pub default_at: Option<Pos>,
    pub json_name_at: Option<Pos>,
    pub options: Vec<Assignment>,
    pub features: Features,
    pub target: Option<TypeRef>,
    pub is_map: bool,
    /// The index of the extended message.
    pub extendee: usize,
}

impl Field {
    pub fn name(&self) -> &str {
        self.proto.name.as_deref().unwrap_or_default()
    }

    pub fn number(&self) -> i32 {
        self.proto.number.unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(super) struct Oneof {
    pub proto: OneofDescriptorProto,
    pub at: Pos,
    pub options: Vec<Assignment>,
    pub features: Features,
}

/// A range of extensions.
#[derive(Debug, Default)]
pub(super) struct Range {
    pub proto: descriptor_proto::ExtensionRange,
    /// Written `max`.
    pub to_max: bool,
    pub at: Pos,
    pub options: Vec<Assignment>,
    pub features: Features,
}

#[derive(Debug, Default)]
pub(super) struct Enum {
    pub proto: EnumDescriptorProto,
    pub at: Pos,
    pub values: Vec<EnumValue>,
    pub reserved: Vec<(enum_descriptor_proto::EnumReservedRange, Pos)>,
    pub reserved_names: Vec<(String, Pos)>,
    pub options: Vec<Assignment>,
    pub features: Features,
    /// Its index among all enums.
    pub index: usize,
}

impl Enum {
    pub fn name(&self) -> &str {
        self.proto.name.as_deref().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(super) struct EnumValue {
    pub proto: EnumValueDescriptorProto,
    pub at: Pos,
    pub number_at: Pos,
    pub options: Vec<Assignment>,
    pub features: Features,
}

impl EnumValue {
    pub fn name(&self) -> &str {
        self.proto.name.as_deref().unwrap_or_default()
    }

    pub fn number(&self) -> i32 {
        self.proto.number.unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(super) struct Service {
    pub proto: ServiceDescriptorProto,
    pub at: Pos,
    pub methods: Vec<Method>,
    pub options: Vec<Assignment>,
    pub features: Features,
}

#[derive(Debug, Default)]
pub(super) struct Method {
    pub proto: MethodDescriptorProto,
    pub at: Pos,
    pub input_at: Pos,
    pub output_at: Pos,
    pub options: Vec<Assignment>,
    pub features: Features,
}

/// Where the plain option of this name is set, or else `part`.
pub(super) fn place(options: &[Assignment], name: &str, part: Pos) -> Pos {
    let mut options = options.iter();
    options
        .find(|option| option.sets(name))
        .map_or(part, |option| option.at)
}

impl Assignment {
    /// Whether it sets the plain option of this name, or a part of it.
    pub fn sets(&self, name: &str) -> bool {
        let first = self.path.first();
        first.is_some_and(|part| part.name == name && !part.extension)
    }

    /// Whether it sets the plain option of this name to true.
    pub fn is_true(&self, name: &str) -> bool {
        self.sets(name) && matches!(&self.value, Value::Name(word) if word == "true")
    }
}
