//! `{{…}}` in data and metadata: parsed once, rendered for every call.
//!
//! Supports the subset of Go's text/template that ghz's own documentation uses: the call's fields
//! (`{{.RequestNumber}}`), the functions `newUUID`, `randomString` and `randomInt`, literals,
//! pipes, brackets, comments and the trim marks `{{-` and `-}}`. Control structures and sprig
//! functions are refused when the template is parsed, before the load starts.

mod action;
mod call_data;
mod error;
mod function;
mod labels;
mod parser;
mod scan;
mod token;

pub use call_data::CallData;
pub use error::TemplateError;
pub use labels::Labels;

use super::excerpt::excerpt;
use action::Action;
use parser::parse;
use scan::{Part, scan};

/// A parsed template. Fields that are the same in every call are already text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Action(Action),
}

impl Template {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// If an action is not closed, malformed or unknown; with `functions` off, also if it calls a
    /// function.
    pub fn parse(text: &str, labels: &Labels, functions: bool) -> Result<Self, TemplateError> {
        let mut template = Self { pieces: Vec::new() };
        for part in scan(text)? {
            match part {
                Part::Text(text) => template.push_text(text),
                Part::Action(source) => match parse(source, labels, functions) {
                    Ok(Action::Text(text)) => template.push_text(&text),
                    Ok(action) => template.pieces.push(Piece::Action(action)),
                    Err(error) => {
                        return Err(TemplateError::Parse {
                            action: excerpt(source, 60),
                            error,
                        });
                    }
                },
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
    pub fn render(&self, call: &mut CallData, out: &mut String) -> Result<(), TemplateError> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Action(action) => action.render(call, out).map_err(TemplateError::Render)?,
            }
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
