//! From a rule's text to a field and an expression.

use super::expression::Expression;

/// A longer text is not a rule; the limit keeps all later recursion shallow.
const LONGEST: usize = 1024;
/// How deep brackets and minus signs may be nested.
const DEEPEST: usize = 64;

/// A leaf as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Integer(u64),
    Name(String),
    /// `sum(name)`
    SumOf(String),
}

/// A rule as typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sentence<'a> {
    pub(super) field: &'a str,
    pub(super) expression: Expression<Word>,
    /// The expression's own text.
    pub(super) text: &'a str,
}

/// Parses `field = expression`; the error is a phrase.
pub(super) fn parse(rule: &str) -> Result<Sentence<'_>, String> {
    if rule.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let (field, text) = rule.split_once('=').ok_or("it has no `=`")?;
    let (field, text) = (field.trim(), text.strip_prefix('=').unwrap_or(text).trim());
    if field.is_empty() || !field.chars().all(is_letter) {
        return Err(format!("`{field}` left of `=` is not a field name"));
    }
    let mut parser = Parser { rest: text };
    let expression = parser.expression(0)?;
    match parser.peek() {
        None => Ok(Sentence {
            field,
            expression,
            text,
        }),
        Some(_) => Err(parser.unexpected()),
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn expression(&mut self, depth: usize) -> Result<Expression<Word>, String> {
        let mut left = self.term(depth)?;
        loop {
            left = match self.peek() {
                Some('+') => Expression::Sum(Box::new(left), Box::new(self.skip().term(depth)?)),
                Some('-') => {
                    Expression::Difference(Box::new(left), Box::new(self.skip().term(depth)?))
                }
                _ => return Ok(left),
            };
        }
    }

    fn term(&mut self, depth: usize) -> Result<Expression<Word>, String> {
        let mut left = self.factor(depth)?;
        while self.peek() == Some('*') {
            left = Expression::Product(Box::new(left), Box::new(self.skip().factor(depth)?));
        }
        Ok(left)
    }

    fn factor(&mut self, depth: usize) -> Result<Expression<Word>, String> {
        if depth > DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST} levels"));
        }
        match self.peek() {
            Some('-') => Ok(Expression::Negated(Box::new(
                self.skip().factor(depth + 1)?,
            ))),
            Some('(') => {
                let inner = self.skip().expression(depth + 1)?;
                self.close()?;
                Ok(inner)
            }
            Some(c) if is_letter(c) => {
                let word = self.word();
                if word == "sum" && self.peek() == Some('(') {
                    let name = self.skip().name()?;
                    self.close()?;
                    return Ok(Expression::Leaf(Word::SumOf(name)));
                }
                leaf(word).map(Expression::Leaf)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(c) if is_letter(c) && !c.is_numeric() => Ok(self.word().to_owned()),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_letter(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn close(&mut self) -> Result<(), String> {
        if self.peek() == Some(')') {
            self.skip();
            return Ok(());
        }
        Err(self.unexpected())
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Skips the character that was peeked at.
    fn skip(&mut self) -> &mut Self {
        let mut characters = self.rest.chars();
        characters.next();
        self.rest = characters.as_str();
        self
    }

    fn unexpected(&mut self) -> String {
        match self.peek() {
            Some(c) => match self.skip().rest.trim_start() {
                "" => format!("`{c}` is not expected at the end"),
                after => format!("`{c}` is not expected before `{after}`"),
            },
            None => "it ends too early".to_owned(),
        }
    }
}

fn leaf(word: &str) -> Result<Word, String> {
    if !word.starts_with(char::is_numeric) {
        return Ok(Word::Name(word.to_owned()));
    }
    word.parse()
        .map(Word::Integer)
        .map_err(|_| format!("`{word}` is not a 64-bit integer"))
}

#[cfg(test)]
mod tests;
