//! `{{…}}` in data and metadata: parsed once, rendered for every call.
//!
//! Templates are those of Go's text/template, with ghz's fields and functions and some of sprig's. Most use only the call's
//! fields (`{{.RequestNumber}}`), the functions `newUUID`, `randomString` and `randomInt`, literals, pipes and brackets:
//! these have a parser of their own, and cost little. What it does not know is left to gotmpl, one action or block
//! (`{{if}}` to `{{end}}`) at a time, or as a whole if actions share variables or named templates.

mod arithmetic;
mod block;
mod call_data;
mod function;
mod parser;
mod program;
mod scan;
mod sprig;
#[cfg(test)]
mod tests;
mod token;

pub use call_data::CallData;
pub use function::Action;
use parser::parse;
use program::Program;
use scan::{Part, scan};
use serde_json::Value;
pub use sprig::groups as function_groups;
use thiserror::Error;
use volley_base::excerpt::excerpt;

use super::schema::{Method, suggest};

/// A parsed template. Fields that are the same in every call are already text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<A = Action> {
    pieces: Vec<Piece<A>>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<A = Action> {
    Text(String),
    Action(A),
}

/// What gives a text in each call.
pub trait Give: Clone {
    /// What it needs to know of a call.
    type Call<'a>;
    type Error;

    /// Whether it gives an integer in every call.
    fn is_integer(&self) -> bool {
        false
    }

    /// Its value in one call.
    ///
    /// # Errors
    ///
    /// As [`render`](Self::render). `None`: it is no integer.
    fn integer(&self, _: &mut Self::Call<'_>) -> Result<i64, Option<Self::Error>> {
        Err(None)
    }

    /// Appends its text in one call.
    ///
    /// # Errors
    ///
    /// There is none.
    fn render(&self, call: &mut Self::Call<'_>, out: &mut String) -> Result<(), Self::Error>;
}

impl<A> From<Vec<Piece<A>>> for Template<A> {
    fn from(pieces: Vec<Piece<A>>) -> Self {
        Self { pieces }
    }
}

impl Template {
    /// Parses `text`, for calls of a method.
    ///
    /// # Errors
    ///
    /// If an action is not closed, malformed or unknown; with `functions` off, also if it calls a
    /// function.
    pub fn parse(text: &str, method: &Method, functions: bool) -> Result<Self, TemplateError> {
        let parts = scan(text)?;
        if block::is_one(&parts)? {
            let program = Program::new(text, method, functions).map_err(TemplateError::Whole)?;
            return Ok(Self::from(vec![Piece::Action(Action::Program(program))]));
        }
        let mut template = Self { pieces: Vec::new() };
        let mut parts = parts.into_iter();
        while let Some(part) = parts.next() {
            let (source, range) = match part {
                Part::Text(text) => {
                    template.push_text(text);
                    continue;
                }
                Part::Action(source, range) => (source, range),
            };
            let end = block::end(source, &range, &mut parts);
            let parsed = match parse(source, method, functions) {
                Err(error) if error.is_beyond() => {
                    let text = text.get(range.start..end).unwrap_or_default();
                    let text = format!("{{{{{text}}}}}");
                    Program::new(&text, method, functions).map(Action::Program)
                }
                parsed => parsed,
            };
            match parsed {
                Ok(Action::Text(text)) => template.push_text(&text),
                Ok(action) => template.pieces.push(Piece::Action(action)),
                Err(error) => {
                    return Err(TemplateError::Parse {
                        action: excerpt(source, 60),
                        error,
                    });
                }
            }
        }
        Ok(template)
    }

    /// A text that is not parsed, even if it looks like a template.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Text(text.to_owned())],
        }
    }

    /// Those of a list's elements as one.
    #[must_use]
    pub fn list(elements: &[Self]) -> Self {
        let mut list = Self::literal("[");
        for (place, element) in elements.iter().enumerate() {
            if place > 0 {
                list.push_text(",");
            }
            list.pieces.extend(element.pieces.iter().cloned());
        }
        list.push_text("]");
        list
    }

    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

impl<A: Give> Template<A> {
    /// Its parts, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece<A>] {
        &self.pieces
    }

    /// The number that it gives for one call, if it gives nothing else.
    ///
    /// # Errors
    ///
    /// As [`render`](Self::render). `None`: it must be rendered.
    #[inline]
    pub fn integer(&self, call: &mut A::Call<'_>) -> Result<i64, Option<A::Error>> {
        match self.pieces.as_slice() {
            [Piece::Action(action)] => action.integer(call),
            _ => Err(None),
        }
    }

    /// The text, if it is the same for every call.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the text for one call to `out`.
    ///
    /// # Errors
    ///
    /// If a random number is requested from an empty range, where the range itself was random.
    pub fn render(&self, call: &mut A::Call<'_>, out: &mut String) -> Result<(), A::Error> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Action(action) => action.render(call, out)?,
            }
        }
        Ok(())
    }
}

impl Give for Action {
    type Call<'a> = CallData<'a>;
    type Error = TemplateError;

    fn is_integer(&self) -> bool {
        self.is_number()
    }

    #[inline]
    fn integer(&self, call: &mut CallData) -> Result<i64, Option<TemplateError>> {
        let number = self.number(call);
        number.map_err(|error| error.map(|error| TemplateError::Render(*error)))
    }

    fn render(&self, call: &mut CallData, out: &mut String) -> Result<(), TemplateError> {
        self.write(call, out).map_err(TemplateError::Render)
    }
}

/// A text as a JSON string whose actions are as in the text.
#[must_use]
pub fn json_string(text: &str) -> String {
    // What is no template is refused when it is parsed.
    let parts = scan(text).unwrap_or_else(|_| vec![Part::Text(text)]);
    let mut json = String::from('"');
    for part in parts {
        match part {
            Part::Text(text) => {
                let quoted = Value::from(text).to_string();
                json += quoted.get(1..quoted.len() - 1).unwrap_or_default();
            }
            Part::Action(_, range) => {
                json += &format!("{{{{{}}}}}", text.get(range).unwrap_or_default());
            }
        }
    }
    json + "\""
}

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("`{action}` is not closed with `}}}}`")]
    NotClosed { action: String },
    #[error("`{{{{{action}}}}}`: {error}")]
    Parse { action: String, error: ActionError },
    #[error(transparent)]
    Whole(ActionError),
    #[error(transparent)]
    Render(ActionError),
}

/// Why an action cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ActionError {
    #[error("{0}")]
    Syntax(String),
    #[error("brackets or pipes are nested too deeply")]
    TooDeep,
    #[error("unknown field `{name}`; the fields are {fields}")]
    UnknownField { name: String, fields: String },
    #[error("unknown function `{name}`; {}", function_hint(name))]
    UnknownFunction { name: String },
    #[error("template functions are off; drop --disable-template-functions")]
    FunctionsOff,
    #[error("`{name}` is a function of sprig that volley does not have: {instead}")]
    LeftOut { name: String, instead: &'static str },
    #[error("{0}")]
    Go(String),
    #[error("`{keyword}` stands outside of its block")]
    Control { keyword: String },
    #[error("`newUUID` takes no argument")]
    NewUuidArguments,
    #[error("`randomString` takes a length, or a minimum and a maximum")]
    RandomStringArguments,
    #[error("`randomInt` takes two numbers")]
    RandomIntArguments,
    #[error("`{name}` takes integers: numbers, or calls of `randomInt`")]
    NotAnInteger { name: String },
    #[error("`randomInt` cannot choose a number that is at least {min} and below {max}")]
    EmptyRange { min: i64, max: i64 },
    #[error("`randomString` cannot have {length} characters; the maximum is {most}")]
    TooLong { length: i64, most: i64 },
}

fn function_hint(typed: &str) -> String {
    let own = ["newUUID", "randomInt", "randomString"].map(str::to_owned);
    let groups = function_groups().into_iter().flat_map(|(_, names)| names);
    let names: Vec<String> = groups.chain(own).collect();
    match suggest::closest(typed, &names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`volley --help` lists the functions".to_owned(),
    }
}

/// Those of numbers are boxed: they are made for each call, and rarely fail.
impl From<Box<ActionError>> for ActionError {
    fn from(error: Box<Self>) -> Self {
        *error
    }
}

impl ActionError {
    /// Whether gotmpl may understand it.
    fn is_beyond(&self) -> bool {
        matches!(
            self,
            Self::Syntax(_)
                | Self::UnknownFunction { .. }
                | Self::Control { .. }
                | Self::NotAnInteger { .. }
        )
    }
}
