//! Single options: `path = value`.

use std::collections::HashMap;

use buffa_descriptor::generated::descriptor::Edition;
use buffa_descriptor::generated::descriptor::field_descriptor_proto::Type;
use buffa_descriptor::generated::descriptor::field_options::OptionTargetType as Target;

use super::super::error::{Fault, Pos, shown};
use super::super::features::has_edition;
use super::super::tree::{Assignment, Part, Value};
use super::super::universe::{FieldInfo, Kind, Lost, Mode, TypeRef, Universe, View};
use super::super::wire::Datum;
use super::{aggregate, options_message, usage};

/// The longest path of an option.
const MAX_PATH: usize = 32;

pub(super) struct Interpreter<'a> {
    pub universe: &'a Universe,
    pub view: &'a View,
    pub edition: Edition,
}

/// The fields that are set already.
#[derive(Default)]
pub(super) struct Used(HashMap<i32, Used>);

impl Used {
    /// Notes a field; what is inside of it, and whether it was there before.
    pub fn enter(&mut self, number: i32) -> (&mut Self, bool) {
        let mut old = true;
        let inside = self.0.entry(number).or_insert_with(|| {
            old = false;
            Self::default()
        });
        (inside, old)
    }

    /// Adds what another has. Its depth is that of a value.
    pub fn merge(&mut self, other: &Self) {
        for (number, inside) in &other.0 {
            self.enter(*number).0.merge(inside);
        }
    }
}

impl<'a> Interpreter<'a> {
    pub fn new(universe: &'a Universe, view: &'a View, edition: Edition) -> Self {
        Self {
            universe,
            view,
            edition,
        }
    }

    /// The options of one thing in the binary format.
    pub fn encode(
        &self,
        options: &[&Assignment],
        target: Target,
        scope: &str,
    ) -> Result<Vec<u8>, Fault> {
        let holder = options_message(target);
        let (mut bytes, mut used) = (Vec::new(), Used::default());
        for option in options {
            let message = self
                .universe
                .options(holder)
                .ok_or_else(|| option.at.fault(format!("{} is not defined", shown(holder))))?;
            let fields = self.path(option, message, target, scope)?;
            let mut inside = &mut used;
            for (index, field) in fields.iter().enumerate() {
                let last = index + 1 == fields.len();
                let (next, old) = inside.enter(field.number);
                if last && old && !field.repeated {
                    let message = format!("the option {} is set already", shown(&field.full_name));
                    return Err(option.at.fault(message));
                }
                inside = next;
            }
            self.write(option, &fields, target, inside, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// The field of each part of an option's name.
    fn path(
        &self,
        option: &Assignment,
        mut message: usize,
        target: Target,
        scope: &str,
    ) -> Result<Vec<&'a FieldInfo>, Fault> {
        if option.path.len() > MAX_PATH {
            return Err(option
                .at
                .fault(format!("the option has more than {MAX_PATH} parts")));
        }
        let mut fields: Vec<&FieldInfo> = Vec::new();
        for part in &option.path {
            if let Some(outer) = fields.last() {
                message = match outer.target {
                    Some(TypeRef::Message(index)) if !outer.repeated => index,
                    _ => {
                        let name = shown(&outer.full_name);
                        let message =
                            format!("the option {name} is no single message: it has no parts");
                        return Err(option.at.fault(message));
                    }
                };
            }
            let is_first = fields.is_empty();
            if is_first && part.name == "uninterpreted_option" {
                let message = "`uninterpreted_option` is for compilers alone";
                return Err(part.at.fault(message));
            }
            let field = self.part(part, message, scope)?;
            let is_features = is_first && part.name == "features" && !part.extension;
            if is_features && !has_edition(self.edition) {
                return Err(part.at.fault("only editions have features"));
            }
            if field.extension && option.sets("features") && self.is_own(field) {
                let message = "a feature cannot be set in the file that defines it";
                return Err(part.at.fault(message));
            }
            usage::check(field, target, self.edition, part.at)?;
            fields.push(field);
        }
        Ok(fields)
    }

    /// Whether the file at hand defines a field.
    fn is_own(&self, field: &FieldInfo) -> bool {
        let symbol = self.universe.symbols.get(&field.full_name);
        symbol.is_some_and(|symbol| symbol.file + 1 == self.universe.files.len())
    }

    fn part(&self, part: &Part, message: usize, scope: &str) -> Result<&'a FieldInfo, Fault> {
        let name = shown(&part.name);
        if !part.extension {
            let known = self.universe.messages.get(message);
            let field = known.and_then(|known| known.field(&part.name));
            return field.ok_or_else(|| part.at.fault(format!("there is no option {name}")));
        }
        let found = self
            .view
            .resolve(self.universe, &part.name, scope, Mode::Option);
        let symbol = found.map_err(|lost| {
            let why = match lost {
                Lost::Undefined => {
                    format!("there is no option {name}; a file that defines it must be imported")
                }
                lost => lost.message(self.universe, &part.name),
            };
            part.at.fault(why)
        })?;
        let extension = match symbol.kind {
            Kind::Extension(index) => self.universe.extensions.get(index),
            _ => None,
        };
        match extension {
            Some(extension) if extension.parent == message => Ok(extension),
            _ => {
                let holder = self.universe.type_name(TypeRef::Message(message));
                Err(part
                    .at
                    .fault(format!("{name} does not extend {}", shown(holder))))
            }
        }
    }

    fn write(
        &self,
        option: &Assignment,
        fields: &[&'a FieldInfo],
        target: Target,
        used: &mut Used,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let Some((field, outer)) = fields.split_last() else {
            return Ok(());
        };
        let mut datum = self.value(option, field, target, used)?;
        let mut number = field.number;
        for field in outer.iter().rev() {
            let mut inside = Vec::new();
            datum.write(number, &mut inside);
            datum = Datum::message(field.kind, inside);
            number = field.number;
        }
        datum.write(number, bytes);
        Ok(())
    }

    fn value(
        &self,
        option: &Assignment,
        field: &'a FieldInfo,
        target: Target,
        used: &mut Used,
    ) -> Result<Datum, Fault> {
        let wrong = |wanted: &str| {
            let message = format!("the option {} must be {wanted}", shown(&field.full_name));
            option.value_at.fault(message)
        };
        match (field.kind, &option.value) {
            (Type::TYPE_MESSAGE | Type::TYPE_GROUP, Value::Block(text, at)) => {
                let bytes = aggregate::encode(self, field, text, *at, target, used)?;
                Ok(Datum::message(field.kind, bytes))
            }
            (Type::TYPE_MESSAGE | Type::TYPE_GROUP, _) => Err(wrong("a message in braces")),
            (Type::TYPE_STRING | Type::TYPE_BYTES, Value::Text(text)) => {
                Ok(Datum::Bytes(text.clone()))
            }
            (Type::TYPE_STRING | Type::TYPE_BYTES, _) => Err(wrong("a string")),
            (Type::TYPE_BOOL, Value::Name(name)) if name == "true" => Ok(Datum::Varint(1)),
            (Type::TYPE_BOOL, Value::Name(name)) if name == "false" => Ok(Datum::Varint(0)),
            (Type::TYPE_BOOL, _) => Err(wrong("`true` or `false`")),
            (Type::TYPE_ENUM, Value::Name(name)) => self
                .enum_value(field, name, option.value_at)
                .map(Datum::Varint),
            (Type::TYPE_ENUM, _) => Err(wrong("the name of a value")),
            (kind @ (Type::TYPE_DOUBLE | Type::TYPE_FLOAT), value) => {
                let value = match value {
                    Value::Float(value) => *value,
                    Value::Integer { negative, value } => match negative {
                        true => -(*value as f64),
                        false => *value as f64,
                    },
                    Value::Name(name) if name == "inf" => f64::INFINITY,
                    Value::Name(name) if name == "nan" => f64::NAN,
                    _ => return Err(wrong("a number")),
                };
                Datum::float(kind, value).ok_or_else(|| wrong("a number"))
            }
            (kind, Value::Integer { negative, value }) => Datum::whole(kind, *negative, *value)
                .ok_or_else(|| wrong("a number that its type has room for")),
            _ => Err(wrong("a whole number")),
        }
    }

    /// The number of an enum's value.
    pub fn enum_value(&self, field: &FieldInfo, name: &str, at: Pos) -> Result<u64, Fault> {
        let Some(target @ TypeRef::Enum(index)) = field.target else {
            return Ok(0);
        };
        let known = self.universe.enums.get(index);
        if let Some(support) = known.and_then(|known| known.support.get(name)) {
            usage::check_support(name, support, self.edition, at)?;
        }
        let number = known.and_then(|known| known.values.get(name));
        let number = number.ok_or_else(|| {
            let item = shown(self.universe.type_name(target));
            at.fault(format!("{item} has no value {}", shown(name)))
        })?;
        Ok(i64::from(*number) as u64)
    }
}
