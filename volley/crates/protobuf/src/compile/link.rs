//! Finds what the names of a file mean: types of fields, extended messages, messages of methods.

use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};

use super::super::full_name::{LONGEST, join};
use super::error::{Fault, Pos, shown};
use super::known;
use super::tree::{Field, File, Message};
use super::universe::{FieldInfo, Kind, Lost, Mode, Symbol, TypeRef, Universe, View};

/// Resolves all names, and adds the fields to what is known of their messages.
pub(super) fn link(universe: &mut Universe, view: &View, file: &mut File) -> Result<(), Fault> {
    let index = universe.files.len().saturating_sub(1);
    let mut linker = Linker {
        universe,
        view,
        file: index,
    };
    let package = file.package().to_owned();
    for message in &mut file.messages {
        linker.message(message)?;
    }
    linker.extensions(&mut file.extensions, &package)?;
    for service in &mut file.services {
        let name = service.proto.name.as_deref().unwrap_or_default();
        let scope = join(&package, name);
        for method in &mut service.methods {
            for (name, at) in [
                (&mut method.proto.input_type, method.input_at),
                (&mut method.proto.output_type, method.output_at),
            ] {
                let name = name.get_or_insert_default();
                let message = linker.message_named(name, &scope, at)?;
                *name = linker.absolute(TypeRef::Message(message));
            }
        }
    }
    Ok(())
}

struct Linker<'a> {
    universe: &'a mut Universe,
    view: &'a View,
    file: usize,
}

impl Linker<'_> {
    fn message(&mut self, message: &mut Message) -> Result<(), Fault> {
        let info = self.universe.messages.get(message.index);
        let scope = info.map_or_else(String::new, |info| info.full_name.clone());
        for field in &mut message.fields {
            self.field(field, &scope)?;
            let mut info = self.info(field, &scope);
            info.parent = message.index;
            if let Some(known) = self.universe.messages.get_mut(message.index) {
                known.by_name.insert(info.name.clone(), known.fields.len());
                known.fields.push(info);
            }
        }
        for nested in &mut message.messages {
            self.message(nested)?;
        }
        self.extensions(&mut message.extensions, &scope)
    }

    fn extensions(&mut self, extensions: &mut [Field], scope: &str) -> Result<(), Fault> {
        for extension in extensions {
            self.field(extension, scope)?;
            let name = extension.proto.extendee.take().unwrap_or_default();
            let extendee = self.message_named(&name, scope, extension.extendee_at)?;
            extension.extendee = extendee;
            extension.proto.extendee = Some(self.absolute(TypeRef::Message(extendee)));
            let mut info = self.info(extension, scope);
            (info.parent, info.extension) = (extendee, true);
            let index = self.universe.extensions.len();
            if let Some(symbol) = self.universe.symbols.get_mut(&info.full_name) {
                symbol.kind = Kind::Extension(index);
            }
            if let Some(TypeRef::Message(target)) = info.target
                && self.universe.type_name(TypeRef::Message(target)) == scope
                && let Some(extendee) = self.universe.messages.get_mut(extendee)
            {
                extendee.items.entry(target).or_insert(index);
            }
            self.universe.extensions.push(info);
        }
        Ok(())
    }

    fn info(&self, field: &Field, scope: &str) -> FieldInfo {
        let proto = &field.proto;
        FieldInfo {
            name: field.name().to_owned(),
            full_name: join(scope, field.name()),
            number: field.number(),
            kind: proto.r#type.unwrap_or(Type::TYPE_INT32),
            target: field.target,
            repeated: proto.label == Some(Label::LABEL_REPEATED),
            required: proto.label == Some(Label::LABEL_REQUIRED),
            packed: false,
            implicit: false,
            oneof: proto
                .oneof_index
                .filter(|_| proto.proto3_optional != Some(true)),
            parent: 0,
            extension: false,
            targets: Vec::new(),
            support: None,
        }
    }

    fn field(&mut self, field: &mut Field, scope: &str) -> Result<(), Fault> {
        let Some(name) = field.proto.type_name.as_deref() else {
            return Ok(());
        };
        let symbol = self.resolve(name, scope, Mode::Type, field.type_at)?;
        let Kind::Type(target) = symbol.kind else {
            let message = format!("{} is no type", shown(name));
            return Err(field.type_at.fault(message));
        };
        self.check_visible(target, field.type_at)?;
        field.target = Some(target);
        field.proto.type_name = Some(self.absolute(target));
        let kind = match target {
            TypeRef::Message(_) => Type::TYPE_MESSAGE,
            TypeRef::Enum(_) => Type::TYPE_ENUM,
        };
        let kind = *field.proto.r#type.get_or_insert(kind);
        let (Some(default), Some(at)) = (&field.proto.default_value, field.default_at) else {
            return Ok(());
        };
        match target {
            TypeRef::Enum(index) if kind == Type::TYPE_ENUM => {
                let known = self.universe.enums.get(index);
                if known.is_none_or(|known| !known.values.contains_key(default)) {
                    let item = shown(self.universe.type_name(target));
                    return Err(at.fault(format!("{item} has no value {}", shown(default))));
                }
                Ok(())
            }
            _ => Err(at.fault("a message has no default")),
        }
    }

    /// The index of a message by its name.
    fn message_named(&self, name: &str, scope: &str, at: Pos) -> Result<usize, Fault> {
        let symbol = self.resolve(name, scope, Mode::Any, at)?;
        match symbol.kind {
            Kind::Type(target @ TypeRef::Message(index)) => {
                self.check_visible(target, at)?;
                Ok(index)
            }
            _ => Err(at.fault(format!("{} is no message", shown(name)))),
        }
    }

    /// A type of another file must be exported by it.
    fn check_visible(&self, target: TypeRef, at: Pos) -> Result<(), Fault> {
        let Universe {
            messages, enums, ..
        } = &*self.universe;
        let found = match target {
            TypeRef::Message(index) => messages.get(index).map(|info| (info.file, info.exported)),
            TypeRef::Enum(index) => enums.get(index).map(|info| (info.file, info.exported)),
        };
        let (file, exported) = found.unwrap_or_default();
        if exported || file == self.file {
            return Ok(());
        }
        let (name, file) = (
            self.universe.type_name(target),
            self.universe.file_name(file),
        );
        Err(at.fault(format!("{} is local to {}", shown(name), shown(file))))
    }

    fn resolve(&self, name: &str, scope: &str, mode: Mode, at: Pos) -> Result<Symbol, Fault> {
        let found = self.view.resolve(self.universe, name, scope, mode);
        found.map_err(|lost| at.fault(lost.message(self.universe, name)))
    }

    fn absolute(&self, target: TypeRef) -> String {
        format!(".{}", self.universe.type_name(target))
    }
}

impl Lost {
    /// Why a name has no meaning.
    pub fn message(&self, universe: &Universe, name: &str) -> String {
        let full = name.strip_prefix('.').unwrap_or(name);
        let name = shown(name);
        match self {
            Self::NotImported(file) => {
                let file = shown(universe.file_name(*file));
                format!("{name} is defined in {file}, which is not imported")
            }
            Self::TooLong => format!("the name is longer than {LONGEST} bytes"),
            Self::Inside(other) if other != full => format!(
                "{name} means {} here, which is not defined; a name that starts with `.` is looked \
                 up from the outermost scope",
                shown(other)
            ),
            Self::Undefined | Self::Inside(_) => match known::defining(full) {
                Some(file) => format!("{name} is not defined: add `import \"{file}\";`"),
                None => format!("{name} is not defined"),
            },
        }
    }
}

/// Registers the numbers of extensions: each is free, and the message has room for it.
pub(super) fn number_extensions(universe: &mut Universe, file: &File) -> Result<(), Fault> {
    fn of_message(universe: &mut Universe, message: &Message, scope: &str) -> Result<(), Fault> {
        let scope = join(scope, message.name());
        number(universe, &message.extensions, &scope)?;
        let mut nested = message.messages.iter();
        nested.try_for_each(|nested| of_message(universe, nested, &scope))
    }
    number(universe, &file.extensions, file.package())?;
    let mut messages = file.messages.iter();
    messages.try_for_each(|message| of_message(universe, message, file.package()))
}

fn number(universe: &mut Universe, extensions: &[Field], scope: &str) -> Result<(), Fault> {
    for extension in extensions {
        let full_name = join(scope, extension.name());
        let Some(Kind::Extension(index)) = universe.symbols.get(&full_name).map(|found| found.kind)
        else {
            continue;
        };
        let (number, at) = (extension.number(), extension.number_at);
        let taken = universe.extension_of(extension.extendee, number);
        if let Some(taken) = taken {
            // Files that do not know each other may use a number twice; the first has it.
            let file = |name: &str| universe.symbols.get(name).map(|symbol| symbol.file);
            if file(&taken.full_name) != file(&full_name) {
                continue;
            }
            let message = format!(
                "{} has the number {number} already",
                shown(&taken.full_name)
            );
            return Err(at.fault(message));
        }
        let Some(extendee) = universe.messages.get_mut(extension.extendee) else {
            continue;
        };
        if extendee.range_of(number).is_none() {
            let message = format!("{} has no extension {number}", shown(&extendee.full_name));
            return Err(at.fault(message));
        }
        extendee.extensions.insert(number, index);
    }
    Ok(())
}
