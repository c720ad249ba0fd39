//! What all files together define.

use std::collections::{HashMap, HashSet};

use buffa_descriptor::generated::descriptor::field_descriptor_proto::Type;
use buffa_descriptor::generated::descriptor::{
    descriptor_proto, extension_range_options, field_options,
};

use super::super::full_name::{self, LONGEST, join};
use super::tree::Range;

/// The type of a field that has a name: the index of a message or an enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeRef {
    Message(usize),
    Enum(usize),
}

/// What a full name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Package,
    Type(TypeRef),
    Extension(usize),
    /// A field, a oneof, a value of an enum, a method.
    Other,
    Service,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    pub kind: Kind,
    pub file: usize,
}

impl Symbol {
    /// Whether names can be inside of it.
    fn is_scope(self) -> bool {
        matches!(self.kind, Kind::Package | Kind::Type(_) | Kind::Service)
    }
}

/// A file, for those that import it.
#[derive(Debug)]
pub(super) struct FileInfo {
    pub name: String,
    pub package: String,
    /// The files that a file which imports this one sees too.
    pub public: Vec<usize>,
    /// For the lite runtime.
    pub lite: bool,
}

/// A field, for options that set it.
#[derive(Debug, Clone)]
pub(super) struct FieldInfo {
    pub name: String,
    pub full_name: String,
    pub number: i32,
    pub kind: Type,
    pub target: Option<TypeRef>,
    pub repeated: bool,
    pub required: bool,
    pub packed: bool,
    /// Whether 0 is as good as nothing.
    pub implicit: bool,
    pub oneof: Option<i32>,
    /// The message it belongs to, or extends.
    pub parent: usize,
    pub extension: bool,
    /// What it may be an option of; anything if empty.
    pub targets: Vec<field_options::OptionTargetType>,
    pub support: Option<field_options::FeatureSupport>,
}

#[derive(Debug, Default)]
pub(super) struct MessageInfo {
    pub full_name: String,
    pub file: usize,
    pub fields: Vec<FieldInfo>,
    pub by_name: HashMap<String, usize>,
    /// The numbers of the fields that must be there.
    pub required: Vec<i32>,
    pub map_entry: bool,
    pub message_set: bool,
    pub reserved_names: HashSet<String>,
    pub ranges: Vec<RangeInfo>,
    /// Whether other files may use it.
    pub exported: bool,
    /// The extensions of it, by number.
    pub extensions: HashMap<i32, usize>,
    /// The extensions of it that are inside of their types, by type.
    pub items: HashMap<usize, usize>,
}

impl MessageInfo {
    /// The range of extensions that a number is in. Ranges have no number in common.
    pub fn range_of(&self, number: i32) -> Option<&RangeInfo> {
        let after = self.ranges.partition_point(|range| range.start <= number);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (number < range.end).then_some(range)
    }

    pub fn field(&self, name: &str) -> Option<&FieldInfo> {
        self.by_name
            .get(name)
            .and_then(|index| self.fields.get(*index))
    }
}

/// A range of extensions, and who may use it.
#[derive(Debug, Clone)]
pub(super) struct RangeInfo {
    pub start: i32,
    pub end: i32,
    pub declarations: HashMap<i32, extension_range_options::Declaration>,
    /// Only declared extensions can use it.
    pub declared_only: bool,
}

impl RangeInfo {
    /// In the order of their numbers.
    pub fn all(ranges: &[Range]) -> Vec<Self> {
        let mut all: Vec<Self> = ranges.iter().map(|range| Self::of(&range.proto)).collect();
        all.sort_by_key(|range| range.start);
        all
    }

    fn of(range: &descriptor_proto::ExtensionRange) -> Self {
        let options = range.options.as_option();
        let declarations = options.map(|options| options.declaration.as_slice());
        let declarations: HashMap<i32, _> = declarations
            .unwrap_or_default()
            .iter()
            .map(|one| (one.number.unwrap_or_default(), one.clone()))
            .collect();
        let declaration = extension_range_options::VerificationState::DECLARATION;
        let asked = options.is_some_and(|options| options.verification == Some(declaration));
        Self {
            start: range.start.unwrap_or_default(),
            end: range.end.unwrap_or_default(),
            declared_only: asked || !declarations.is_empty(),
            declarations,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct EnumInfo {
    pub full_name: String,
    pub file: usize,
    pub values: HashMap<String, i32>,
    pub numbers: HashSet<i32>,
    pub first: Option<i32>,
    /// The values that only some editions have.
    pub support: HashMap<String, field_options::FeatureSupport>,
    pub closed: bool,
    /// Whether other files may use it.
    pub exported: bool,
}

/// Why a name is not found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    Undefined,
    /// No full name is as long.
    TooLong,
    /// Another file defines it.
    NotImported(usize),
    /// The first part means this, which has no such part.
    Inside(String),
}

/// All files so far.
#[derive(Debug, Default)]
pub(super) struct Universe {
    pub files: Vec<FileInfo>,
    pub symbols: HashMap<String, Symbol>,
    pub messages: Vec<MessageInfo>,
    pub enums: Vec<EnumInfo>,
    pub extensions: Vec<FieldInfo>,
    /// Messages of options that no file imports, by their full names.
    hidden: HashMap<String, usize>,
}

impl Universe {
    /// Takes away all names so far, but for use in options. Files may then define them again.
    pub fn hide(&mut self) {
        for (name, symbol) in self.symbols.drain() {
            if let Kind::Type(TypeRef::Message(index)) = symbol.kind {
                self.hidden.insert(name, index);
            }
        }
    }

    /// A message of options.
    pub fn options(&self, full_name: &str) -> Option<usize> {
        self.message(full_name)
            .or_else(|| self.hidden.get(full_name).copied())
    }

    pub fn message(&self, full_name: &str) -> Option<usize> {
        match self.symbols.get(full_name)?.kind {
            Kind::Type(TypeRef::Message(index)) => Some(index),
            _ => None,
        }
    }

    pub fn type_name(&self, target: TypeRef) -> &str {
        match target {
            TypeRef::Message(index) => self.messages.get(index).map(|info| &info.full_name),
            TypeRef::Enum(index) => self.enums.get(index).map(|info| &info.full_name),
        }
        .map_or("", String::as_str)
    }

    /// The enum of a field that has one.
    pub fn enum_of(&self, target: Option<TypeRef>) -> Option<&EnumInfo> {
        match target? {
            TypeRef::Enum(index) => self.enums.get(index),
            TypeRef::Message(_) => None,
        }
    }

    /// The message of a field that has one.
    pub fn message_of(&self, target: Option<TypeRef>) -> Option<&MessageInfo> {
        match target? {
            TypeRef::Message(index) => self.messages.get(index),
            TypeRef::Enum(_) => None,
        }
    }

    pub fn file_name(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |info| &info.name)
    }

    /// The extension of a message that has this number.
    pub fn extension_of(&self, message: usize, number: i32) -> Option<&FieldInfo> {
        let index = self.messages.get(message)?.extensions.get(&number)?;
        self.extensions.get(*index)
    }
}

/// What one file sees of all.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Its own index, and those of the files it sees.
    pub files: HashSet<usize>,
    /// With these, those it sees for options alone.
    pub option_files: HashSet<usize>,
}

impl View {
    /// The symbol of a full name.
    fn find(
        &self,
        universe: &Universe,
        name: &str,
        options: bool,
        lost: &mut Lost,
    ) -> Option<Symbol> {
        let symbol = *universe.symbols.get(name)?;
        let files = if options {
            &self.option_files
        } else {
            &self.files
        };
        if files.contains(&symbol.file) {
            return Some(symbol);
        }
        let is_in = |file: &usize| {
            let package = universe.files.get(*file).map_or("", |info| &info.package);
            let rest = package.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if symbol.kind == Kind::Package && files.iter().any(is_in) {
            return Some(symbol);
        }
        *lost = Lost::NotImported(symbol.file);
        None
    }

    /// What a name means inside of `scope`: the innermost scope that has its first part decides.
    pub fn resolve(
        &self,
        universe: &Universe,
        name: &str,
        scope: &str,
        mode: Mode,
    ) -> Result<Symbol, Lost> {
        let mut lost = Lost::Undefined;
        let options = mode == Mode::Option;
        if name.len() > LONGEST + 1 {
            return Err(Lost::TooLong);
        }
        if let Some(name) = name.strip_prefix('.') {
            return self.find(universe, name, options, &mut lost).ok_or(lost);
        }
        let (first, rest) = name
            .split_once('.')
            .map_or((name, None), |(a, b)| (a, Some(b)));
        let mut scope = scope;
        loop {
            let candidate = join(scope, first);
            if let Some(symbol) = self.find(universe, &candidate, options, &mut lost) {
                match rest {
                    Some(rest) if symbol.is_scope() => {
                        let full = join(&candidate, rest);
                        let mut inner = Lost::Undefined;
                        return match self.find(universe, &full, options, &mut inner) {
                            Some(symbol) => Ok(symbol),
                            None if inner == Lost::Undefined => Err(Lost::Inside(full)),
                            None => Err(inner),
                        };
                    }
                    Some(_) => {}
                    None if mode == Mode::Type && !matches!(symbol.kind, Kind::Type(_)) => {}
                    None => return Ok(symbol),
                }
            }
            if scope.is_empty() {
                return Err(lost);
            }
            scope = full_name::scope(scope);
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Anything at all.
    Any,
    /// A simple name that is no type is passed over.
    Type,
    /// Anything, in files imported for options too.
    Option,
}
