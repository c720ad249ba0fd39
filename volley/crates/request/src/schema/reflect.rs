//! A server's own description of its services: what is asked (gRPC server reflection), and what is made of the answers.
//!
//! Nothing here knows a connection, and no answer is trusted: whatever a server sends ends in a schema or in an error.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use thiserror::Error;
use volley_base::excerpt::excerpt;
use volley_http::grpc::{Code, Status};
use volley_protobuf as protobuf;
use volley_protobuf::descriptor::{DescriptorProto, FileDescriptorProto};
use volley_protobuf::full_name::join;
use volley_protobuf::reflection::{Answer, Question};
use volley_protobuf::{FilesError, Pool, compile};

/// The most files of a schema, and the most services that a server may list.
const MOST_NAMES: usize = 10_000;

/// The most bytes of all answers of a server together, and of the files in them.
pub const MOST_BYTES: usize = 16 << 20;

/// How many bytes a server has sent.
#[derive(Default)]
pub struct Weight(usize);

impl Weight {
    /// Adds so many.
    ///
    /// # Errors
    ///
    /// If that is too much.
    pub fn add(&mut self, bytes: usize) -> Result<(), ReflectError> {
        self.0 = self.0.saturating_add(bytes);
        match self.0 > MOST_BYTES {
            true => Err(ReflectError::TooMuch),
            false => Ok(()),
        }
    }
}

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
    #[error(
        "the server sent a file of empty parts, which would take far more memory than its length tells"
    )]
    Empty,
    #[error("the server was asked for the file `{0}` and sent others")]
    WrongFile(String),
    #[error(
        "the schema has more than {MOST_NAMES} files or services, or {} MiB: take it from a file, with `--protoset`",
        MOST_BYTES >> 20
    )]
    TooMuch,
    #[error(transparent)]
    Files(#[from] FilesError),
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
        Some(Answer::Services(names)) if names.len() > MOST_NAMES => {
            Err(ReflectError::TooMuch.into())
        }
        Some(Answer::Services(names)) => {
            let names: BTreeSet<String> = names.into_iter().collect();
            Ok(names.into_iter().collect())
        }
        Some(Answer::Refused { code, message }) => Err(refusal(code, &message).into()),
        Some(Answer::Files(_) | Answer::Extensions(_)) | None => {
            Err(ReflectError::WrongAnswer.into())
        }
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
pub fn pool<A: Ask>(server: &mut A, symbols: &[String]) -> Result<Pool, A::Error> {
    let mut gathered = Gathered::default();
    let question = |symbol: &String| match symbol.ends_with(".proto") {
        true => Question::File(symbol.clone()),
        false => Question::FileOf(symbol.clone()),
    };
    let mut questions: Vec<Question> = symbols.iter().map(question).collect();
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
    weight: Weight,
    /// Questions for the files that extend messages.
    extensions: Vec<Question>,
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
            (Question::FileOf(_), Answer::Refused { code, message }) => {
                if code != NOT_FOUND {
                    self.refused.get_or_insert_with(|| refusal(code, &message));
                }
                Ok(())
            }
            (Question::Extensions(of), Answer::Extensions(numbers)) => {
                if self.extensions.len() + numbers.len() > MOST_NAMES {
                    return Err(ReflectError::TooMuch);
                }
                let file = |number| Question::FileOfExtension(of.clone(), number);
                self.extensions.extend(numbers.into_iter().map(file));
                Ok(())
            }
            (Question::FileOfExtension(..), Answer::Files(files)) => self.decode(files),
            // Not every server knows extensions.
            (Question::Extensions(_) | Question::FileOfExtension(..), _) => Ok(()),
            // Servers often lack files that only describe options: without their types, most schemas are whole.
            (Question::File(name), Answer::Refused { .. }) => {
                // At first only users ask for files; later, all are imported.
                if self.seen > 0 {
                    self.add(well_known(name));
                }
                Ok(())
            }
            _ => Err(ReflectError::WrongAnswer),
        }
    }

    fn decode(&mut self, files: Vec<Vec<u8>>) -> Result<(), ReflectError> {
        for file in files {
            self.weight.add(file.len())?;
            let file = protobuf::file(&file).map_err(|error| match error {
                buffa::DecodeError::ElementMemoryLimitExceeded => ReflectError::Empty,
                _ => ReflectError::NotAFile,
            })?;
            protobuf::check_names(&file)?;
            self.add(file);
        }
        Ok(())
    }

    /// The first file of a name counts.
    fn add(&mut self, file: FileDescriptorProto) {
        if self.names.insert(file.name.clone().unwrap_or_default()) {
            self.files.push(file);
        }
    }

    /// Questions for the files that are imported and have not come, and for the extensions of messages that have room for
    /// them.
    fn missing(&mut self) -> Result<Vec<Question>, ReflectError> {
        let new = self.files.get(self.seen..).unwrap_or_default();
        let imports = new.iter().flat_map(|file| &file.dependency);
        let missing: BTreeSet<&String> =
            imports.filter(|name| !self.names.contains(*name)).collect();
        let mut extendable = Vec::new();
        for file in new {
            let package = file.package.as_deref().unwrap_or_default();
            // Google's own are extended by options.
            if package != "google.protobuf" {
                extendables(package, &file.message_type, &mut extendable);
            }
        }
        let more = self.extensions.len() + extendable.len();
        if self.names.len() + missing.len() + more > MOST_NAMES {
            return Err(ReflectError::TooMuch);
        }
        let missing = missing.into_iter().cloned().map(Question::File);
        let missing = missing.chain(extendable.into_iter().map(Question::Extensions));
        let missing = missing
            .chain(std::mem::take(&mut self.extensions))
            .collect();
        self.seen = self.files.len();
        Ok(missing)
    }

    fn into_pool(self) -> Result<Pool, ReflectError> {
        if let Some(refused) = self.refused.filter(|_| self.files.is_empty()) {
            return Err(refused);
        }
        Ok(Pool::new(self.files)?)
    }
}

/// The names of the messages that may have extensions.
fn extendables(scope: &str, messages: &[DescriptorProto], names: &mut Vec<String>) {
    for message in messages {
        let name = message.name.as_deref().unwrap_or_default();
        let name = join(scope, name);
        extendables(&name, &message.nested_type, names);
        if !message.extension_range.is_empty() {
            names.push(name);
        }
    }
}

/// A file that the server does not have: Google's own, or an empty one.
fn well_known(name: &str) -> FileDescriptorProto {
    compile::well_known(name).unwrap_or_else(|| FileDescriptorProto {
        name: Some(name.to_owned()),
        ..FileDescriptorProto::default()
    })
}

fn refusal(code: i32, message: &str) -> ReflectError {
    let code = u32::try_from(code).ok().and_then(Code::from_u32);
    ReflectError::refused(&Status::new(code.unwrap_or(Code::Unknown), message))
}
