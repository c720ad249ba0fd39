//! Options: of statements, and in brackets.

use super::super::error::Fault;
use super::super::lexer::Kind;
use super::super::literal;
use super::super::tree::{Assignment, Part, Value};
use super::Parser;

impl Parser<'_> {
    /// `option name = value;`
    pub(super) fn option_statement(&mut self) -> Result<Assignment, Fault> {
        self.cursor.expect("option")?;
        let assignment = self.assignment()?;
        self.cursor.expect(";")?;
        Ok(assignment)
    }

    /// `[name = value, …]`, if there is a bracket.
    pub(super) fn bracketed(&mut self) -> Result<Vec<Assignment>, Fault> {
        let mut options = Vec::new();
        if self.cursor.take("[")? {
            loop {
                options.push(self.assignment()?);
                if !self.cursor.take(",")? {
                    break;
                }
            }
            self.cursor.expect("]")?;
        }
        Ok(options)
    }

    pub(super) fn assignment(&mut self) -> Result<Assignment, Fault> {
        let at = self.cursor.at();
        let mut path = vec![self.part()?];
        while self.cursor.take(".")? {
            path.push(self.part()?);
        }
        self.cursor.expect("=")?;
        let value_at = self.cursor.at();
        let value = self.value()?;
        Ok(Assignment {
            path,
            value,
            at,
            value_at,
        })
    }

    fn part(&mut self) -> Result<Part, Fault> {
        let at = self.cursor.at();
        if !self.cursor.take("(")? {
            let name = self.cursor.name("the name of an option")?.text().to_owned();
            return Ok(Part {
                name,
                extension: false,
                at,
            });
        }
        let name = self.path("the name of an option")?;
        self.cursor.expect(")")?;
        Ok(Part {
            name,
            extension: true,
            at,
        })
    }

    /// Names with points between them, perhaps one before the first.
    pub(super) fn path(&mut self, wanted: &str) -> Result<String, Fault> {
        let mut name = String::new();
        if self.cursor.take(".")? {
            name.push('.');
        }
        name.push_str(self.cursor.name(wanted)?.text());
        while self.cursor.take(".")? {
            name.push('.');
            name.push_str(self.cursor.name(wanted)?.text());
        }
        Ok(name)
    }

    fn value(&mut self) -> Result<Value, Fault> {
        if self.cursor.is("{") {
            let (text, at) = self.cursor.block()?;
            return Ok(Value::Block(text.to_vec(), at));
        }
        let negative = self.cursor.take("-")?;
        let token = self.cursor.token;
        match token.kind {
            Kind::Integer => {
                let max = if negative { 1 << 63 } else { u64::MAX };
                // A decimal number that is longer than 64 bits is one with a point.
                let long = literal::integer(token.text()).is_none_or(|value| value > max);
                if long && !token.text().starts_with('0') {
                    return Ok(Value::Float(self.float(negative)?));
                }
                let value = self.cursor.integer(max, "a number")?;
                Ok(Value::Integer { negative, value })
            }
            Kind::Float => Ok(Value::Float(self.float(negative)?)),
            Kind::Name if negative => {
                let value = match token.text() {
                    "inf" => f64::NEG_INFINITY,
                    "nan" => f64::NAN,
                    _ => return Err(token.at.fault("only a number, inf or nan can follow `-`")),
                };
                self.cursor.advance()?;
                Ok(Value::Float(value))
            }
            Kind::Name => {
                self.cursor.advance()?;
                Ok(Value::Name(token.text().to_owned()))
            }
            Kind::Text if !negative => Ok(Value::Text(self.cursor.bytes("a string")?)),
            _ => Err(self.cursor.unexpected("a value")),
        }
    }

    fn float(&mut self, negative: bool) -> Result<f64, Fault> {
        let value: f64 = self.cursor.advance()?.text().parse().unwrap_or_default();
        Ok(if negative { -value } else { value })
    }
}
