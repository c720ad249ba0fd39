//! Declarations as the text of a .proto file. Types are named in full, so that each can be looked up by its name.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use crate::protobuf::descriptor::field_descriptor_proto::Type;
use crate::protobuf::{Enum, Field, Kind, Message, Method, Pool, Service};

/// The largest number of a field, and of an enum's value.
const LAST_FIELD: i32 = (1 << 29) - 1;

/// The declaration of a service, a method, a message or an enum; `None` if there is none of this name. That of a method
/// comes with its messages.
#[must_use]
pub fn declaration(pool: &Pool, symbol: &str) -> Option<String> {
    let mut text = Text::default();
    let symbol = symbol.trim_start_matches(['.', '/']).replace('/', ".");
    if let Some(found) = pool.service(&symbol) {
        text.service(&found);
    } else if let Some(found) = pool.message(&symbol) {
        text.message(&found);
    } else if let Some(found) = pool.enumeration(&symbol) {
        text.enumeration(&found);
    } else {
        let (service, name) = symbol.rsplit_once('.')?;
        let service = pool.service(service)?;
        let method = service.method(name)?;
        text.line(&rpc(&method));
        for message in [Some(method.input()), other(&method)].into_iter().flatten() {
            text.out.push('\n');
            text.message(&message);
        }
    }
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

    fn service(&mut self, service: &Service) {
        self.block(&format!("service {}", service.name()), |text| {
            for method in service.methods() {
                text.line(&rpc(&method));
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
        let groups: Vec<Message> = message.fields().filter_map(|field| group(&field)).collect();
        let nested = |name: Option<&str>| {
            let name = name.unwrap_or_default();
            format!("{}.{name}", message.full_name())
        };
        for one in &proto.enum_type {
            if let Some(one) = message.pool().enumeration(&nested(one.name.as_deref())) {
                self.enumeration(&one);
            }
        }
        for one in &proto.nested_type {
            let one = message.pool().message(&nested(one.name.as_deref()));
            if let Some(one) = one.filter(|one| !one.is_map_entry() && !groups.contains(one)) {
                self.message(&one);
            }
        }
        let mut begun = Vec::new();
        for field in message.fields() {
            let Some(oneof) = field.oneof().filter(|oneof| !oneof.is_synthetic()) else {
                self.field(&field, label(&field));
                continue;
            };
            if !begun.contains(&oneof) {
                self.block(&format!("oneof {}", oneof.name()), |text| {
                    for field in oneof.fields() {
                        text.field(&field, "");
                    }
                });
                begun.push(oneof);
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
            let begin = format!("{label}group {} = {number}{}", group.name(), options(field));
            self.block(&begin, |text| text.members(&group));
            return;
        }
        let kind = kind(field);
        self.line(&format!(
            "{label}{kind} {} = {number}{};",
            field.name(),
            options(field)
        ));
    }

    fn enumeration(&mut self, of: &Enum) {
        let Some(proto) = of.proto() else {
            return;
        };
        let has_alias = proto
            .options
            .as_option()
            .and_then(|options| options.allow_alias);
        self.block(&format!("enum {}", of.name()), |text| {
            if has_alias == Some(true) {
                text.line("option allow_alias = true;");
            }
            for value in &proto.value {
                let options = value.options.as_option();
                let options = match options.and_then(|options| options.deprecated) {
                    Some(true) => " [deprecated = true]",
                    _ => "",
                };
                let name = value.name.as_deref().unwrap_or_default();
                let number = value.number.unwrap_or_default();
                text.line(&format!("{name} = {number}{options};"));
            }
            let reserved = proto.reserved_range.iter();
            let reserved =
                reserved.map(|one| one.start.unwrap_or_default()..=one.end.unwrap_or_default());
            text.ranges("reserved", reserved, i32::MAX);
            text.reserved_names(&proto.reserved_name);
        });
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

/// The message of a group, which is declared with its field, and named as it. Any other message may be delimited as a group
/// is (of an edition, or of a hostile server), and contain itself.
fn group(field: &Field) -> Option<Message> {
    match field.kind() {
        Kind::Message(message)
            if field.is_delimited()
                && message.parent().as_ref() == Some(&field.message())
                && message.name().eq_ignore_ascii_case(field.name()) =>
        {
            Some(message)
        }
        _ => None,
    }
}

fn label(field: &Field) -> &'static str {
    match field.oneof() {
        _ if field.is_map() => "",
        _ if field.is_list() => "repeated ",
        _ if field.is_required() => "required ",
        Some(_) => "optional ",
        None if is_old(field) => "optional ",
        None => "",
    }
}

/// Whether its file is of proto2.
fn is_old(field: &Field) -> bool {
    let message = field.message();
    let file = message.pool().file_of(&field.full_name());
    file.is_some_and(|file| matches!(file.syntax.as_deref(), None | Some("proto2")))
}

fn kind(field: &Field) -> String {
    match field.map_kinds() {
        Some((key, value)) => format!("map<{key}, {value}>"),
        None => field.kind().to_string(),
    }
}

fn options(field: &Field) -> String {
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
    if let Some(options) = proto.options.as_option() {
        shown.extend(options.packed.map(|packed| format!("packed = {packed}")));
        shown.extend(options.deprecated.map(|it| format!("deprecated = {it}")));
    }
    if field.is_delimited() && group(field).is_none() {
        shown.push("features.message_encoding = DELIMITED".to_owned());
    }
    match shown.is_empty() {
        true => String::new(),
        false => format!(" [{}]", shown.join(", ")),
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
