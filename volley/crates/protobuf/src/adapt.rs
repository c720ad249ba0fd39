//! Files as compilers and servers give them, made fit for a pool.
//!
//! What one compiler takes, another refuses: names that clash in JSON, types of files that are missing, extensions of them.
//! None of it makes the rest useless.

mod scopes;

use std::collections::{BTreeMap, HashMap, HashSet};

use scopes::{OUTERMOST, Scopes, Sort, View};
use thiserror::Error;
use volley_base::excerpt::excerpt;

use super::compile::json_name;
use super::descriptor::field_descriptor_proto::{Label, Type};
use super::descriptor::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};
use super::full_name::{LONGEST, join};

/// Why files give no schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilesError {
    #[error("a file has the syntax `{0}`: only `proto2`, `proto3` and `editions` are known")]
    Syntax(String),
    #[error("two different files have the name `{0}`: keep one")]
    Twice(String),
    #[error("the file `{0}` has names of more than {LONGEST} bytes")]
    Long(String),
    #[error("no type may have the name `{0}`: it begins with a dot")]
    Dot(String),
    #[error("its files do not fit together: {0}")]
    Invalid(String),
}

/// Files that a pool takes.
#[derive(Default)]
pub(super) struct Adapted {
    pub(super) files: Vec<FileDescriptorProto>,
    /// Types that no file declares. The last file stands for those that did.
    pub(super) missing: HashSet<String>,
    /// By a field's full name: its name in JSON, where another field has that as well.
    pub(super) renamed: HashMap<String, Option<String>>,
}

/// What the files declare.
#[derive(Default)]
struct Known {
    scopes: Scopes,
    /// A type whose name begins with a dot.
    dotted: Option<String>,
    missing: BTreeMap<String, Sort>,
    /// The numbers that messages leave to extensions.
    ranges: HashMap<usize, Vec<(i32, i32)>>,
    extended: HashSet<(usize, i32)>,
    renamed: HashMap<String, Option<String>>,
}

/// # Errors
///
/// Two files have one name, a syntax is unknown, or a name is too long or begins with a dot.
pub(super) fn adapt(files: Vec<FileDescriptorProto>) -> Result<Adapted, FilesError> {
    let mut files = once(files)?;
    let mut known = Known::default();
    for file in &files {
        known.declare(file);
    }
    for file in &mut files {
        known.file(file);
    }
    // The pool looks up full names, which it also takes with a dot before them.
    let mut missing = known.missing.keys();
    let missing = missing.find(|name| name.starts_with('.'));
    if let Some(name) = known.dotted.as_ref().or(missing) {
        return Err(FilesError::Dot(excerpt(name, 100)));
    }
    let missing = known.missing.keys().cloned().collect();
    if !known.missing.is_empty() {
        files.push(stand_in(known.missing));
    }
    Ok(Adapted {
        files,
        missing,
        renamed: known.renamed,
    })
}

/// Each file once.
fn once(files: Vec<FileDescriptorProto>) -> Result<Vec<FileDescriptorProto>, FilesError> {
    let mut kept: Vec<FileDescriptorProto> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for mut file in files {
        // Only its comments.
        file.source_code_info = None.into();
        match file.syntax.as_deref() {
            None | Some("proto2" | "proto3" | "editions") => {}
            Some("") => file.syntax = None,
            Some(other) => return Err(FilesError::Syntax(excerpt(other, 100))),
        }
        check_names(&file)?;
        let name = file.name.clone().unwrap_or_default();
        match places.get(&name).and_then(|place| kept.get(*place)) {
            Some(same) if *same == file => {}
            Some(_) => return Err(FilesError::Twice(excerpt(&name, 100))),
            None => {
                places.insert(name, kept.len());
                kept.push(file);
            }
        }
    }
    Ok(kept)
}

/// Whether nothing of a file is in a scope with a name so long that full names could fill any memory.
///
/// # Errors
///
/// If something is.
pub fn check_names(file: &FileDescriptorProto) -> Result<(), FilesError> {
    let length = |name: &Option<String>| name.as_deref().unwrap_or_default().len();
    let services = file.service.iter().map(|one| 1 + length(&one.name));
    let own = services.max().max(Some(longest(&file.message_type)));
    // The first name may have nothing before it, and no dot.
    match length(&file.package) + own.unwrap_or_default() > 1 + LONGEST {
        true => Err(FilesError::Long(excerpt(
            file.name.as_deref().unwrap_or_default(),
            100,
        ))),
        false => Ok(()),
    }
}

/// The most bytes that these messages, and those in them, add to a full name.
fn longest(messages: &[DescriptorProto]) -> usize {
    let lengths = messages.iter().map(|message| {
        let name = message.name.as_deref().unwrap_or_default();
        1 + name.len() + longest(&message.nested_type)
    });
    lengths.max().unwrap_or_default()
}

/// A file with empty types of these names. It has no package: the names are whole.
fn stand_in(missing: BTreeMap<String, Sort>) -> FileDescriptorProto {
    let mut file = FileDescriptorProto {
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    };
    for (name, sort) in missing {
        match sort {
            Sort::Message => file.message_type.push(DescriptorProto {
                name: Some(name),
                ..DescriptorProto::default()
            }),
            Sort::Enum => file.enum_type.push(EnumDescriptorProto {
                name: Some(name),
                ..EnumDescriptorProto::default()
            }),
        }
    }
    file
}

impl Known {
    fn declare(&mut self, file: &FileDescriptorProto) {
        let package = file.package.as_deref().unwrap_or_default();
        let scope = self.scopes.add(OUTERMOST, package, None);
        self.types(scope, package, &file.message_type, &file.enum_type);
    }

    fn types(
        &mut self,
        scope: usize,
        scope_name: &str,
        messages: &[DescriptorProto],
        enums: &[EnumDescriptorProto],
    ) {
        for one in enums {
            self.add(scope, scope_name, &one.name, Sort::Enum);
        }
        for message in messages {
            let (at, name) = self.add(scope, scope_name, &message.name, Sort::Message);
            let ranges = message.extension_range.iter();
            let ranges = ranges.filter_map(|range| Some((range.start?, range.end?)));
            self.ranges.insert(at, ranges.collect());
            self.types(at, &name, &message.nested_type, &message.enum_type);
        }
    }

    fn add(
        &mut self,
        scope: usize,
        scope_name: &str,
        name: &Option<String>,
        sort: Sort,
    ) -> (usize, String) {
        let name = name.as_deref().unwrap_or_default();
        let full = join(scope_name, name);
        if full.starts_with('.') {
            self.dotted.get_or_insert_with(|| full.clone());
        }
        (self.scopes.add(scope, name, Some(sort)), full)
    }

    fn file(&mut self, file: &mut FileDescriptorProto) {
        let package = file.package.as_deref().unwrap_or_default();
        let mut view = View::of(&self.scopes, package);
        self.extensions(&view, &mut file.extension);
        for message in &mut file.message_type {
            self.message(&mut view, message);
        }
        for service in &mut file.service {
            let back = view.enter(&self.scopes, service.name.as_deref().unwrap_or_default());
            for method in &mut service.method {
                for name in [&mut method.input_type, &mut method.output_type] {
                    self.resolve(&view, name, Sort::Message);
                }
            }
            view.leave(back);
        }
    }

    fn message(&mut self, view: &mut View, message: &mut DescriptorProto) {
        let back = view.enter(&self.scopes, message.name.as_deref().unwrap_or_default());
        for field in &mut message.field {
            self.field(view, field);
        }
        self.extensions(view, &mut message.extension);
        self.rename(view.name(), &mut message.field);
        for nested in &mut message.nested_type {
            self.message(view, nested);
        }
        view.leave(back);
    }

    /// Makes the type of a field a full name.
    fn field(&mut self, view: &View, field: &mut FieldDescriptorProto) {
        let sort = match field.r#type {
            Some(Type::TYPE_ENUM) => Sort::Enum,
            Some(Type::TYPE_MESSAGE | Type::TYPE_GROUP) | None => Sort::Message,
            Some(_) => return,
        };
        let found = self.resolve(view, &mut field.type_name, sort);
        if let (None, Some(found)) = (field.r#type, found) {
            field.r#type = Some(match found {
                Sort::Message => Type::TYPE_MESSAGE,
                Sort::Enum => Type::TYPE_ENUM,
            });
        }
    }

    /// Names a type in full, as it is seen; one that is not declared is missing.
    fn resolve(&mut self, view: &View, name: &mut Option<String>, sort: Sort) -> Option<Sort> {
        let (full, found) = view.find(&self.scopes, name.as_deref()?);
        let found = match found.and_then(|at| self.scopes.sort(at)) {
            Some(found) => found,
            None => *self.missing.entry(full.clone()).or_insert(sort),
        };
        *name = Some(format!(".{full}"));
        Some(found)
    }

    /// Drops extensions that can have no place: what they extend is missing, or has no room for them.
    fn extensions(&mut self, view: &View, extensions: &mut Vec<FieldDescriptorProto>) {
        extensions.retain_mut(|field| {
            let extendee = field.extendee.as_deref().unwrap_or_default();
            let (extendee, at) = view.find(&self.scopes, extendee);
            let number = field.number.unwrap_or_default();
            let room = at.and_then(|at| Some((at, self.ranges.get(&at)?)));
            let room = room.filter(|(_, ranges)| {
                let mut ranges = ranges.iter();
                ranges.any(|(start, end)| (*start..*end).contains(&number))
            });
            let room = room.map(|(at, _)| at);
            let is_usable = (1..1 << 29).contains(&number)
                && !(19_000..20_000).contains(&number)
                && room.is_some_and(|at| self.extended.insert((at, number)));
            if is_usable {
                field.extendee = Some(format!(".{extendee}"));
                // It may always be absent, in files too whose other fields may only be zero.
                if field.label != Some(Label::LABEL_REPEATED) {
                    field.label = Some(Label::LABEL_OPTIONAL);
                    field.proto3_optional = Some(true);
                }
                self.field(view, field);
            }
            is_usable
        });
    }

    /// Of fields whose names are the same in JSON, each has its own name there.
    fn rename(&mut self, message: &str, fields: &mut [FieldDescriptorProto]) {
        let json = |field: &FieldDescriptorProto| {
            let name = field.name.as_deref().unwrap_or_default();
            field.json_name.clone().unwrap_or_else(|| json_name(name))
        };
        let mut owners: HashMap<String, usize> = HashMap::new();
        for field in fields.iter() {
            let name = field.name.clone().unwrap_or_default();
            let json = json(field);
            if json != name {
                *owners.entry(json).or_default() += 1;
            }
            *owners.entry(name).or_default() += 1;
        }
        for field in fields {
            if owners.get(&json(field)).is_some_and(|owners| *owners > 1) {
                let original = field
                    .json_name
                    .replace(field.name.clone().unwrap_or_default());
                let name = field.name.as_deref().unwrap_or_default();
                self.renamed.insert(join(message, name), original);
            }
        }
    }
}
