//! Messages in braces: the text format, by the schema of the message.

use buffa_descriptor::generated::descriptor::field_descriptor_proto::Type;
use buffa_descriptor::generated::descriptor::field_options::OptionTargetType as Target;

use super::super::super::full_name::{self, join};
use super::super::cursor::Cursor;
use super::super::error::{Fault, Pos, shown};
use super::super::lexer::{Kind as Token, Lexer};
use super::super::literal;
use super::super::universe::{FieldInfo, Kind, MessageInfo, Mode, TypeRef};
use super::super::wire::Datum;
use super::assign::{Interpreter, Used};
use super::record::Record;
use super::usage;

/// How deep messages can be.
const MAX_DEPTH: usize = 64;
/// What the name of a type starts with in an `Any`.
const ANY_PREFIXES: [&str; 2] = ["type.googleapis.com", "type.googleprod.com"];

/// The message that a field's text stands for, in the binary format.
pub(super) fn encode(
    interpreter: &Interpreter<'_>,
    field: &FieldInfo,
    text: &[u8],
    at: Pos,
    target: Target,
    used: &mut Used,
) -> Result<Vec<u8>, Fault> {
    let mut reader = Reader {
        interpreter,
        cursor: Cursor::new(Lexer::at(uncommented(text, at)?, at))?,
        target,
    };
    let Some(TypeRef::Message(message)) = field.target else {
        return Ok(Vec::new());
    };
    let mut record = reader.message(message, None, 0)?;
    record.complete_entry(interpreter);
    record.note(used);
    record.encode()
}

/// The text format has comments from `#` on. By then the text is one line.
fn uncommented(text: &[u8], at: Pos) -> Result<&[u8], Fault> {
    let mut lexer = Lexer::at(text, at);
    loop {
        let token = lexer.next()?;
        if token.kind == Token::End {
            return Ok(text);
        }
        if token.is("#") {
            let end = text.len() - lexer.rest().len() - 1;
            return Ok(text.get(..end).unwrap_or_default());
        }
    }
}

struct Reader<'a, 't> {
    interpreter: &'a Interpreter<'a>,
    cursor: Cursor<'t>,
    target: Target,
}

impl<'a> Reader<'a, '_> {
    fn message(
        &mut self,
        index: usize,
        end: Option<&str>,
        depth: usize,
    ) -> Result<Record<'a>, Fault> {
        let at = self.cursor.at();
        let universe = self.interpreter.universe;
        let info = universe
            .messages
            .get(index)
            .ok_or_else(|| at.fault("the type is not known"))?;
        check_depth(depth, at)?;
        let mut record = Record::new(info, at);
        loop {
            match end {
                Some(end) if self.cursor.take(end)? => return Ok(record),
                None if self.cursor.is_end() => return Ok(record),
                _ => {}
            }
            self.entry(index, &mut record, depth)?;
            if !self.cursor.take(";")? {
                self.cursor.take(",")?;
            }
        }
    }

    fn entry(&mut self, index: usize, record: &mut Record<'a>, depth: usize) -> Result<(), Fault> {
        let at = self.cursor.at();
        let field = if self.cursor.take("[")? {
            let (prefix, name) = self.bracketed_name()?;
            if let Some(prefix) = prefix {
                return self.any(record, &prefix, &name, at, depth);
            }
            self.extension(index, record.info, &name, at)?
        } else {
            let name = self.cursor.name("the name of a field")?.text();
            match self.find(record.info, name) {
                Some(field) => field,
                None if record.info.reserved_names.contains(name) => return self.skip(depth),
                None => {
                    let holder = shown(&record.info.full_name);
                    return Err(at.fault(format!("{holder} has no field {}", shown(name))));
                }
            }
        };
        usage::check(field, self.target, self.interpreter.edition, at)?;
        let is_message = matches!(field.kind, Type::TYPE_MESSAGE | Type::TYPE_GROUP);
        if !self.cursor.take(":")? && !is_message {
            return Err(self.cursor.unexpected("`:`"));
        }
        if field.repeated && self.cursor.take("[")? {
            if self.cursor.take("]")? {
                return Ok(());
            }
            loop {
                self.value(field, record, depth)?;
                if !self.cursor.take(",")? {
                    return self.cursor.expect("]");
                }
            }
        }
        if !field.repeated && record.slots.contains_key(&field.number) {
            return Err(at.fault(format!("{} is set twice", shown(&field.name))));
        }
        if let Some(other) = field
            .oneof
            .and_then(|oneof| record.oneofs.insert(oneof, &field.name))
        {
            let (one, other) = (shown(&field.name), shown(other));
            return Err(at.fault(format!(
                "{one} and {other} are of one oneof, and both are set"
            )));
        }
        self.value(field, record, depth)
    }

    /// A field by its name; a group, or what is like one, has that of its type too.
    fn find(&self, info: &'a MessageInfo, name: &str) -> Option<&'a FieldInfo> {
        let universe = self.interpreter.universe;
        let is_group = |field: &&FieldInfo| {
            let type_name = field.target.map(|target| universe.type_name(target));
            field.kind == Type::TYPE_GROUP && type_name == Some(&join(&info.full_name, name))
        };
        let group = || info.field(&name.to_ascii_lowercase()).filter(is_group);
        info.field(name).or_else(group)
    }

    /// `a.b.C]`, or `type.googleapis.com/a.b.C]`: what is before the slash, and the name.
    fn bracketed_name(&mut self) -> Result<(Option<String>, String), Fault> {
        let (mut prefix, mut name) = (None, String::new());
        loop {
            if self.cursor.take("]")? {
                return Ok((prefix, name));
            }
            if self.cursor.take("/")? {
                prefix = Some(std::mem::take(&mut name));
                continue;
            }
            let token = self.cursor.token;
            let is_mark = token.is("-") || token.is(".") && !name.is_empty();
            if token.kind != Token::Name && !is_mark {
                return Err(self.cursor.unexpected("the name of an extension or a type"));
            }
            name.push_str(token.text());
            self.cursor.advance()?;
        }
    }

    fn extension(
        &self,
        index: usize,
        holder: &MessageInfo,
        name: &str,
        at: Pos,
    ) -> Result<&'a FieldInfo, Fault> {
        let Interpreter { universe, view, .. } = *self.interpreter;
        let scope = full_name::scope(&holder.full_name);
        let symbol = view.resolve(universe, name, scope, Mode::Option);
        let symbol = symbol.map_err(|lost| at.fault(lost.message(universe, name)))?;
        let extension = match symbol.kind {
            Kind::Extension(index) => universe.extensions.get(index),
            // An extension of a message set that is inside of its type has the name of that.
            Kind::Type(TypeRef::Message(target)) if holder.message_set => {
                let item = holder.items.get(&target);
                item.and_then(|index| universe.extensions.get(*index))
            }
            _ => None,
        };
        extension
            .filter(|extension| extension.parent == index)
            .ok_or_else(|| {
                let holder = shown(&holder.full_name);
                at.fault(format!("{} does not extend {holder}", shown(name)))
            })
    }

    /// The message inside of an `Any`, as its type and its bytes.
    fn any(
        &mut self,
        record: &mut Record<'a>,
        prefix: &str,
        name: &str,
        at: Pos,
        depth: usize,
    ) -> Result<(), Fault> {
        let Interpreter { universe, view, .. } = *self.interpreter;
        let wrong = |message: String| Err(at.fault(message));
        let any = Some(record.info).filter(|info| info.full_name == "google.protobuf.Any");
        let parts = any.and_then(|info| Some((info.field("type_url")?, info.field("value")?)));
        let Some((url, value)) = parts else {
            return wrong("only `google.protobuf.Any` has the name of a type here".to_owned());
        };
        if !ANY_PREFIXES.contains(&prefix) {
            return wrong(format!("{} is not known as a home of types", shown(prefix)));
        }
        let symbol = view.resolve(universe, &format!(".{name}"), "", Mode::Option);
        let symbol = symbol.map_err(|lost| at.fault(lost.message(universe, name)))?;
        let Kind::Type(TypeRef::Message(index)) = symbol.kind else {
            return wrong(format!("{} is no message", shown(name)));
        };
        if !record.slots.is_empty() {
            return wrong("the `Any` has other fields already".to_owned());
        }
        self.cursor.take(":")?;
        let end = self.brace()?;
        let inner = self.message(index, Some(end), depth + 1)?.encode()?;
        record.push(url, Datum::Bytes(format!("{prefix}/{name}").into_bytes()));
        record.push(value, Datum::Bytes(inner));
        Ok(())
    }

    /// The opening brace of a message; gives the closing one.
    fn brace(&mut self) -> Result<&'static str, Fault> {
        if self.cursor.take("<")? {
            return Ok(">");
        }
        self.cursor.expect("{")?;
        Ok("}")
    }

    fn value(
        &mut self,
        field: &'a FieldInfo,
        record: &mut Record<'a>,
        depth: usize,
    ) -> Result<(), Fault> {
        let Some(TypeRef::Message(index)) = field.target else {
            let datum = self.scalar(field)?;
            record.push(field, datum);
            return Ok(());
        };
        let end = self.brace()?;
        let mut inner = self.message(index, Some(end), depth + 1)?;
        inner.complete_entry(self.interpreter);
        let slot_used = (!field.repeated).then(|| {
            let mut used = Used::default();
            inner.note(&mut used);
            used
        });
        let bytes = inner.encode()?;
        let slot = record.push(field, Datum::message(field.kind, bytes));
        slot.used = slot_used.unwrap_or_default();
        Ok(())
    }

    fn scalar(&mut self, field: &FieldInfo) -> Result<Datum, Fault> {
        if matches!(field.kind, Type::TYPE_STRING | Type::TYPE_BYTES) {
            return self.cursor.bytes("a string").map(Datum::Bytes);
        }
        let at = self.cursor.at();
        let negative = self.cursor.take("-")?;
        let token = self.cursor.token;
        let text = token.text();
        let datum = match (field.kind, token.kind) {
            (Type::TYPE_BOOL, Token::Name) if !negative => match text {
                "true" | "True" | "t" => Some(Datum::Varint(1)),
                "false" | "False" | "f" => Some(Datum::Varint(0)),
                _ => None,
            },
            (Type::TYPE_BOOL, Token::Integer) if !negative => literal::integer(text)
                .filter(|value| *value <= 1)
                .map(Datum::Varint),
            (Type::TYPE_ENUM, Token::Name) if !negative => {
                Some(Datum::Varint(self.interpreter.enum_value(field, text, at)?))
            }
            (Type::TYPE_ENUM, Token::Integer) => self.enum_number(field, negative, text),
            (kind @ (Type::TYPE_FLOAT | Type::TYPE_DOUBLE), _) => {
                let value = match token.kind {
                    Token::Float => text.parse().ok(),
                    Token::Integer => match literal::integer(text) {
                        // Only decimal numbers stand for one with a point.
                        _ if text.len() > 1 && text.starts_with('0') => None,
                        Some(value) => Some(value as f64),
                        None => text.parse().ok(),
                    },
                    Token::Name => special(text),
                    _ => None,
                };
                let value = value.map(|value| if negative { -value } else { value });
                value.and_then(|value| Datum::float(kind, value))
            }
            (kind, Token::Integer) => {
                literal::integer(text).and_then(|value| Datum::whole(kind, negative, value))
            }
            _ => None,
        };
        let datum = datum.ok_or_else(|| {
            at.fault(format!(
                "{} is no value for {}",
                shown(text),
                shown(&field.name)
            ))
        })?;
        self.cursor.advance()?;
        Ok(datum)
    }

    /// A number in place of a value's name. A closed enum must have it.
    fn enum_number(&self, field: &FieldInfo, negative: bool, text: &str) -> Option<Datum> {
        let value = literal::integer(text)?;
        let datum = Datum::whole(Type::TYPE_INT32, negative, value)?;
        let Datum::Varint(bits) = datum else {
            return None;
        };
        let known = self.interpreter.universe.enum_of(field.target)?;
        let number = i32::try_from(bits as i64).ok()?;
        (!known.closed || known.numbers.contains(&number)).then_some(datum)
    }

    /// Goes over what follows the name of a field that was removed.
    fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        match self.cursor.take(":")? {
            true => self.skip_value(depth),
            false => self.skip_message(depth),
        }
    }

    fn skip_message(&mut self, depth: usize) -> Result<(), Fault> {
        check_depth(depth, self.cursor.at())?;
        let end = self.brace()?;
        while !self.cursor.take(end)? {
            match self.cursor.take("[")? {
                true => self.bracketed_name().map(|_| ())?,
                false => self.cursor.name("the name of a field").map(|_| ())?,
            }
            self.skip(depth + 1)?;
            if !self.cursor.take(";")? {
                self.cursor.take(",")?;
            }
        }
        Ok(())
    }

    fn skip_value(&mut self, depth: usize) -> Result<(), Fault> {
        check_depth(depth, self.cursor.at())?;
        if self.cursor.is("{") || self.cursor.is("<") {
            return self.skip_message(depth);
        }
        if self.cursor.take("[")? {
            if self.cursor.take("]")? {
                return Ok(());
            }
            loop {
                self.skip_value(depth + 1)?;
                if !self.cursor.take(",")? {
                    return self.cursor.expect("]");
                }
            }
        }
        let negative = self.cursor.take("-")?;
        let token = self.cursor.token;
        match token.kind {
            Token::Text if !negative => self.cursor.bytes("a string").map(|_| ()),
            Token::Name if negative && special(token.text()).is_none() => {
                Err(self.cursor.unexpected("a number"))
            }
            Token::Integer | Token::Float | Token::Name => self.cursor.advance().map(|_| ()),
            _ => Err(self.cursor.unexpected("a value")),
        }
    }
}

fn check_depth(depth: usize, at: Pos) -> Result<(), Fault> {
    match depth > MAX_DEPTH {
        true => Err(at.fault(format!("the value is more than {MAX_DEPTH} messages deep"))),
        false => Ok(()),
    }
}

/// A number that has a name.
fn special(name: &str) -> Option<f64> {
    match name.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}
