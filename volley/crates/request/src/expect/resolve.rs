//! Resolves names to fields.

use volley_base::excerpt::{excerpt, list};
use volley_protobuf::{Field, Message, default_value};

use super::ExpectError;
use super::expression::Expression;
use super::number::{Number, word};
use super::parse::{Word, parse};
use crate::schema::Method;

/// The meaning of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    Constant(u64),
    Index,
    /// A field of one request: the first, or number `i`.
    Field(Field),
    /// The sum over all requests of the call.
    Sum(Field),
}

/// One rule: a reply's field, and its expected value.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) field: Field,
    pub(super) number: Number,
    /// The word of a reply that does not have the field.
    pub(super) absent: u64,
    pub(super) expression: Expression<Term>,
    /// It is not the same for every reply.
    pub(super) names_index: bool,
    pub(super) text: String,
}

impl Rule {
    pub(super) fn new(rule: &str, method: &Method) -> Result<Self, ExpectError> {
        let sentence = parse(rule).map_err(|reason| ExpectError::Syntax {
            rule: shown(rule),
            reason,
        })?;
        let field = field(&method.output, sentence.field).ok_or_else(|| {
            ExpectError::UnknownReplyField {
                rule: shown(rule),
                message: method.output.full_name().to_owned(),
                name: sentence.field.to_owned(),
                known: known(&method.output),
            }
        })?;
        let number = number(&field, rule)?;
        let names = Names {
            rule,
            input: &method.input,
            reply: &number,
        };
        let expression = sentence.expression.map(&mut |word| names.term(word))?;
        let absent = default_value(&field).as_ref().map_or(0, word);
        Ok(Self {
            field,
            number,
            absent,
            names_index: expression.any(&|term| *term == Term::Index),
            expression,
            text: sentence.text.to_owned(),
        })
    }
}

struct Names<'a> {
    rule: &'a str,
    input: &'a Message,
    reply: &'a Number,
}

impl Names<'_> {
    fn term(&self, word: Word) -> Result<Term, ExpectError> {
        match word {
            Word::Integer(value) => Ok(Term::Constant(value)),
            Word::SumOf(name) => self
                .field(&name)?
                .map(Term::Sum)
                .ok_or_else(|| self.unknown(name)),
            Word::Name(name) if name == "i" => Ok(Term::Index),
            Word::Name(name) => match self.field(&name)? {
                Some(field) => Ok(Term::Field(field)),
                None => self
                    .constant(&name)
                    .map(Term::Constant)
                    .ok_or_else(|| self.unknown(name)),
            },
        }
    }

    fn field(&self, name: &str) -> Result<Option<Field>, ExpectError> {
        let Some(field) = field(self.input, name) else {
            return Ok(None);
        };
        number(&field, self.rule).map(|_| Some(field))
    }

    fn constant(&self, name: &str) -> Option<u64> {
        if let Number::Enum(values) = self.reply
            && let Some(number) = values.number_of(name)
        {
            return Some(i64::from(number).cast_unsigned());
        }
        match name {
            "true" => Some(1),
            "false" => Some(0),
            _ => None,
        }
    }

    fn unknown(&self, name: String) -> ExpectError {
        let message = self.input.full_name().to_owned();
        ExpectError::UnknownName {
            rule: shown(self.rule),
            message,
            name,
            known: known(self.input),
        }
    }
}

fn field(message: &Message, name: &str) -> Option<Field> {
    message.field_by_name(name)
}

fn number(field: &Field, rule: &str) -> Result<Number, ExpectError> {
    Number::of(field).ok_or_else(|| ExpectError::NotANumber {
        rule: shown(rule),
        message: field.message().full_name().to_owned(),
        name: field.name().to_owned(),
        kind: match field.kind() {
            _ if field.is_map() => "a map".to_owned(),
            _ if field.is_list() => "repeated".to_owned(),
            kind => format!("of type {kind}"),
        },
    })
}

fn known(message: &Message) -> String {
    let names: Vec<_> = message.fields().collect();
    if names.is_empty() {
        return "no fields".to_owned();
    }
    list(names.iter().map(Field::name))
}

fn shown(rule: &str) -> String {
    excerpt(rule, 120)
}
