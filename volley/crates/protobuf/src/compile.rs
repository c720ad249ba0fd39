//! Compiles `.proto` files to descriptors, as protoc does: proto2, proto3, editions 2023 and 2024.
//!
//! [`compile`] parses a file and all it imports (`parse`), then takes them in order, imports first. Each file's names
//! are declared (`declare`) and resolved (`link`); its options are read (`options`), plain ones before extensions, with
//! the features that follow from them in between (`settle`); and what is left to refuse is refused (`check`).

mod assemble;
mod check;
mod cursor;
mod declare;
mod error;
mod features;
mod known;
mod lexer;
mod link;
mod literal;
mod names;
mod options;
mod parse;
mod settle;
mod tree;
mod universe;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use buffa_descriptor::generated::descriptor::FileDescriptorProto;
use buffa_descriptor::generated::descriptor::file_options::OptimizeMode;

pub use self::error::CompileError;
use self::error::{Fault, Pos, shown};
pub use self::literal::unescaped;
pub use self::names::json as json_name;
use self::options::Pass;
use self::tree::{File, ImportKind};
use self::universe::{Universe, View};

/// Every file uses its options, imported or not.
const DESCRIPTOR: &str = "google/protobuf/descriptor.proto";

/// The text of a file, `None` if there is none, or why it cannot be read.
pub type Text = Result<Option<Vec<u8>>, String>;

/// The descriptors of a file and of all it imports, imports first.
///
/// `open` is asked for each file by its name. Well-known files need not be there.
///
/// # Errors
///
/// If a file is missing, cannot be read, or is one that protoc refuses too.
pub fn compile(
    root: &str,
    open: &mut dyn FnMut(&str) -> Text,
) -> Result<Vec<FileDescriptorProto>, CompileError> {
    let mut sources = Sources {
        open,
        files: Vec::new(),
        indexes: HashMap::new(),
    };
    sources.gather(root)?;
    let [order, wanted] = sources.order(root)?;
    let mut universe = Universe::default();
    let mut done: HashMap<usize, usize> = HashMap::new();
    let mut descriptors = HashMap::new();
    // The schema of options comes first; it may be there for them alone.
    let mut waiting: Vec<Option<File>> = sources.files.into_iter().map(Some).collect();
    for source in order {
        let Some(mut file) = waiting.get_mut(source).and_then(Option::take) else {
            continue;
        };
        let imports = imported(&file, &sources.indexes, &done);
        let index =
            one(&mut universe, &mut file, &imports).map_err(|fault| fault.in_file(file.name()))?;
        done.insert(source, index);
        if !wanted.contains(&source) {
            universe.hide();
        }
        descriptors.insert(source, assemble::file(file));
    }
    Ok(wanted
        .iter()
        .filter_map(|source| descriptors.remove(source))
        .collect())
}

/// A well-known file, such as `google/protobuf/any.proto`; `None`: it is none.
#[must_use]
pub fn well_known(name: &str) -> Option<FileDescriptorProto> {
    let mut files = compile(name, &mut |_| Ok(None)).ok()?;
    files.pop()
}

/// The indexes of a file's imports, in their order.
fn imported(
    file: &File,
    indexes: &HashMap<String, usize>,
    done: &HashMap<usize, usize>,
) -> Vec<(ImportKind, Pos, usize)> {
    let found = file.imports.iter().filter_map(|import| {
        let index = done.get(indexes.get(&import.name)?)?;
        Some((import.kind, import.at, *index))
    });
    found.collect()
}

/// Compiles one file whose imports are compiled.
fn one(
    universe: &mut Universe,
    file: &mut File,
    imports: &[(ImportKind, Pos, usize)],
) -> Result<usize, Fault> {
    let public = imports
        .iter()
        .filter(|(kind, ..)| *kind == ImportKind::Public);
    let index = declare::declare(universe, file, public.map(|(_, _, index)| *index).collect())?;
    let view = view(universe, index, imports);
    link::link(universe, &view, file)?;
    options::interpret(universe, &view, file, Pass::Plain)?;
    settle::settle(universe, file);
    link::number_extensions(universe, file)?;
    options::interpret(universe, &view, file, Pass::Extensions)?;
    check_lite(universe, file, index, imports)?;
    check::check(universe, file)?;
    Ok(index)
}

/// A file for the lite runtime is imported only by others.
fn check_lite(
    universe: &mut Universe,
    file: &File,
    index: usize,
    imports: &[(ImportKind, Pos, usize)],
) -> Result<(), Fault> {
    let options = file.proto.options.as_option();
    let lite = options.and_then(|own| own.optimize_for) == Some(OptimizeMode::LITE_RUNTIME);
    if let Some(info) = universe.files.get_mut(index) {
        info.lite = lite;
    }
    let is_lite = |index: &usize| universe.files.get(*index).is_some_and(|info| info.lite);
    match imports.iter().find(|(_, _, index)| !lite && is_lite(index)) {
        Some((_, at, _)) => Err(at.fault("the imported file is lite, and this one is not")),
        None => Ok(()),
    }
}

/// What a file sees: itself, its imports, and what those import publicly.
fn view(universe: &Universe, own: usize, imports: &[(ImportKind, Pos, usize)]) -> View {
    let closure = |with_options: bool| {
        let direct = imports
            .iter()
            .filter(|(kind, ..)| with_options || *kind != ImportKind::Option);
        let mut left: Vec<usize> = direct.map(|(_, _, index)| *index).collect();
        let mut seen = HashSet::from([own]);
        while let Some(index) = left.pop() {
            if seen.insert(index) {
                let public = universe.files.get(index).map(|info| info.public.as_slice());
                left.extend(public.unwrap_or_default());
            }
        }
        seen
    };
    View {
        files: closure(false),
        option_files: closure(true),
    }
}

/// The files that are parsed.
struct Sources<'a> {
    open: &'a mut dyn FnMut(&str) -> Text,
    files: Vec<File>,
    indexes: HashMap<String, usize>,
}

impl Sources<'_> {
    /// Parses a file, and all it needs.
    fn gather(&mut self, root: &str) -> Result<(), CompileError> {
        if !self.parse(root)? {
            let name = root.to_owned();
            return Err(CompileError::Missing { name });
        }
        let mut next = 0;
        while let Some(file) = self.files.get(next) {
            let imports = file
                .imports
                .iter()
                .map(|import| (import.name.clone(), import.at));
            let imports: Vec<(String, Pos)> = imports.collect();
            let importer = file.name().to_owned();
            for (name, at) in imports {
                if !self.indexes.contains_key(&name) && !self.parse(&name)? {
                    let Pos { line, column } = at;
                    return Err(CompileError::MissingImport {
                        importer,
                        name,
                        line,
                        column,
                    });
                }
            }
            next += 1;
        }
        if !self.indexes.contains_key(DESCRIPTOR) {
            let text = known::text(DESCRIPTOR).unwrap_or_default();
            self.add(DESCRIPTOR, text.as_bytes())?;
        }
        Ok(())
    }

    /// Whether there is such a file.
    fn parse(&mut self, name: &str) -> Result<bool, CompileError> {
        let given = (self.open)(name).map_err(|reason| CompileError::Unreadable {
            name: name.to_owned(),
            reason,
        })?;
        match (given, known::text(name)) {
            (Some(text), _) => self.add(name, &text)?,
            (None, Some(text)) => self.add(name, text.as_bytes())?,
            (None, None) => return Ok(false),
        }
        Ok(true)
    }

    fn add(&mut self, name: &str, text: &[u8]) -> Result<(), CompileError> {
        let file = parse::file(name, text).map_err(|fault| fault.in_file(name))?;
        self.indexes.insert(name.to_owned(), self.files.len());
        self.files.push(file);
        Ok(())
    }

    /// All files with their imports before them, and those that the root needs, in its order.
    fn order(&self, root: &str) -> Result<[Vec<usize>; 2], CompileError> {
        let visit = |starts: &[&str]| {
            let mut states = vec![State::New; self.files.len()];
            let mut order = Vec::new();
            for start in starts.iter().filter_map(|name| self.indexes.get(*name)) {
                self.visit(*start, &mut states, &mut order)?;
            }
            Ok(order)
        };
        Ok([visit(&[DESCRIPTOR, root])?, visit(&[root])?])
    }

    fn visit(
        &self,
        start: usize,
        states: &mut [State],
        order: &mut Vec<usize>,
    ) -> Result<(), CompileError> {
        let mut path = vec![(start, 0)];
        while let Some((index, next)) = path.last_mut() {
            let Some(state) = states
                .get_mut(*index)
                .filter(|state| **state != State::Done)
            else {
                path.pop();
                continue;
            };
            *state = State::Open;
            let file = self.files.get(*index);
            let Some((file, import)) = file.and_then(|file| Some((file, file.imports.get(*next)?)))
            else {
                *state = State::Done;
                order.push(*index);
                path.pop();
                continue;
            };
            *next += 1;
            let Some(imported) = self.indexes.get(&import.name) else {
                continue;
            };
            match states.get(*imported) {
                Some(State::Open) => {
                    let message = match imported == index {
                        true => "the file imports itself".to_owned(),
                        false => format!(
                            "the file is imported by {}, which it imports",
                            shown(&import.name)
                        ),
                    };
                    return Err(import.at.fault(message).in_file(file.name()));
                }
                Some(State::New) => path.push((*imported, 0)),
                _ => {}
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}
