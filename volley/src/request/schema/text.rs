//! Declarations as the text of a .proto file. Types are named in full, so that each can be looked up by its name.

mod options;

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use options::Options;

use crate::protobuf::descriptor::field_descriptor_proto::Type;
use crate::protobuf::descriptor::{EnumValueDescriptorProto, FileDescriptorProto};
use crate::protobuf::full_name::{self, join};
use crate::protobuf::{Enum, Extension, Field, Message, Method, Oneof, Pool, Service, json_name};

/// The largest number of a field, and of an enum's value.
const LAST_FIELD: i32 = (1 << 29) - 1;

/// The declaration of what has this name: a service, a method with its messages, a message, a field, a oneof, an enum, one
/// of its values, an extension, or a file; `None` if there is nothing of this name. That of an edition says so.
#[must_use]
pub fn declaration(pool: &Pool, symbol: &str) -> Option<String> {
    let mut text = Text::default();
    if let Some(file) = pool.file(symbol) {
        text.file(pool, file);
        return Some(text.out);
    }
    let symbol = symbol.trim_start_matches(['.', '/']).replace('/', ".");
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
            let public = match file.public_dependency.iter().any(is_own) {
                true => "public ",
                false => "",
            };
            self.line(&format!("import {public}{};", quoted(name)));
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
        for option in options::all(pool, of) {
            self.line(&format!("option {option};"));
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
        match options::all(pool, method.options()).is_empty() {
            true => self.line(&line),
            false => self.block(line.trim_end_matches(';'), |text| {
                text.options(pool, method.options());
            }),
        }
    }

    fn extension(&mut self, extension: &Extension) {
        let begin = format!("extend {}", extension.extendee().full_name());
        self.block(&begin, |text| {
            text.field(extension.field(), label(extension.field()));
        });
    }

    fn oneof(&mut self, oneof: &Oneof) {
        self.block(&format!("oneof {}", oneof.name()), |text| {
            text.options(oneof.message().pool(), oneof.options());
            for field in oneof.fields() {
                text.field(&field, "");
            }
        });
    }

    fn message(&mut self, message: &Message) {
        self.block(&format!("message {}", message.name()), |text| {
            text.members(message)
        });
    }

    fn members(&mut self, message: &Message) {
        let Some(proto) = message.proto() else {
            return;
        };
        self.options(message.pool(), proto.options.as_option());
        let nested = |name: Option<&str>| {
            let name = name.unwrap_or_default();
            format!("{}.{name}", message.full_name())
        };
        for one in &proto.enum_type {
            if let Some(one) = message.pool().enumeration(&nested(one.name.as_deref())) {
                self.enumeration(message.pool(), &one);
            }
        }
        for one in &proto.nested_type {
            let one = message.pool().message(&nested(one.name.as_deref()));
            if let Some(one) = one.filter(|one| !one.is_map_entry() && declared_by(one).is_none()) {
                self.message(&one);
            }
        }
        for field in message.fields() {
            match field.oneof().filter(|oneof| !oneof.is_synthetic()) {
                None => self.field(&field, label(&field)),
                Some(oneof) if oneof.fields().next().as_ref() == Some(&field) => self.oneof(&oneof),
                Some(_) => {}
            }
        }
        for one in &proto.extension {
            let name = nested(one.name.as_deref());
            if let Some(extension) = message.pool().extension(&name) {
                self.extension(&extension);
            }
        }
        let range = |start: Option<i32>, end: Option<i32>| {
            start.unwrap_or_default()..=end.unwrap_or_default().saturating_sub(1)
        };
        let extensions = proto.extension_range.iter();
        let extensions = extensions.map(|one| range(one.start, one.end));
        self.ranges("extensions", extensions, LAST_FIELD);
        let reserved = proto.reserved_range.iter();
        self.ranges(
            "reserved",
            reserved.map(|one| range(one.start, one.end)),
            LAST_FIELD,
        );
        self.reserved_names(&proto.reserved_name);
    }

    fn field(&mut self, field: &Field, label: &str) {
        let number = field.number();
        if let Some(group) = group(field) {
            let begin = format!(
                "{label}group {} = {number}{}",
                group.name(),
                field_options(field)
            );
            self.block(&begin, |text| text.members(&group));
            return;
        }
        let kind = kind(field);
        self.line(&format!(
            "{label}{kind} {} = {number}{};",
            field.name(),
            field_options(field)
        ));
    }

    fn enumeration(&mut self, pool: &Pool, of: &Enum) {
        let Some(proto) = of.proto() else {
            return;
        };
        self.block(&format!("enum {}", of.name()), |text| {
            text.options(pool, proto.options.as_option());
            for value in &proto.value {
                text.value(pool, value);
            }
            let reserved = proto.reserved_range.iter();
            let reserved =
                reserved.map(|one| one.start.unwrap_or_default()..=one.end.unwrap_or_default());
            text.ranges("reserved", reserved, i32::MAX);
            text.reserved_names(&proto.reserved_name);
        });
    }

    fn value(&mut self, pool: &Pool, value: &EnumValueDescriptorProto) {
        let name = value.name.as_deref().unwrap_or_default();
        let number = value.number.unwrap_or_default();
        let options = bracketed(&options::all(pool, value.options.as_option()));
        self.line(&format!("{name} = {number}{options};"));
    }

    fn ranges(&mut self, word: &str, ranges: impl Iterator<Item = RangeInclusive<i32>>, last: i32) {
        let shown: Vec<String> = ranges
            .map(|range| match (range.start(), range.end()) {
                (start, end) if start == end => start.to_string(),
                (start, end) if *end >= last => format!("{start} to max"),
                (start, end) => format!("{start} to {end}"),
            })
            .collect();
        if !shown.is_empty() {
            self.line(&format!("{word} {};", shown.join(", ")));
        }
    }

    fn reserved_names(&mut self, names: &[String]) {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        if !names.is_empty() {
            self.line(&format!("reserved {};", names.join(", ")));
        }
    }
}

/// The field of a group, which declares its message as well: they are in one scope, and the field has the name in small
/// letters. Any other field may be delimited as a group is (of an edition, or of a hostile server), and contain itself.
fn declared_by(message: &Message) -> Option<Field> {
    let pool = message.pool();
    let name = message.name().to_ascii_lowercase();
    let full = join(full_name::scope(message.full_name()), &name);
    let own = message
        .parent()
        .and_then(|outer| outer.field_by_name(&name));
    let extension = pool.extension(&full).map(|one| one.field().clone());
    let file = |symbol| pool.file_of(symbol).map(|file| &file.name);
    let is_it = |field: &Field| {
        field.is_delimited()
            && syntax(field) != Syntax::Edition
            && field.kind().as_message() == Some(message)
            && field.full_name() == full
            && file(&full) == file(message.full_name())
    };
    own.into_iter().chain(extension).find(is_it)
}

fn group(field: &Field) -> Option<Message> {
    let kind = field.kind();
    let message = kind.as_message()?;
    let is_own = declared_by(message).as_ref() == Some(field);
    is_own.then(|| message.clone())
}

fn label(field: &Field) -> &'static str {
    match syntax(field) {
        _ if field.is_map() => "",
        _ if field.is_list() => "repeated ",
        Syntax::Edition => "",
        _ if field.is_required() => "required ",
        Syntax::Proto2 => "optional ",
        Syntax::Proto3 if field.has_presence() && field.oneof().is_some() => "optional ",
        Syntax::Proto3 => "",
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Proto2,
    Proto3,
    Edition,
}

/// That of its file.
fn syntax(field: &Field) -> Syntax {
    let message = field.message();
    let file = message.pool().file_of(&field.full_name());
    match file.and_then(|file| file.syntax.as_deref()) {
        Some("proto3") => Syntax::Proto3,
        Some("editions") => Syntax::Edition,
        _ => Syntax::Proto2,
    }
}

fn kind(field: &Field) -> String {
    match field.map_kinds() {
        Some((key, value)) => format!("map<{key}, {value}>"),
        None => field.kind().to_string(),
    }
}

fn field_options(field: &Field) -> String {
    let Some(proto) = field.proto() else {
        return String::new();
    };
    let mut shown = Vec::new();
    if let Some(value) = &proto.default_value {
        let value = match proto.r#type {
            Some(Type::TYPE_STRING) => quoted(value),
            // It is escaped already.
            Some(Type::TYPE_BYTES) => format!("\"{value}\""),
            _ => value.clone(),
        };
        shown.push(format!("default = {value}"));
    }
    let name = field.declared_json_name();
    if let Some(name) = name.filter(|name| *name != json_name(field.name())) {
        shown.push(format!("json_name = {}", quoted(&name)));
    }
    let message = field.message();
    shown.extend(options::all(message.pool(), proto.options.as_option()));
    let is_told = |option: &String| option.starts_with("features.message_encoding");
    let is_group = proto.r#type == Some(Type::TYPE_GROUP) && group(field).is_none();
    if is_group && !shown.iter().any(is_told) {
        shown.push("features.message_encoding = DELIMITED".to_owned());
    }
    bracketed(&shown)
}

/// Options behind a field or a value.
fn bracketed(options: &[String]) -> String {
    match options {
        [] => String::new(),
        options => format!(" [{}]", options.join(", ")),
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
