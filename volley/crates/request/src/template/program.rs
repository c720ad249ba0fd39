//! Actions and blocks of Go's text/template that need more than fields and ghz's functions.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::Arc;

use gotmpl::parse::{BranchNode, DefineNode, Expr, ListNode, Node, Parser, PipeNode};
use gotmpl::{FuncMap, MissingKey, TemplateError, Value};
use volley_base::excerpt::excerpt;

use super::call_data::{self, FIELDS};
use super::function::Action;
use super::sprig::{self, Found};
use super::{ActionError, CallData};
use crate::schema::Method;

/// No template may give more, in bytes.
const LONGEST: usize = 4 * sprig::LONGEST;

/// How many actions a template may run in one call, about.
const STEPS: usize = 10_000_000;

/// How many actions named templates may have once they stand where they are called.
const EXPANDED: usize = 100_000;

/// A parsed template, and the call's fields that it shows.
#[derive(Clone)]
pub struct Program {
    source: String,
    parsed: Arc<gotmpl::Template>,
    fields: Arc<[(Arc<str>, Action)]>,
}

impl Program {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// If it is malformed, names an unknown field or function, or calls its own templates without end.
    pub fn new(source: &str, method: &Method, functions: bool) -> Result<Self, ActionError> {
        let (body, defines) = Parser::new(source, "{{", "}}")
            .and_then(Parser::parse)
            .map_err(|error| go(&error))?;
        let mut audit = Audit {
            method,
            functions,
            found: FuncMap::new(),
            fields: BTreeMap::new(),
            sizes: BTreeMap::new(),
        };
        let size = audit.all(&body, &defines)?;
        let iterations = (STEPS / size.max(1)).clamp(1000, 1_000_000);
        let parsed = gotmpl::Template::new("")
            .funcs(audit.found)
            .missing_key(MissingKey::ZeroValue)
            .max_range_iters(iterations as u64)
            .parse(source)
            .map_err(|error| go(&error))?;
        Ok(Self {
            source: source.to_owned(),
            parsed: Arc::new(parsed),
            fields: audit.fields.into_iter().collect(),
        })
    }

    /// Appends its text for one call.
    ///
    /// # Errors
    ///
    /// If a function fails, or the template makes too much.
    pub fn render(&self, call: &mut CallData, out: &mut String) -> Result<(), ActionError> {
        let mut data = BTreeMap::new();
        for (name, action) in self.fields.iter() {
            let value = match action.number(call) {
                Ok(integer) => Value::Int(integer),
                Err(Some(error)) => return Err(*error),
                Err(None) => {
                    let mut text = String::new();
                    action.write(call, &mut text)?;
                    match name.starts_with("Is") {
                        true => Value::Bool(text == "true"),
                        false => Value::String(text.into()),
                    }
                }
            };
            data.insert(Arc::clone(name), value);
        }
        // Functions draw from the thread's numbers: a call that is rendered again must get the same ones.
        fastrand::seed(call.random().u64(..));
        sprig::refill();
        let mut limited = Limited { out, left: LONGEST };
        self.parsed
            .execute_fmt(&mut limited, &Value::Map(Arc::new(data)))
            .map_err(|error| go(&error))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(&self.source).finish()
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.fields == other.fields
    }
}

impl Eq for Program {}

/// Text that may not grow without end.
struct Limited<'a> {
    out: &'a mut String,
    left: usize,
}

impl Write for Limited<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.out.push_str(text);
        Ok(())
    }
}

fn go(error: &TemplateError) -> ActionError {
    let reason = match error {
        TemplateError::Exec(reason) => reason.clone(),
        TemplateError::Parse {
            line, col, message, ..
        }
        | TemplateError::Lex {
            line, col, message, ..
        } if *line > 1 => {
            format!("{message} (line {line}, column {col})")
        }
        TemplateError::Parse { message, .. } | TemplateError::Lex { message, .. } => {
            message.clone()
        }
        TemplateError::RangeIterLimit => "`range` goes on for too long".to_owned(),
        TemplateError::Write => format!("it makes more than {} MiB of text", LONGEST >> 20),
        other => other.to_string(),
    };
    ActionError::Go(excerpt(&reason, 200))
}

/// What a template names, checked before it is run.
struct Audit<'a> {
    method: &'a Method,
    functions: bool,
    found: FuncMap,
    fields: BTreeMap<Arc<str>, Action>,
    /// How many actions each named template runs, with those that it calls; `None` while that is counted.
    sizes: BTreeMap<String, Option<usize>>,
}

/// What `.` and `$` are.
#[derive(Clone, Copy)]
struct Scope {
    dot_is_call: bool,
    dollar_is_call: bool,
}

impl Scope {
    const CALL: Self = Self {
        dot_is_call: true,
        dollar_is_call: true,
    };
    /// That of a named template.
    const NAMED: Self = Self {
        dot_is_call: false,
        dollar_is_call: false,
    };
}

impl Audit<'_> {
    /// Returns how many actions it has once named templates stand where they are called.
    fn all(&mut self, body: &ListNode, defines: &[DefineNode]) -> Result<usize, ActionError> {
        self.list(body, Scope::CALL)?;
        for define in defines {
            self.list(&define.body, Scope::NAMED)?;
        }
        self.size(body, defines)
    }

    fn list(&mut self, list: &ListNode, scope: Scope) -> Result<(), ActionError> {
        for node in &list.nodes {
            match node {
                Node::List(list) => self.list(list, scope)?,
                Node::Action(action) => self.pipe(&action.pipe, scope)?,
                Node::If(branch) => self.branch(branch, scope, scope)?,
                Node::Range(branch) | Node::With(branch) => {
                    let dot_is_call = false;
                    self.branch(
                        branch,
                        scope,
                        Scope {
                            dot_is_call,
                            ..scope
                        },
                    )?;
                }
                Node::Template(call) => {
                    if let Some(pipe) = &call.pipe {
                        self.pipe(pipe, scope)?;
                    }
                }
                Node::Define(define) => self.list(&define.body, Scope::NAMED)?,
                Node::Text(_) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        branch: &BranchNode,
        scope: Scope,
        inner: Scope,
    ) -> Result<(), ActionError> {
        self.pipe(&branch.pipe, scope)?;
        self.list(&branch.body, inner)?;
        match &branch.else_body {
            Some(list) => self.list(list, scope),
            None => Ok(()),
        }
    }

    fn pipe(&mut self, pipe: &PipeNode, scope: Scope) -> Result<(), ActionError> {
        for command in &pipe.commands {
            for argument in &command.args {
                self.expression(argument, scope)?;
            }
        }
        Ok(())
    }

    fn expression(&mut self, expression: &Expr, scope: Scope) -> Result<(), ActionError> {
        match expression {
            Expr::Dot(_) if scope.dot_is_call => self.every_field(),
            Expr::Field(_, names) if scope.dot_is_call => self.field(names.first()),
            Expr::Variable(_, name, fields) if name.as_str() == "$" && scope.dollar_is_call => {
                match fields.first() {
                    None => self.every_field(),
                    name => self.field(name),
                }
            }
            Expr::Identifier(_, name) => self.function(name),
            Expr::Pipe(_, pipe) => self.pipe(pipe, scope),
            Expr::Chain(_, inner, _) => self.expression(inner, scope),
            _ => Ok(()),
        }
    }

    fn function(&mut self, name: &str) -> Result<(), ActionError> {
        let function = match sprig::find(name)? {
            Found::Engine => return Ok(()),
            Found::BuiltIn(function) => function,
            Found::Added(_) if !self.functions => return Err(ActionError::FunctionsOff),
            Found::Added(function) => function,
        };
        self.found.insert(name.to_owned(), function);
        Ok(())
    }

    fn field(&mut self, name: Option<&impl AsRef<str>>) -> Result<(), ActionError> {
        let Some(name) = name.map(AsRef::as_ref) else {
            return Ok(());
        };
        let action = call_data::field(self.method, name)?;
        self.fields.insert(name.into(), action);
        Ok(())
    }

    /// The call itself is a value: it must be whole.
    fn every_field(&mut self) -> Result<(), ActionError> {
        FIELDS.iter().try_for_each(|name| self.field(Some(name)))
    }

    fn size(&mut self, list: &ListNode, defines: &[DefineNode]) -> Result<usize, ActionError> {
        let mut size = 0_usize;
        for node in &list.nodes {
            size += 1 + match node {
                Node::List(list) => self.size(list, defines)?,
                Node::If(branch) | Node::Range(branch) | Node::With(branch) => {
                    let otherwise = match &branch.else_body {
                        Some(list) => self.size(list, defines)?,
                        None => 0,
                    };
                    self.size(&branch.body, defines)? + otherwise
                }
                Node::Template(call) => self.named(&call.name, defines)?,
                _ => 0,
            };
            if size > EXPANDED && !self.sizes.is_empty() {
                return Err(ActionError::Go(
                    "its named templates make too much".to_owned(),
                ));
            }
        }
        Ok(size)
    }

    fn named(&mut self, name: &str, defines: &[DefineNode]) -> Result<usize, ActionError> {
        match self.sizes.get(name) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => {
                return Err(ActionError::Go(format!(
                    "the template `{name}` calls itself"
                )));
            }
            None => {}
        }
        self.sizes.insert(name.to_owned(), None);
        let mut size = 1;
        for define in defines.iter().filter(|define| define.name.as_str() == name) {
            size += self.size(&define.body, defines)?;
        }
        self.sizes.insert(name.to_owned(), Some(size));
        Ok(size)
    }
}
