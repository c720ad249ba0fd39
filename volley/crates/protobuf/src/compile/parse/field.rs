//! Fields: labels, types, numbers, defaults.

use buffa::Enumeration as _;
use buffa_descriptor::generated::descriptor::Edition;
use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};

use super::super::error::{Fault, shown};
use super::super::features::has_edition;
use super::super::lexer::{Kind, Token};
use super::super::literal;
use super::super::names;
use super::super::tree::{Field, Message};
use super::Parser;
use super::message::{group, map_entry};

/// The types that have names of their own.
pub(in super::super) fn scalar(name: &str) -> Option<Type> {
    let is_plain = !matches!(name, "message" | "enum") && name == name.to_ascii_lowercase();
    let named = Type::from_proto_name(&format!("TYPE_{}", name.to_ascii_uppercase()));
    named.filter(|_| is_plain)
}

impl Parser<'_> {
    /// A field, perhaps with a label; messages of its own go to `messages`.
    pub(super) fn field(
        &mut self,
        messages: &mut Vec<Message>,
        extends: bool,
    ) -> Result<Field, Fault> {
        let token = self.cursor.token;
        let label = match token.text() {
            "optional" => Label::LABEL_OPTIONAL,
            "required" => Label::LABEL_REQUIRED,
            "repeated" => Label::LABEL_REPEATED,
            _ => {
                if self.edition == Edition::EDITION_PROTO2 && !self.is_map() {
                    let wanted = "`optional`, `required` or `repeated`";
                    return Err(self.cursor.unexpected(wanted));
                }
                return self.unlabelled(messages, extends);
            }
        };
        if has_edition(self.edition) && label != Label::LABEL_REPEATED {
            let message = format!(
                "an edition has no label {}; the feature `field_presence` is in its place",
                shown(token.text())
            );
            return Err(token.at.fault(message));
        }
        self.cursor.advance()?;
        if self.is_map() {
            return Err(self.cursor.at().fault("a map has no label"));
        }
        let mut field = self.unlabelled(messages, extends)?;
        field.proto.label = Some(label);
        if label == Label::LABEL_OPTIONAL && self.edition == Edition::EDITION_PROTO3 {
            field.proto.proto3_optional = Some(true);
        }
        Ok(field)
    }

    /// A field from its type on.
    pub(super) fn unlabelled(
        &mut self,
        messages: &mut Vec<Message>,
        extends: bool,
    ) -> Result<Field, Fault> {
        let mut field = Field {
            type_at: self.cursor.at(),
            ..Field::default()
        };
        field.proto.label = Some(Label::LABEL_OPTIONAL);
        let entry = match self.is_map() {
            true if extends => return Err(self.cursor.at().fault("a map cannot be an extension")),
            true => Some(self.map_types()?),
            false => {
                self.field_type(&mut field)?;
                None
            }
        };
        let name = self.cursor.name("the name of the field")?;
        field.at = name.at;
        field.proto.name = Some(name.text().to_owned());
        self.cursor.expect("=")?;
        field.number_at = self.cursor.at();
        field.proto.number = Some(self.cursor.positive("the number of the field")?);
        self.field_options(&mut field)?;
        if let Some((key, value)) = entry {
            self.check_depth(field.type_at)?;
            field.is_map = true;
            field.proto.label = Some(Label::LABEL_REPEATED);
            field.proto.r#type = Some(Type::TYPE_MESSAGE);
            let entry = map_entry(&field, key, value);
            field.proto.type_name.clone_from(&entry.proto.name);
            messages.push(entry);
        }
        if field.proto.r#type == Some(Type::TYPE_GROUP) {
            self.group_body(&mut field, name, messages)?;
        } else {
            self.cursor.expect(";")?;
        }
        let json_name = names::json(field.name());
        field.proto.json_name.get_or_insert(json_name);
        Ok(field)
    }

    fn group_body(
        &mut self,
        field: &mut Field,
        name: Token<'_>,
        messages: &mut Vec<Message>,
    ) -> Result<(), Fault> {
        if has_edition(self.edition) {
            return Err(field.type_at.fault(
                "an edition has no groups: write a message, and a field of its type with `features.message_encoding = DELIMITED`",
            ));
        }
        let mut message = group(name.text(), name.at)?;
        field.proto.name = Some(name.text().to_ascii_lowercase());
        field.proto.type_name = Some(name.text().to_owned());
        self.message_body(&mut message)?;
        messages.push(message);
        Ok(())
    }

    /// Whether `map<` is next. A type can be called `map`.
    pub(super) fn is_map(&self) -> bool {
        self.cursor.is("map") && self.cursor.peek().is_some_and(|next| next.is("<"))
    }

    /// `map<key, value>`
    fn map_types(&mut self) -> Result<(Field, Field), Fault> {
        self.cursor.advance()?;
        self.cursor.expect("<")?;
        let key = self.map_part("key", 1)?;
        self.cursor.expect(",")?;
        let value = self.map_part("value", 2)?;
        self.cursor.expect(">")?;
        Ok((key, value))
    }

    fn map_part(&mut self, name: &str, number: i32) -> Result<Field, Fault> {
        let at = self.cursor.at();
        let mut field = Field {
            at,
            type_at: at,
            number_at: at,
            ..Field::default()
        };
        self.field_type(&mut field)?;
        if field.proto.r#type == Some(Type::TYPE_GROUP) {
            return Err(at.fault("a map cannot have groups as its keys or values"));
        }
        field.proto.name = Some(name.to_owned());
        field.proto.json_name = Some(name.to_owned());
        field.proto.number = Some(number);
        field.proto.label = Some(Label::LABEL_OPTIONAL);
        Ok(field)
    }

    fn field_type(&mut self, field: &mut Field) -> Result<(), Fault> {
        match scalar(self.cursor.token.text()) {
            Some(scalar) => {
                self.cursor.advance()?;
                field.proto.r#type = Some(scalar);
            }
            None => field.proto.type_name = Some(self.path("a type")?),
        }
        Ok(())
    }

    /// The name of a message.
    pub(super) fn type_name(&mut self, wanted: &str) -> Result<String, Fault> {
        if scalar(self.cursor.token.text()).is_some() {
            return Err(self.cursor.unexpected(wanted));
        }
        self.path(wanted)
    }

    /// What is in brackets. `default` and `json_name` are no options in a descriptor.
    fn field_options(&mut self, field: &mut Field) -> Result<(), Fault> {
        if !self.cursor.take("[")? {
            return Ok(());
        }
        loop {
            let token = self.cursor.token;
            match token.text() {
                "default" if field.default_at.is_some() => {
                    return Err(token.at.fault("the field has a second `default`"));
                }
                "json_name" if field.json_name_at.is_some() => {
                    return Err(token.at.fault("the field has a second `json_name`"));
                }
                "default" => {
                    self.cursor.advance()?;
                    self.cursor.expect("=")?;
                    field.default_at = Some(self.cursor.at());
                    field.proto.default_value = Some(self.default_value(field)?);
                }
                "json_name" => {
                    self.cursor.advance()?;
                    self.cursor.expect("=")?;
                    field.json_name_at = Some(self.cursor.at());
                    field.proto.json_name = Some(self.cursor.string("a string")?);
                }
                _ => field.options.push(self.assignment()?),
            }
            if !self.cursor.take(",")? {
                return self.cursor.expect("]");
            }
        }
    }

    fn default_value(&mut self, field: &Field) -> Result<String, Fault> {
        let at = self.cursor.at();
        match field.proto.r#type {
            None => {
                let name = self.cursor.name("the name of a value of the enum")?;
                Ok(name.text().to_owned())
            }
            Some(Type::TYPE_INT32 | Type::TYPE_SINT32 | Type::TYPE_SFIXED32) => self.whole(1 << 31),
            Some(Type::TYPE_INT64 | Type::TYPE_SINT64 | Type::TYPE_SFIXED64) => self.whole(1 << 63),
            Some(Type::TYPE_UINT32 | Type::TYPE_FIXED32) => {
                let max = u64::from(u32::MAX);
                Ok(self
                    .cursor
                    .integer(max, "a number without a sign")?
                    .to_string())
            }
            Some(Type::TYPE_UINT64 | Type::TYPE_FIXED64) => Ok(self
                .cursor
                .integer(u64::MAX, "a number without a sign")?
                .to_string()),
            Some(Type::TYPE_FLOAT) => {
                let value = self.number()?;
                // Through text, as protoc does it.
                let narrow: f32 = names::double(value).parse().unwrap_or(f32::NAN);
                Ok(names::float(narrow))
            }
            Some(Type::TYPE_DOUBLE) => Ok(names::double(self.number()?)),
            Some(Type::TYPE_BOOL) => match self.cursor.token.text() {
                "true" | "false" => Ok(self.cursor.advance()?.text().to_owned()),
                _ => Err(self.cursor.unexpected("`true` or `false`")),
            },
            Some(Type::TYPE_STRING) => self.cursor.string("a string"),
            Some(Type::TYPE_BYTES) => Ok(names::escape(&self.cursor.bytes("a string")?)),
            Some(Type::TYPE_MESSAGE | Type::TYPE_GROUP | Type::TYPE_ENUM) => {
                Err(at.fault("a message has no default"))
            }
        }
    }

    /// A whole number; `limit` is how far it goes below 0.
    fn whole(&mut self, limit: u64) -> Result<String, Fault> {
        let negative = self.cursor.take("-")?;
        let max = limit - u64::from(!negative);
        let value = self.cursor.integer(max, "a whole number")?;
        let sign = if negative && value != 0 { "-" } else { "" };
        Ok(format!("{sign}{value}"))
    }

    fn number(&mut self) -> Result<f64, Fault> {
        let negative = self.cursor.take("-")?;
        let token = self.cursor.token;
        let value = match (token.kind, token.text()) {
            (Kind::Float, text) => text.parse().unwrap_or(f64::NAN),
            // Decimal numbers may be longer than 64 bits.
            (Kind::Integer, text) => match literal::integer(text) {
                Some(value) => value as f64,
                None if !text.starts_with('0') => text.parse().unwrap_or(f64::NAN),
                None => return Err(token.at.fault("the number is out of range")),
            },
            (Kind::Name, "inf") => f64::INFINITY,
            (Kind::Name, "nan") => f64::NAN,
            _ => return Err(self.cursor.unexpected("a number")),
        };
        self.cursor.advance()?;
        Ok(if negative { -value } else { value })
    }
}
