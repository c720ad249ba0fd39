//! Declarations as the text of a .proto file. Types are named in full, so that each can be looked up by its name.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use prost_reflect::prost_types::field_descriptor_proto::Type;
use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    MethodDescriptor, ServiceDescriptor, Syntax,
};

/// The largest number of a field, and of an enum's value.
const LAST_FIELD: u32 = (1 << 29) - 1;

/// The declaration of a service, a method, a message or an enum; `None` if there is none of this name. That of a method
/// comes with its messages.
#[must_use]
pub fn declaration(pool: &DescriptorPool, symbol: &str) -> Option<String> {
    let mut text = Text::default();
    let symbol = symbol.trim_start_matches(['.', '/']).replace('/', ".");
    if let Some(found) = pool.get_service_by_name(&symbol) {
        text.service(&found);
    } else if let Some(found) = pool.get_message_by_name(&symbol) {
        text.message(&found);
    } else if let Some(found) = pool.get_enum_by_name(&symbol) {
        text.enumeration(&found);
    } else {
        let (service, name) = symbol.rsplit_once('.')?;
        let service = pool.get_service_by_name(service)?;
        let method = service.methods().find(|method| method.name() == name)?;
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
pub fn rpc(method: &MethodDescriptor) -> String {
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
fn other(method: &MethodDescriptor) -> Option<MessageDescriptor> {
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

    fn service(&mut self, service: &ServiceDescriptor) {
        self.block(&format!("service {}", service.name()), |text| {
            for method in service.methods() {
                text.line(&rpc(&method));
            }
        });
    }

    fn message(&mut self, message: &MessageDescriptor) {
        self.block(&format!("message {}", message.name()), |text| {
            text.members(message)
        });
    }

    fn members(&mut self, message: &MessageDescriptor) {
        let groups: Vec<MessageDescriptor> =
            message.fields().filter_map(|field| group(&field)).collect();
        for nested in message.child_enums() {
            self.enumeration(&nested);
        }
        for nested in message.child_messages() {
            if !nested.is_map_entry() && !groups.contains(&nested) {
                self.message(&nested);
            }
        }
        let mut begun = Vec::new();
        // In the order of the file, not of the numbers.
        for proto in &message.descriptor_proto().field {
            let Some(field) = message.get_field_by_name(proto.name()) else {
                continue;
            };
            let Some(oneof) = field
                .containing_oneof()
                .filter(|oneof| !oneof.is_synthetic())
            else {
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
        let extensions = message.extension_ranges();
        let extensions = extensions.map(|range| range.start..=range.end.saturating_sub(1));
        self.ranges("extensions", extensions, LAST_FIELD);
        let reserved = message.reserved_ranges();
        let reserved = reserved.map(|range| range.start..=range.end.saturating_sub(1));
        self.ranges("reserved", reserved, LAST_FIELD);
        self.reserved_names(message.reserved_names());
    }

    fn field(&mut self, field: &FieldDescriptor, label: &str) {
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

    fn enumeration(&mut self, of: &EnumDescriptor) {
        let proto = of.enum_descriptor_proto();
        let has_alias = proto
            .options
            .as_ref()
            .and_then(|options| options.allow_alias);
        self.block(&format!("enum {}", of.name()), |text| {
            if has_alias == Some(true) {
                text.line("option allow_alias = true;");
            }
            for value in &proto.value {
                let is_deprecated = value
                    .options
                    .as_ref()
                    .and_then(|options| options.deprecated);
                let options = match is_deprecated {
                    Some(true) => " [deprecated = true]",
                    _ => "",
                };
                text.line(&format!("{} = {}{options};", value.name(), value.number()));
            }
            text.ranges("reserved", of.reserved_ranges(), i32::MAX);
            text.reserved_names(of.reserved_names());
        });
    }

    fn ranges<N: Copy + PartialOrd + ToString>(
        &mut self,
        word: &str,
        ranges: impl Iterator<Item = RangeInclusive<N>>,
        last: N,
    ) {
        let shown: Vec<String> = ranges
            .map(|range| match (range.start(), range.end()) {
                (start, end) if start == end => start.to_string(),
                (start, end) if *end >= last => format!("{} to max", start.to_string()),
                (start, end) => format!("{} to {}", start.to_string(), end.to_string()),
            })
            .collect();
        if !shown.is_empty() {
            self.line(&format!("{word} {};", shown.join(", ")));
        }
    }

    fn reserved_names<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let names: Vec<String> = names.map(quoted).collect();
        if !names.is_empty() {
            self.line(&format!("reserved {};", names.join(", ")));
        }
    }
}

/// The message of a group, which is declared with its field, and named as it. Any other message may be delimited as a group
/// is (of an edition, or of a hostile server), and contain itself.
fn group(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    match field.kind() {
        Kind::Message(message)
            if field.is_group()
                && message.parent_message().as_ref() == Some(field.parent_message())
                && message.name().eq_ignore_ascii_case(field.name()) =>
        {
            Some(message)
        }
        _ => None,
    }
}

fn label(field: &FieldDescriptor) -> &'static str {
    let is_old = field.parent_file().syntax() == Syntax::Proto2;
    match field.cardinality() {
        _ if field.is_map() => "",
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if is_old || field.containing_oneof().is_some() => "optional ",
        Cardinality::Optional => "",
    }
}

fn kind(field: &FieldDescriptor) -> String {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => format!(
            "map<{}, {}>",
            kind(&entry.map_entry_key_field()),
            kind(&entry.map_entry_value_field())
        ),
        // As .proto files name it.
        kind => format!("{kind:?}"),
    }
}

fn options(field: &FieldDescriptor) -> String {
    let proto = field.field_descriptor_proto();
    let mut shown = Vec::new();
    if let Some(value) = &proto.default_value {
        let value = match proto.r#type() {
            Type::String => quoted(value),
            // It is escaped already.
            Type::Bytes => format!("\"{value}\""),
            _ => value.clone(),
        };
        shown.push(format!("default = {value}"));
    }
    if let Some(options) = &proto.options {
        shown.extend(options.packed.map(|packed| format!("packed = {packed}")));
        shown.extend(options.deprecated.map(|it| format!("deprecated = {it}")));
    }
    if field.is_group() && group(field).is_none() {
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
