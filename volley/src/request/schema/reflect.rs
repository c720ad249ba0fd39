//! A server's own description of its services: what is asked (gRPC server reflection), and what is made of the answers.
//!
//! Nothing here knows a connection, and no answer is trusted: whatever a server sends ends in a schema or in an error.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;
use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};
use thiserror::Error;

use crate::grpc::reflection::{Answer, Files, Question, Refused};
use crate::grpc::{Code, Status};
use crate::request::excerpt::excerpt;

/// The most files of a schema, and the most services that a server may list.
const MOST_NAMES: usize = 10_000;

/// The most bytes of all files together.
pub const MOST_BYTES: usize = 64 << 20;

/// The most imports of all files together, those that come through `import public` included.
const MOST_IMPORTS: usize = 1_000_000;

/// The server does not know the symbol.
const NOT_FOUND: i32 = Code::NotFound as i32;

/// Why a server's answers give no schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReflectError {
    #[error("the server does not offer it")]
    NotOffered,
    #[error("the server refused ({0}; see `--reflect-metadata`)")]
    Refused(Status),
    #[error("the server had not answered everything within {} s (`--connect-timeout`)", .0.as_secs_f64())]
    TooLate(Duration),
    #[error("{0}")]
    Lost(String),
    #[error("the server answers with something else than was asked for")]
    WrongAnswer,
    #[error("the server ended the stream before it had answered")]
    Ended,
    #[error("the server sent a file that is no protobuf descriptor")]
    NotAFile,
    #[error("a file has the syntax `{0}`: only `proto2` and `proto3` are known")]
    Syntax(String),
    #[error("the server was asked for the file `{0}` and sent others")]
    WrongFile(String),
    #[error(
        "the schema has more than {MOST_NAMES} files or services, {MOST_BYTES} bytes or {MOST_IMPORTS} imports"
    )]
    TooMuch,
    #[error("the files import each other in a circle, through `{0}`")]
    Circle(String),
    #[error("its files do not fit together: {0}")]
    Invalid(String),
}

impl ReflectError {
    /// The server's own words, on one line.
    pub fn refused(status: &Status) -> Self {
        Self::Refused(Status::new(status.code, excerpt(&status.message, 300)))
    }
}

/// Asks a server some questions; it answers one for one.
pub trait Ask {
    /// Why there may be no answer.
    type Error: From<ReflectError>;

    /// # Errors
    ///
    /// If the server does not answer all of them.
    fn ask(&mut self, questions: &[Question]) -> Result<Vec<Answer>, Self::Error>;
}

/// The names of all services, in order.
///
/// # Errors
///
/// If the server does not say them.
pub fn services<A: Ask>(server: &mut A) -> Result<Vec<String>, A::Error> {
    let answers = server.ask(&[Question::Services("*".to_owned())])?;
    match answers.into_iter().next() {
        Some(Answer::Services(list)) if list.services.len() > MOST_NAMES => {
            Err(ReflectError::TooMuch.into())
        }
        Some(Answer::Services(list)) => {
            let names: BTreeSet<String> = list.services.into_iter().map(|one| one.name).collect();
            Ok(names.into_iter().collect())
        }
        Some(Answer::Refused(why)) => Err(refusal(&why).into()),
        Some(Answer::Files(_)) | None => Err(ReflectError::WrongAnswer.into()),
    }
}

/// The files that declare these symbols, with all that they import. A symbol whose file the server does not give is left
/// out, unless it gives none at all.
///
/// Each round asks for all files that the last one has made necessary.
///
/// # Errors
///
/// If an answer is missing or wrong, or the files do not fit together.
pub fn pool<A: Ask>(server: &mut A, symbols: &[String]) -> Result<DescriptorPool, A::Error> {
    let mut gathered = Gathered::default();
    let mut questions: Vec<Question> = symbols.iter().cloned().map(Question::FileOf).collect();
    while !questions.is_empty() {
        let answers = server.ask(&questions)?;
        for (question, answer) in questions.iter().zip(answers) {
            gathered.take(question, answer)?;
        }
        questions = gathered.missing()?;
    }
    Ok(gathered.into_pool()?)
}

/// The files that a server has sent.
#[derive(Default)]
struct Gathered {
    files: Vec<FileDescriptorProto>,
    names: HashSet<String>,
    bytes: usize,
    /// How many of `files` were looked through for imports.
    seen: usize,
    /// Why there is no file of a symbol, other than that the server does not know it.
    refused: Option<ReflectError>,
}

impl Gathered {
    fn take(&mut self, question: &Question, answer: Answer) -> Result<(), ReflectError> {
        match (question, answer) {
            (Question::FileOf(_), Answer::Files(files)) => self.decode(files),
            (Question::File(name), Answer::Files(files)) => {
                self.decode(files)?;
                match self.names.contains(name) {
                    true => Ok(()),
                    false => Err(ReflectError::WrongFile(excerpt(name, 100))),
                }
            }
            (Question::FileOf(_), Answer::Refused(why)) => {
                if why.code != NOT_FOUND {
                    self.refused.get_or_insert_with(|| refusal(&why));
                }
                Ok(())
            }
            // Servers often lack files that only describe options: without their types, most schemas are whole.
            (Question::File(name), Answer::Refused(_)) => {
                self.add(well_known(name));
                Ok(())
            }
            _ => Err(ReflectError::WrongAnswer),
        }
    }

    fn decode(&mut self, answer: Files) -> Result<(), ReflectError> {
        for file in answer.files {
            self.bytes = self.bytes.saturating_add(file.len());
            if self.bytes > MOST_BYTES {
                return Err(ReflectError::TooMuch);
            }
            let file = FileDescriptorProto::decode(file.as_slice());
            let mut file = file.map_err(|_| ReflectError::NotAFile)?;
            // Only its comments; the library also trusts that it knows the syntax.
            file.source_code_info = None;
            match file.syntax() {
                "proto2" | "proto3" => {}
                // The library does not know the empty one.
                "" => file.syntax = None,
                other => return Err(ReflectError::Syntax(excerpt(other, 100))),
            }
            self.add(file);
        }
        Ok(())
    }

    /// The first file of a name counts.
    fn add(&mut self, file: FileDescriptorProto) {
        if self.names.insert(file.name().to_owned()) {
            self.files.push(file);
        }
    }

    /// Questions for the files that are imported and have not come.
    fn missing(&mut self) -> Result<Vec<Question>, ReflectError> {
        let new = self.files.get(self.seen..).unwrap_or_default();
        let imports = new.iter().flat_map(|file| &file.dependency);
        let missing: BTreeSet<&String> =
            imports.filter(|name| !self.names.contains(*name)).collect();
        if self.names.len() + missing.len() > MOST_NAMES {
            return Err(ReflectError::TooMuch);
        }
        let missing = missing.into_iter().cloned().map(Question::File).collect();
        self.seen = self.files.len();
        Ok(missing)
    }

    fn into_pool(self) -> Result<DescriptorPool, ReflectError> {
        if let Some(refused) = self.refused.filter(|_| self.files.is_empty()) {
            return Err(refused);
        }
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(flattened(self.files)?)
            .map_err(|error| ReflectError::Invalid(excerpt(&format!("{error:?}"), 300)))?;
        check_maps(&pool)?;
        Ok(pool)
    }
}

/// The library trusts that the entries of maps have keys and values.
fn check_maps(pool: &DescriptorPool) -> Result<(), ReflectError> {
    let mut entries = pool.all_messages().filter(MessageDescriptor::is_map_entry);
    match entries.find(|entry| !is_entry(entry)) {
        Some(entry) => Err(ReflectError::Invalid(format!(
            "`{}` is no entry of a map",
            excerpt(entry.full_name(), 100)
        ))),
        None => Ok(()),
    }
}

fn is_entry(entry: &MessageDescriptor) -> bool {
    let (Some(key), Some(value)) = (entry.get_field(1), entry.get_field(2)) else {
        return false;
    };
    let is_key = !matches!(
        key.kind(),
        Kind::Double | Kind::Float | Kind::Bytes | Kind::Message(_) | Kind::Enum(_)
    );
    is_key && !key.is_list() && !value.is_list() && !value.is_map()
}

/// A file that the server does not have: Google's own, or an empty one.
fn well_known(name: &str) -> FileDescriptorProto {
    match DescriptorPool::global().get_file_by_name(name) {
        Some(file) => file.file_descriptor_proto().clone(),
        None => FileDescriptorProto {
            name: Some(name.to_owned()),
            ..FileDescriptorProto::default()
        },
    }
}

/// The same files, imported ones first, with plain imports alone: what comes through `import public` is named.
fn flattened(files: Vec<FileDescriptorProto>) -> Result<Vec<FileDescriptorProto>, ReflectError> {
    let order = in_order(&files)?;
    // By file: its own name, and those that it passes on.
    let mut exports: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut slots: Vec<Option<FileDescriptorProto>> = files.into_iter().map(Some).collect();
    let mut sorted = Vec::new();
    let mut left = MOST_IMPORTS;
    for at in order {
        let Some(mut file) = slots.get_mut(at).and_then(Option::take) else {
            continue;
        };
        let mut imports = BTreeSet::new();
        let mut passed_on = BTreeSet::from([file.name().to_owned()]);
        let public: HashSet<usize> = file
            .public_dependency
            .iter()
            .filter_map(|index| usize::try_from(*index).ok())
            .collect();
        for (index, name) in file.dependency.iter().enumerate() {
            let through = exports.get(name).into_iter().flatten();
            for name in through {
                left = left.checked_sub(1).ok_or(ReflectError::TooMuch)?;
                imports.insert(name.clone());
                if public.contains(&index) {
                    passed_on.insert(name.clone());
                }
            }
        }
        exports.insert(file.name().to_owned(), passed_on);
        file.dependency = imports.into_iter().collect();
        file.public_dependency.clear();
        file.weak_dependency.clear();
        sorted.push(file);
    }
    Ok(sorted)
}

/// The files' indices, imported files first.
fn in_order(files: &[FileDescriptorProto]) -> Result<Vec<usize>, ReflectError> {
    let places: HashMap<&str, usize> = files
        .iter()
        .enumerate()
        .map(|(at, file)| (file.name(), at))
        .collect();
    let mut importers: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
    let mut open: Vec<usize> = vec![0; files.len()];
    for (at, file) in files.iter().enumerate() {
        for name in &file.dependency {
            if let Some(of) = places
                .get(name.as_str())
                .and_then(|place| importers.get_mut(*place))
                && let Some(open) = open.get_mut(at)
            {
                of.push(at);
                *open += 1;
            }
        }
    }
    let mut order: Vec<usize> = (0..files.len())
        .filter(|at| open.get(*at) == Some(&0))
        .collect();
    let mut done = 0;
    while let Some(at) = order.get(done).copied() {
        done += 1;
        for importer in importers.get(at).into_iter().flatten() {
            if let Some(open) = open.get_mut(*importer) {
                *open -= 1;
                if *open == 0 {
                    order.push(*importer);
                }
            }
        }
    }
    match open
        .iter()
        .position(|open| *open > 0)
        .and_then(|at| files.get(at))
    {
        Some(file) => Err(ReflectError::Circle(excerpt(file.name(), 100))),
        None => Ok(order),
    }
}

fn refusal(why: &Refused) -> ReflectError {
    let code = u32::try_from(why.code).ok().and_then(Code::from_u32);
    let code = code.unwrap_or(Code::Unknown);
    ReflectError::refused(&Status::new(code, why.message.as_str()))
}
