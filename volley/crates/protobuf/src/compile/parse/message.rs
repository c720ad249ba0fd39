//! Messages: what is between their braces.

use std::collections::HashSet;

use buffa_descriptor::generated::descriptor::SymbolVisibility;
use buffa_descriptor::generated::descriptor::descriptor_proto::{ExtensionRange, ReservedRange};

use super::super::error::{Fault, Pos, shown};
use super::super::features::has_edition;
use super::super::lexer::Kind;
use super::super::names;
use super::super::tree::{Field, Message, Oneof, Range};
use super::Parser;

/// How many messages can be inside each other.
const NESTED: u32 = 31;
/// How many bytes the options can have that ranges of extensions share, as each range has a copy.
const SHARED: usize = 4 << 20;
/// The greatest number of a field.
pub(in super::super) const MAX_NUMBER: i32 = 536_870_911;

impl Parser<'_> {
    pub(super) fn message(
        &mut self,
        visibility: Option<SymbolVisibility>,
    ) -> Result<Message, Fault> {
        self.check_depth(self.cursor.at())?;
        self.cursor.expect("message")?;
        let name = self.cursor.name("the name of the message")?;
        let mut message = Message {
            at: name.at,
            ..Message::default()
        };
        message.proto.name = Some(name.text().to_owned());
        message.proto.visibility = visibility;
        self.message_body(&mut message)?;
        Ok(message)
    }

    pub(super) fn check_depth(&self, at: Pos) -> Result<(), Fault> {
        match self.depth < NESTED {
            true => Ok(()),
            false => Err(at.fault(format!("messages are nested more than {NESTED} deep"))),
        }
    }

    /// From brace to brace.
    pub(super) fn message_body(&mut self, message: &mut Message) -> Result<(), Fault> {
        self.check_depth(self.cursor.at())?;
        self.depth += 1;
        self.cursor.expect("{")?;
        while !self.cursor.take_end()? {
            self.message_statement(message)?;
        }
        self.depth -= 1;
        self.finish_ranges(message);
        synthetic_oneofs(message);
        Ok(())
    }

    fn message_statement(&mut self, message: &mut Message) -> Result<(), Fault> {
        if self.cursor.take(";")? {
            return Ok(());
        }
        let visibility = self.visibility()?;
        match self.cursor.token.text() {
            "message" => message.messages.push(self.message(visibility)?),
            "enum" => message.enums.push(self.enumeration(visibility)?),
            "extensions" => self.extension_ranges(message)?,
            "reserved" => self.reserved(message)?,
            "extend" => self.extend(&mut message.extensions, &mut message.messages)?,
            "option" => message.options.push(self.option_statement()?),
            "oneof" => self.oneof(message)?,
            _ => message
                .fields
                .push(self.field(&mut message.messages, false)?),
        }
        Ok(())
    }

    fn oneof(&mut self, message: &mut Message) -> Result<(), Fault> {
        self.cursor.advance()?;
        let name = self.cursor.name("the name of the oneof")?;
        let mut oneof = Oneof {
            at: name.at,
            ..Oneof::default()
        };
        oneof.proto.name = Some(name.text().to_owned());
        let index = i32::try_from(message.oneofs.len()).unwrap_or(i32::MAX);
        self.cursor.expect("{")?;
        loop {
            let token = self.cursor.token;
            match token.text() {
                "option" => oneof.options.push(self.option_statement()?),
                "required" | "optional" | "repeated" => {
                    return Err(token.at.fault("a field of a oneof has no label"));
                }
                _ if self.is_map() => {
                    return Err(token.at.fault("a oneof has no maps"));
                }
                _ => {
                    let mut field = self.unlabelled(&mut message.messages, false)?;
                    field.proto.oneof_index = Some(index);
                    message.fields.push(field);
                }
            }
            if self.cursor.take_end()? {
                break;
            }
        }
        message.oneofs.push(oneof);
        Ok(())
    }

    /// `extend Name { fields }`
    pub(super) fn extend(
        &mut self,
        extensions: &mut Vec<Field>,
        messages: &mut Vec<Message>,
    ) -> Result<(), Fault> {
        self.cursor.expect("extend")?;
        let extendee_at = self.cursor.at();
        let extendee = self.type_name("the name of the extended message")?;
        self.cursor.expect("{")?;
        loop {
            let mut field = self.field(messages, true)?;
            field.proto.extendee = Some(extendee.clone());
            field.extendee_at = extendee_at;
            extensions.push(field);
            if self.cursor.take_end()? {
                return Ok(());
            }
        }
    }

    fn extension_ranges(&mut self, message: &mut Message) -> Result<(), Fault> {
        self.cursor.advance()?;
        let first = message.ranges.len();
        for (start, end, at) in self.ranges("the number of a field", false)? {
            let proto = ExtensionRange {
                start: Some(start),
                end: Some(end.unwrap_or(start).wrapping_add(1)),
                ..ExtensionRange::default()
            };
            message.ranges.push(Range {
                proto,
                to_max: end.is_none(),
                at,
                ..Range::default()
            });
        }
        let (at, left) = (self.cursor.at(), self.cursor.left());
        let options = self.bracketed()?;
        let ranges = message.ranges.len() - first;
        let length = left - self.cursor.left();
        if ranges > 1 && ranges.saturating_mul(length) > SHARED {
            return Err(at.fault(format!(
                "the options are too long for {ranges} ranges to share: write fewer ranges at a time"
            )));
        }
        for range in message.ranges.iter_mut().skip(first) {
            range.options.clone_from(&options);
        }
        self.cursor.expect(";")
    }

    /// What `max` is depends on an option.
    fn finish_ranges(&self, message: &mut Message) {
        let set = message
            .options
            .iter()
            .any(|option| option.is_true("message_set_wire_format"));
        let max = if set { i32::MAX } else { MAX_NUMBER + 1 };
        for range in message.ranges.iter_mut().filter(|range| range.to_max) {
            range.proto.end = Some(max);
        }
    }

    fn reserved(&mut self, message: &mut Message) -> Result<(), Fault> {
        self.cursor.advance()?;
        if let Some(names) = self.reserved_names()? {
            message.reserved_names.extend(names);
            return Ok(());
        }
        for (start, end, at) in self.ranges("a name, or the number of a field,", false)? {
            let range = ReservedRange {
                start: Some(start),
                end: Some(end.unwrap_or(MAX_NUMBER).wrapping_add(1)),
                ..ReservedRange::default()
            };
            message.reserved.push((range, at));
        }
        self.cursor.expect(";")
    }

    /// `1, 3 to 5, 7 to max`: the first and the last number of each range, `None` for `max`, and its place.
    pub(super) fn ranges(&mut self, wanted: &str, is_signed: bool) -> Result<Vec<Numbers>, Fault> {
        let number = |parser: &mut Self, wanted: &str| match is_signed {
            true => parser.cursor.signed(wanted),
            false => parser.cursor.positive(wanted),
        };
        let mut ranges = Vec::new();
        loop {
            let at = self.cursor.at();
            let start = number(self, wanted)?;
            let end = match self.cursor.take("to")? {
                false => Some(start),
                true if self.cursor.take("max")? => None,
                true => Some(number(self, "a number, or `max`,")?),
            };
            ranges.push((start, end, at));
            if !self.cursor.take(",")? {
                return Ok(ranges);
            }
        }
    }

    /// Names after `reserved`, if it is not numbers that follow.
    pub(super) fn reserved_names(&mut self) -> Result<Option<Vec<Reserved>>, Fault> {
        let is_text = match self.cursor.token.kind {
            Kind::Text => true,
            Kind::Name => false,
            _ => return Ok(None),
        };
        if is_text == has_edition(self.edition) {
            return Err(self.cursor.at().fault(match is_text {
                true => "a reserved name has no quotes in an edition",
                false => "a reserved name must be in quotes",
            }));
        }
        let mut names = Vec::new();
        loop {
            let at = self.cursor.at();
            let name = match is_text {
                true => self.cursor.string("a name in quotes")?,
                false => self.cursor.name("a name")?.text().to_owned(),
            };
            names.push((name, at));
            if !self.cursor.take(",")? {
                self.cursor.expect(";")?;
                return Ok(Some(names));
            }
        }
    }
}

type Reserved = (String, Pos);
type Numbers = (i32, Option<i32>, Pos);

/// A proto3 field with `optional` is alone in a oneof, which comes after the written ones.
fn synthetic_oneofs(message: &mut Message) {
    if !message
        .fields
        .iter()
        .any(|field| field.proto.proto3_optional == Some(true))
    {
        return;
    }
    let oneof_names = message
        .oneofs
        .iter()
        .filter_map(|oneof| oneof.proto.name.clone());
    let field_names = message.fields.iter().map(|field| field.name().to_owned());
    let mut taken: HashSet<String> = oneof_names.chain(field_names).collect();
    let mut seen = HashSet::new();
    for field in &mut message.fields {
        // A name that is there twice is refused later; until then, it does not make longer and longer ones.
        if field.proto.proto3_optional != Some(true) || !seen.insert(field.name().to_owned()) {
            continue;
        }
        let mut name = names::synthetic_oneof(field.name());
        while taken.contains(&name) {
            name.insert(0, 'X');
        }
        taken.insert(name.clone());
        let index = i32::try_from(message.oneofs.len()).unwrap_or(i32::MAX);
        field.proto.oneof_index = Some(index);
        let mut oneof = Oneof {
            at: field.at,
            ..Oneof::default()
        };
        oneof.proto.name = Some(name);
        message.oneofs.push(oneof);
    }
}

/// The entry that a map is made of.
pub(super) fn map_entry(map: &Field, mut key: Field, mut value: Field) -> Message {
    for option in &map.options {
        if option.sets("features") {
            key.options.push(option.clone());
            value.options.push(option.clone());
        }
    }
    let mut entry = Message {
        at: map.at,
        fields: vec![key, value],
        ..Message::default()
    };
    entry.proto.name = Some(names::map_entry(map.name()));
    entry.proto.options.get_or_insert_default().map_entry = Some(true);
    entry
}

/// The message of a group.
pub(super) fn group(name: &str, at: Pos) -> Result<Message, Fault> {
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
        let message = format!(
            "the name of a group, {}, must start with a capital",
            shown(name)
        );
        return Err(at.fault(message));
    }
    let mut message = Message {
        at,
        ..Message::default()
    };
    message.proto.name = Some(name.to_owned());
    Ok(message)
}
