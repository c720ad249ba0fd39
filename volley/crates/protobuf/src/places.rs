//! Where the files have what is declared.

use std::collections::HashMap;

use buffa_descriptor::{DescriptorPool, EnumIndex, ExtensionIndex, FieldKind, MessageIndex};

use super::descriptor::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};
use super::full_name::join;

/// Each place is found without a search, as whole files are shown.
#[derive(Default)]
pub(super) struct Places {
    messages: HashMap<MessageIndex, Place>,
    enums: HashMap<EnumIndex, Place>,
    extensions: HashMap<ExtensionIndex, Place>,
    /// By the message and the number: the place there, and the message of a map's entries.
    fields: HashMap<(MessageIndex, u32), (usize, Option<MessageIndex>)>,
}

/// What something is declared in, and which of the things of its kind there it is.
#[derive(Clone, Copy)]
struct Place(Scope, usize);

#[derive(Clone, Copy)]
enum Scope {
    File(usize),
    Message(MessageIndex),
}

impl Places {
    pub(super) fn of(pool: &DescriptorPool) -> Self {
        let mut places = Self::default();
        for (at, file) in pool.files().iter().enumerate() {
            let scope = Scope::File(at);
            let package = file.package.as_deref().unwrap_or_default();
            places.extensions(pool, scope, package, &file.extension);
            places.enums(pool, scope, package, &file.enum_type);
            places.messages(pool, scope, package, &file.message_type);
        }
        places
    }

    fn extensions(
        &mut self,
        pool: &DescriptorPool,
        scope: Scope,
        scope_name: &str,
        extensions: &[FieldDescriptorProto],
    ) {
        let names = extensions.iter().map(|one| one.name.as_deref());
        let found = placed(scope, scope_name, names, |name| pool.extension_index(name));
        self.extensions.extend(found);
    }

    fn enums(
        &mut self,
        pool: &DescriptorPool,
        scope: Scope,
        scope_name: &str,
        enums: &[EnumDescriptorProto],
    ) {
        let names = enums.iter().map(|one| one.name.as_deref());
        let found = placed(scope, scope_name, names, |name| pool.enum_index(name));
        self.enums.extend(found);
    }

    fn messages(
        &mut self,
        pool: &DescriptorPool,
        scope: Scope,
        scope_name: &str,
        messages: &[DescriptorProto],
    ) {
        for (at, message) in messages.iter().enumerate() {
            let name = join(scope_name, message.name.as_deref().unwrap_or_default());
            let Some(own) = pool.message_index(&name) else {
                continue;
            };
            self.messages.insert(own, Place(scope, at));
            let linked = pool.message(own).fields().iter();
            for (at, (field, linked)) in message.field.iter().zip(linked).enumerate() {
                let entry = match (linked.kind(), field.type_name.as_deref()) {
                    (FieldKind::Map { .. }, Some(entry)) => pool.message_index(entry),
                    _ => None,
                };
                self.fields.insert((own, linked.number()), (at, entry));
            }
            let scope = Scope::Message(own);
            self.extensions(pool, scope, &name, &message.extension);
            self.enums(pool, scope, &name, &message.enum_type);
            self.messages(pool, scope, &name, &message.nested_type);
        }
    }

    /// The message of a map's entries.
    pub(super) fn entry(&self, message: MessageIndex, number: u32) -> Option<MessageIndex> {
        self.fields.get(&(message, number))?.1
    }

    /// Which of its message's fields one is.
    pub(super) fn at(&self, message: MessageIndex, number: u32) -> Option<usize> {
        Some(self.fields.get(&(message, number))?.0)
    }

    pub(super) fn message<'f>(
        &self,
        files: &'f [FileDescriptorProto],
        index: MessageIndex,
    ) -> Option<&'f DescriptorProto> {
        let Place(scope, at) = self.messages.get(&index)?;
        match scope {
            Scope::File(file) => files.get(*file)?.message_type.get(*at),
            Scope::Message(outer) => self.message(files, *outer)?.nested_type.get(*at),
        }
    }

    pub(super) fn field<'f>(
        &self,
        files: &'f [FileDescriptorProto],
        message: MessageIndex,
        number: u32,
    ) -> Option<&'f FieldDescriptorProto> {
        let at = self.at(message, number)?;
        self.message(files, message)?.field.get(at)
    }

    pub(super) fn enumeration<'f>(
        &self,
        files: &'f [FileDescriptorProto],
        index: EnumIndex,
    ) -> Option<&'f EnumDescriptorProto> {
        let Place(scope, at) = self.enums.get(&index)?;
        match scope {
            Scope::File(file) => files.get(*file)?.enum_type.get(*at),
            Scope::Message(outer) => self.message(files, *outer)?.enum_type.get(*at),
        }
    }

    pub(super) fn extension<'f>(
        &self,
        files: &'f [FileDescriptorProto],
        index: ExtensionIndex,
    ) -> Option<&'f FieldDescriptorProto> {
        let Place(scope, at) = self.extensions.get(&index)?;
        match scope {
            Scope::File(file) => files.get(*file)?.extension.get(*at),
            Scope::Message(outer) => self.message(files, *outer)?.extension.get(*at),
        }
    }
}

/// What the pool has of these names, with their places.
fn placed<'n, I>(
    scope: Scope,
    scope_name: &str,
    names: impl Iterator<Item = Option<&'n str>>,
    index: impl Fn(&str) -> Option<I>,
) -> impl Iterator<Item = (I, Place)> {
    names.enumerate().filter_map(move |(at, name)| {
        let found = index(&join(scope_name, name.unwrap_or_default()))?;
        Some((found, Place(scope, at)))
    })
}
