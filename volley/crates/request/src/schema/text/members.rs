//! What is inside of declarations: fields, groups, values, ranges.

use std::ops::RangeInclusive;

use volley_protobuf::descriptor::descriptor_proto::ExtensionRange;
use volley_protobuf::descriptor::field_descriptor_proto::Type;
use volley_protobuf::descriptor::{EnumValueDescriptorProto, SymbolVisibility};
use volley_protobuf::full_name::{self, join};
use volley_protobuf::{Enum, Field, Message, Oneof, Pool, json_name};

use super::options::{Bracketed, bracketed};
use super::{Syntax, Text, quoted};

/// The largest number of a field.
const LAST_FIELD: i32 = (1 << 29) - 1;

impl Text {
    pub(super) fn extension(&mut self, extension: &Field) {
        let begin = format!("extend {}", extension.message().full_name());
        self.block(&begin, |text| text.field(extension, label(extension)));
    }

    pub(super) fn oneof(&mut self, oneof: &Oneof) {
        self.block(&format!("oneof {}", oneof.name()), |text| {
            text.options(oneof.message().pool(), oneof.options());
            for field in oneof.fields() {
                text.field(&field, "");
            }
        });
    }

    pub(super) fn message(&mut self, message: &Message) {
        let visibility = visibility(message.proto().and_then(|proto| proto.visibility));
        let begin = format!("{visibility}message {}", message.name());
        self.block(&begin, |text| text.members(message));
    }

    fn members(&mut self, message: &Message) {
        let Some(proto) = message.proto() else {
            return;
        };
        let syntax = Syntax::of(message.pool(), message.full_name());
        self.options(message.pool(), proto.options.as_option());
        let nested = |name: Option<&str>| join(message.full_name(), name.unwrap_or_default());
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
        self.extension_ranges(message.pool(), &proto.extension_range);
        let reserved = proto
            .reserved_range
            .iter()
            .map(|one| range(one.start, one.end));
        self.ranges("reserved", reserved, LAST_FIELD, &Bracketed::default());
        self.reserved_names(&proto.reserved_name, syntax);
    }

    /// Those with the same options behind each other together.
    fn extension_ranges(&mut self, pool: &Pool, all: &[ExtensionRange]) {
        let mut rest = all;
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|one| one.options == first.options);
            let (same, others) = rest.split_at(same.count());
            let ranges = same.iter().map(|one| range(one.start, one.end));
            let options = bracketed(pool, first.options.as_option(), Vec::new());
            self.ranges("extensions", ranges, LAST_FIELD, &options);
            rest = others;
        }
    }

    pub(super) fn field(&mut self, field: &Field, label: &str) {
        let number = field.number();
        if let Some(group) = group(field) {
            let options = field_options(field);
            self.note(&options);
            let begin = format!("{label}group {} = {number}{}", group.name(), options.text);
            self.block(&begin, |text| text.members(&group));
            return;
        }
        let kind = kind(field);
        let begin = format!("{label}{kind} {} = {number}", field.name());
        self.statement(&begin, &field_options(field));
    }

    /// A line with options.
    fn statement(&mut self, begin: &str, options: &Bracketed) {
        self.note(options);
        self.line(&format!("{begin}{};", options.text));
    }

    /// What cannot be shown of options.
    fn note(&mut self, options: &Bracketed) {
        if !options.note.is_empty() {
            self.line(&options.note);
        }
    }

    pub(super) fn enumeration(&mut self, pool: &Pool, of: &Enum) {
        let Some(proto) = of.proto() else {
            return;
        };
        let begin = format!("{}enum {}", visibility(proto.visibility), of.name());
        self.block(&begin, |text| {
            text.options(pool, proto.options.as_option());
            for value in &proto.value {
                text.value(pool, value);
            }
            let reserved = proto.reserved_range.iter();
            let reserved =
                reserved.map(|one| one.start.unwrap_or_default()..=one.end.unwrap_or_default());
            text.ranges("reserved", reserved, i32::MAX, &Bracketed::default());
            text.reserved_names(&proto.reserved_name, Syntax::of(pool, of.full_name()));
        });
    }

    pub(super) fn value(&mut self, pool: &Pool, value: &EnumValueDescriptorProto) {
        let name = value.name.as_deref().unwrap_or_default();
        let number = value.number.unwrap_or_default();
        let options = bracketed(pool, value.options.as_option(), Vec::new());
        self.statement(&format!("{name} = {number}"), &options);
    }

    fn ranges(
        &mut self,
        word: &str,
        ranges: impl Iterator<Item = RangeInclusive<i32>>,
        last: i32,
        options: &Bracketed,
    ) {
        let shown: Vec<String> = ranges
            .map(|range| match (range.start(), range.end()) {
                (start, end) if start == end => start.to_string(),
                (start, end) if *end >= last => format!("{start} to max"),
                (start, end) => format!("{start} to {end}"),
            })
            .collect();
        if !shown.is_empty() {
            self.statement(&format!("{word} {}", shown.join(", ")), options);
        }
    }

    /// In editions, they are identifiers.
    fn reserved_names(&mut self, names: &[String], syntax: Syntax) {
        let shown = |name: &String| match syntax {
            Syntax::Edition => name.clone(),
            Syntax::Proto2 | Syntax::Proto3 => quoted(name),
        };
        let names: Vec<String> = names.iter().map(shown).collect();
        if !names.is_empty() {
            self.line(&format!("reserved {};", names.join(", ")));
        }
    }
}

/// As descriptors have it: the end is outside.
fn range(start: Option<i32>, end: Option<i32>) -> RangeInclusive<i32> {
    start.unwrap_or_default()..=end.unwrap_or_default().saturating_sub(1)
}

/// The keyword before a type of an edition.
fn visibility(given: Option<SymbolVisibility>) -> &'static str {
    match given {
        Some(SymbolVisibility::VISIBILITY_EXPORT) => "export ",
        Some(SymbolVisibility::VISIBILITY_LOCAL) => "local ",
        Some(SymbolVisibility::VISIBILITY_UNSET) | None => "",
    }
}

/// The field of a group, which declares its message as well: they are in one scope, and the field has the name in small
/// letters. Any other field may be delimited as a group is (of an edition, or of a hostile server), and contain itself.
pub(super) fn declared_by(message: &Message) -> Option<Field> {
    let pool = message.pool();
    let name = message.name().to_ascii_lowercase();
    let full = join(full_name::scope(message.full_name()), &name);
    let own = message
        .parent()
        .and_then(|outer| outer.field_by_name(&name));
    let file = |symbol| pool.file_of(symbol).map(|file| &file.name);
    let is_it = |field: &Field| {
        field.is_delimited()
            && Syntax::of(pool, &full) != Syntax::Edition
            && field.kind().as_message() == Some(message)
            && field.full_name() == full
            && file(&full) == file(message.full_name())
    };
    own.into_iter().chain(pool.extension(&full)).find(is_it)
}

fn group(field: &Field) -> Option<Message> {
    let kind = field.kind();
    let message = kind.as_message()?;
    let is_own = declared_by(message).as_ref() == Some(field);
    is_own.then(|| message.clone())
}

pub(super) fn label(field: &Field) -> &'static str {
    match Syntax::of(field.message().pool(), &field.full_name()) {
        _ if field.is_map() => "",
        _ if field.is_list() => "repeated ",
        Syntax::Edition => "",
        _ if field.is_required() => "required ",
        Syntax::Proto2 => "optional ",
        Syntax::Proto3 if field.has_presence() && field.oneof().is_some() => "optional ",
        Syntax::Proto3 => "",
    }
}

fn kind(field: &Field) -> String {
    match field.map_kinds() {
        Some((key, value)) => format!("map<{key}, {value}>"),
        None => field.kind().to_string(),
    }
}

fn field_options(field: &Field) -> Bracketed {
    let Some(proto) = field.proto() else {
        return Bracketed::default();
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
    let options = proto.options.as_option();
    let features = options.and_then(|options| options.features.as_option());
    let is_told = features.is_some_and(|features| features.message_encoding.is_some());
    let is_group = proto.r#type == Some(Type::TYPE_GROUP) && group(field).is_none();
    if is_group && !is_told {
        shown.push("features.message_encoding = DELIMITED".to_owned());
    }
    bracketed(field.message().pool(), options, shown)
}
