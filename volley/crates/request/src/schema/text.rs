//! Declarations as the text of a .proto file. Types are named in full, so that each can be looked up by its name.

mod members;
mod options;

use std::fmt::Write as _;

use members::{declared_by, label};
use options::Options;
use volley_protobuf::descriptor::FileDescriptorProto;
use volley_protobuf::full_name::{self, join};
use volley_protobuf::{Enum, Message, Method, Pool, Service};

/// The declaration of what has this name: a service, a method with its messages, a message, a field, a oneof, an enum, one
/// of its values, an extension, or a file; `None` if there is nothing of this name. That of an edition says so.
#[must_use]
pub fn declaration(pool: &Pool, symbol: &str) -> Option<String> {
    let mut text = Text::default();
    if let Some(file) = pool.file(symbol) {
        text.file(pool, file);
        return Some(text.out);
    }
    let symbol = symbol.trim_start_matches(['.', '/']);
    // A server's descriptors may have any names, those with a slash, too.
    let symbol = match pool.file_of(symbol) {
        Some(_) => symbol.to_owned(),
        None => symbol.replace('/', "."),
    };
    let is_edition = |file: &&FileDescriptorProto| file.syntax.as_deref() == Some("editions");
    if let Some(file) = pool.file_of(&symbol).filter(is_edition) {
        text.syntax(pool, file);
        text.out.push('\n');
    }
    text.symbol(pool, &symbol)?;
    Some(text.out)
}

/// A method as .proto files declare it, without options.
#[must_use]
pub fn rpc(method: &Method) -> String {
    let stream = |streams| if streams { "stream " } else { "" };
    format!(
        "rpc {}({}{}) returns ({}{});",
        method.name(),
        stream(method.is_client_streaming()),
        method.input().full_name(),
        stream(method.is_server_streaming()),
        method.output().full_name(),
    )
}

/// The output, if it is not the input.
fn other(method: &Method) -> Option<Message> {
    Some(method.output()).filter(|output| *output != method.input())
}

/// Lines, each with its indentation.
#[derive(Default)]
struct Text {
    out: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, text: &str) {
        let width = 2 * self.depth;
        // A hostile server chooses its names.
        let text = text.replace(char::is_control, " ");
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:width$}{text}", "");
    }

    /// `begin {`, what is in it, `}`; on one line if that is nothing.
    fn block(&mut self, begin: &str, fill: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.line(&format!("{begin} {{"));
        let opened = self.out.len();
        self.depth += 1;
        fill(self);
        self.depth -= 1;
        if self.out.len() == opened {
            self.out.truncate(start);
            self.line(&format!("{begin} {{}}"));
        } else {
            self.line("}");
        }
    }

    /// Whatever but a file.
    fn symbol(&mut self, pool: &Pool, symbol: &str) -> Option<()> {
        if let Some(found) = pool.service(symbol) {
            self.service(pool, &found);
        } else if let Some(found) = pool.message(symbol) {
            self.message(&found);
        } else if let Some(found) = pool.enumeration(symbol) {
            self.enumeration(pool, &found);
        } else if let Some(found) = pool.extension(symbol) {
            self.extension(&found);
        } else {
            return self.member(pool, symbol);
        }
        Some(())
    }

    /// What is declared in something else.
    fn member(&mut self, pool: &Pool, symbol: &str) -> Option<()> {
        let (scope, name) = symbol.rsplit_once('.').unwrap_or(("", symbol));
        if let Some(method) = pool.service(scope).and_then(|one| one.method(name)) {
            self.method(pool, &method);
            for message in [Some(method.input()), other(&method)].into_iter().flatten() {
                self.out.push('\n');
                self.message(&message);
            }
            return Some(());
        }
        if let Some(message) = pool.message(scope) {
            if let Some(field) = message.fields().find(|one| one.name() == name) {
                self.field(&field, label(&field));
                return Some(());
            }
            if let Some(oneof) = message.oneofs().find(|one| one.name() == name) {
                self.oneof(&oneof);
                return Some(());
            }
        }
        // The scope of an enum's value is that of the enum; people name the enum as well.
        let has_it = |of: &Enum| of.number_of(name).is_some();
        let own = pool.enumeration(scope).filter(has_it);
        let of = own.or_else(|| {
            pool.enums()
                .find(|one| full_name::scope(one.full_name()) == scope && has_it(one))
        })?;
        let mut values = of.proto()?.value.iter();
        let value = values.find(|value| value.name.as_deref() == Some(name))?;
        self.value(pool, value);
        Some(())
    }

    fn file(&mut self, pool: &Pool, file: &FileDescriptorProto) {
        self.syntax(pool, file);
        if let Some(package) = &file.package {
            self.line(&format!("package {package};"));
        }
        for (at, name) in file.dependency.iter().enumerate() {
            let is_own = |index: &i32| usize::try_from(*index) == Ok(at);
            let word = match (&file.public_dependency, &file.weak_dependency) {
                (public, _) if public.iter().any(is_own) => "public ",
                (_, weak) if weak.iter().any(is_own) => "weak ",
                _ => "",
            };
            self.line(&format!("import {word}{};", quoted(name)));
        }
        for name in &file.option_dependency {
            self.line(&format!("import option {};", quoted(name)));
        }
        if file.syntax.as_deref() != Some("editions") {
            self.options(pool, file.options.as_option());
        }
        let package = file.package.as_deref().unwrap_or_default();
        let full = |name: &Option<String>| join(package, name.as_deref().unwrap_or_default());
        let names = file.enum_type.iter().map(|one| &one.name);
        let names = names.chain(file.message_type.iter().map(|one| &one.name));
        let names = names.chain(file.extension.iter().map(|one| &one.name));
        for name in names.chain(file.service.iter().map(|one| &one.name)) {
            let name = full(name);
            if pool
                .message(&name)
                .is_some_and(|one| declared_by(&one).is_some())
            {
                continue;
            }
            let before = self.out.len();
            self.out.push('\n');
            if self.symbol(pool, &name).is_none() {
                self.out.truncate(before);
            }
        }
    }

    /// The syntax of a file; of an edition, with the file's options: they say what its fields mean.
    fn syntax(&mut self, pool: &Pool, file: &FileDescriptorProto) {
        match file.syntax.as_deref() {
            Some("editions") => {
                let name = file
                    .edition
                    .map_or("unknown".to_owned(), |one| format!("{one:?}"));
                let name = name.trim_start_matches("EDITION_").to_lowercase();
                self.line(&format!("edition = \"{name}\";"));
                self.options(pool, file.options.as_option());
            }
            syntax => self.line(&format!("syntax = \"{}\";", syntax.unwrap_or("proto2"))),
        }
    }

    /// A line for each option.
    fn options(&mut self, pool: &Pool, of: Option<&impl Options>) {
        let (shown, note) = options::all(pool, of);
        for option in shown {
            self.line(&format!("option {option};"));
        }
        if !note.is_empty() {
            self.line(&note);
        }
    }

    fn service(&mut self, pool: &Pool, service: &Service) {
        self.block(&format!("service {}", service.name()), |text| {
            text.options(pool, service.options());
            for method in service.methods() {
                text.method(pool, &method);
            }
        });
    }

    fn method(&mut self, pool: &Pool, method: &Method) {
        let line = rpc(method);
        match options::all(pool, method.options()) {
            (shown, note) if shown.is_empty() && note.is_empty() => self.line(&line),
            _ => self.block(line.trim_end_matches(';'), |text| {
                text.options(pool, method.options());
            }),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Proto2,
    Proto3,
    Edition,
}

impl Syntax {
    /// That of the file of a symbol.
    fn of(pool: &Pool, symbol: &str) -> Self {
        let file = pool.file_of(symbol);
        match file.and_then(|file| file.syntax.as_deref()) {
            Some("proto3") => Self::Proto3,
            Some("editions") => Self::Edition,
            _ => Self::Proto2,
        }
    }
}

/// A string literal.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
