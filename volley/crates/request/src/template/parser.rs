//! From the tokens of an action to its meaning.

use super::arithmetic::{Arithmetic, Number};
use super::function::{Action, Function, Int};
use super::token::{Token, tokens};
use super::{ActionError, call_data};
use crate::schema::Method;

const KEYWORDS: [&str; 10] = [
    "if", "else", "end", "range", "with", "define", "template", "block", "break", "continue",
];
/// How deep brackets may be nested. Nobody needs more.
const DEEPEST: usize = 32;

pub(super) fn parse(source: &str, method: &Method, functions: bool) -> Result<Action, ActionError> {
    let parser = Parser { method, functions };
    let tokens = tokens(source)?;
    if let Some(Token::Name(name)) = tokens.first()
        && KEYWORDS.contains(&name.as_str())
    {
        return Err(ActionError::Control {
            keyword: name.clone(),
        });
    }
    let (value, rest) = parser.pipeline(&tokens, 0)?;
    match value {
        _ if !rest.is_empty() => Err(syntax("a bracket is closed that was not opened")),
        Value::Int(value) => Ok(Action::Text(value.to_string())),
        Value::Action(action) => Ok(action),
    }
}

struct Parser<'a> {
    method: &'a Method,
    functions: bool,
}

impl Parser<'_> {
    /// Commands with `|` between them, up to the end or a closing bracket. Each passes its value to
    /// the next, as the last argument.
    fn pipeline<'t>(
        &self,
        mut tokens: &'t [Token],
        mut depth: usize,
    ) -> Result<(Value, &'t [Token]), ActionError> {
        let mut piped: Option<Value> = None;
        loop {
            if depth > DEEPEST {
                return Err(ActionError::TooDeep);
            }
            let (mut operands, after) = self.operands(tokens, depth)?;
            operands.extend(piped.take().map(Operand::Value));
            let value = self.command(operands)?;
            match after.split_first() {
                // A command holds the one before it.
                Some((Token::Pipe, after)) => {
                    (tokens, piped, depth) = (after, Some(value), depth + 1);
                }
                _ => return Ok((value, after)),
            }
        }
    }

    fn operands<'t>(
        &self,
        mut tokens: &'t [Token],
        depth: usize,
    ) -> Result<(Vec<Operand>, &'t [Token]), ActionError> {
        let mut operands = Vec::new();
        while let Some((token, mut after)) = tokens.split_first() {
            operands.push(match token {
                Token::Pipe | Token::Close => break,
                Token::Field(name) => {
                    Operand::Value(Value::Action(call_data::field(self.method, name)?))
                }
                Token::Name(name) => Operand::Function(name.clone()),
                Token::Int(value) => Operand::Value(Value::Int(*value)),
                Token::Text(text) => Operand::Value(Value::Action(Action::Text(text.clone()))),
                Token::Open => {
                    let (value, rest) = self.pipeline(after, depth + 1)?;
                    after = match rest.split_first() {
                        Some((Token::Close, after)) => after,
                        _ => return Err(syntax("a bracket is not closed")),
                    };
                    Operand::Value(value)
                }
            });
            tokens = after;
        }
        Ok((operands, tokens))
    }

    fn command(&self, operands: Vec<Operand>) -> Result<Value, ActionError> {
        let mut operands = operands.into_iter();
        match (operands.next(), operands.len()) {
            (None, _) => Err(syntax("it is empty")),
            (Some(Operand::Function(name)), _) => {
                self.call(&name, operands.collect()).map(Value::Action)
            }
            (Some(Operand::Value(value)), 0) => Ok(value),
            (Some(_), _) => Err(syntax("only a function takes arguments")),
        }
    }

    fn call(&self, name: &str, arguments: Vec<Operand>) -> Result<Action, ActionError> {
        if !self.functions && Function::exists(name) {
            return Err(ActionError::FunctionsOff);
        }
        if self.functions
            && let Some(numbers) = arguments.iter().map(Operand::number).collect()
            && let Some(arithmetic) = Arithmetic::new(name, numbers)
        {
            return Ok(Action::Arithmetic(arithmetic));
        }
        let arguments = arguments.into_iter().map(Operand::int).collect();
        Function::new(name, arguments).map(Action::Call)
    }
}

fn syntax(reason: &str) -> ActionError {
    ActionError::Syntax(reason.to_owned())
}

/// The value of a command.
enum Value {
    Int(i64),
    Action(Action),
}

enum Operand {
    Function(String),
    Value(Value),
}

impl Operand {
    /// What is an integer in every call.
    fn number(&self) -> Option<Number> {
        match self {
            Self::Value(Value::Int(value)) => Some(Number::Constant(*value)),
            Self::Value(Value::Action(action)) if action.is_number() => {
                Some(Number::Action(Box::new(action.clone())))
            }
            _ => None,
        }
    }

    fn int(self) -> Option<Int> {
        match self {
            Self::Value(Value::Int(value)) => Some(Int::Constant(value)),
            Self::Value(Value::Action(Action::Call(function @ Function::RandomInt(..)))) => {
                Some(Int::Call(Box::new(function)))
            }
            _ => None,
        }
    }
}
