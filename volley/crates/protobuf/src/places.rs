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

/// What a file or a message declares.
struct Declared<'f> {
    messages: &'f [DescriptorProto],
    enums: &'f [EnumDescriptorProto],
    extensions: &'f [FieldDescriptorProto],
}

impl<'f> Declared<'f> {
    fn by_file(file: &'f FileDescriptorProto) -> Self {
        Self {
            messages: &file.message_type,
            enums: &file.enum_type,
            extensions: &file.extension,
        }
    }

    fn by_message(message: &'f DescriptorProto) -> Self {
        Self {
            messages: &message.nested_type,
            enums: &message.enum_type,
            extensions: &message.extension,
        }
    }
}

impl Places {
    pub(super) fn of(pool: &DescriptorPool) -> Self {
        let mut places = Self::default();
        for (at, file) in pool.files().iter().enumerate() {
            let package = file.package.as_deref().unwrap_or_default();
            places.add(pool, Scope::File(at), package, &Declared::by_file(file));
        }
        places
    }

    fn add(&mut self, pool: &DescriptorPool, scope: Scope, scope_name: &str, declared: &Declared) {
        let full = |name: &Option<String>| join(scope_name, name.as_deref().unwrap_or_default());
        for (at, one) in declared.extensions.iter().enumerate() {
            let found = pool.extension_index(&full(&one.name));
            self.extensions
                .extend(found.map(|index| (index, Place(scope, at))));
        }
        for (at, one) in declared.enums.iter().enumerate() {
            let found = pool.enum_index(&full(&one.name));
            self.enums
                .extend(found.map(|index| (index, Place(scope, at))));
        }
        for (at, message) in declared.messages.iter().enumerate() {
            let name = full(&message.name);
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
            self.add(pool, scope, &name, &Declared::by_message(message));
        }
    }

    fn declared<'f>(&self, files: &'f [FileDescriptorProto], scope: Scope) -> Option<Declared<'f>> {
        Some(match scope {
            Scope::File(file) => Declared::by_file(files.get(file)?),
            Scope::Message(outer) => Declared::by_message(self.message(files, outer)?),
        })
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
        let Place(scope, at) = *self.messages.get(&index)?;
        self.declared(files, scope)?.messages.get(at)
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
        let Place(scope, at) = *self.enums.get(&index)?;
        self.declared(files, scope)?.enums.get(at)
    }

    pub(super) fn extension<'f>(
        &self,
        files: &'f [FileDescriptorProto],
        index: ExtensionIndex,
    ) -> Option<&'f FieldDescriptorProto> {
        let Place(scope, at) = *self.extensions.get(&index)?;
        self.declared(files, scope)?.extensions.get(at)
    }
}
