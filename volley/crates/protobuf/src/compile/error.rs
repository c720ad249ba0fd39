//! Why a file cannot be compiled, and where.

use thiserror::Error;
use volley_base::excerpt::excerpt;

/// A place in a file, from 1. A column is a byte; tabs end at multiples of 8, as protoc counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    pub const START: Self = Self { line: 1, column: 1 };

    /// Goes over one byte.
    pub fn pass(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            }
            b'\t' => self.column = (self.column.saturating_sub(1) / 8 * 8).saturating_add(9),
            _ => self.column = self.column.saturating_add(1),
        }
    }

    pub fn fault(self, message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault { at: self, message }
    }
}

impl Default for Pos {
    fn default() -> Self {
        Self::START
    }
}

/// What is wrong in one file.
#[derive(Debug)]
pub(super) struct Fault {
    pub at: Pos,
    pub message: String,
}

impl Fault {
    pub fn in_file(self, file: &str) -> CompileError {
        CompileError::Invalid {
            file: file.to_owned(),
            line: self.at.line,
            column: self.at.column,
            message: self.message,
        }
    }
}

/// A name as messages show it.
pub(super) fn shown(name: &str) -> String {
    format!("`{}`", excerpt(name, 100))
}

/// Why a file and its imports cannot be compiled.
#[derive(Debug, Error)]
pub enum CompileError {
    #[error("{}:{line}:{column}: {}", excerpt(file, 200), excerpt(message, 600))]
    Invalid {
        file: String,
        line: u32,
        column: u32,
        message: String,
    },
    #[error(
        "{}:{line}:{column}: `{}` is imported, but not found",
        excerpt(importer, 200),
        excerpt(name, 200)
    )]
    MissingImport {
        importer: String,
        name: String,
        line: u32,
        column: u32,
    },
    #[error("`{}` is not found", excerpt(name, 200))]
    Missing { name: String },
    #[error("`{}`: {}", excerpt(name, 200), excerpt(reason, 400))]
    Unreadable { name: String, reason: String },
}
