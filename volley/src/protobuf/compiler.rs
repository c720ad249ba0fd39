//! Compiles `.proto` files.

use std::path::Path;

use protox::Compiler;
use protox::file::{File, FileResolver, GoogleFileResolver};

use super::descriptor::FileDescriptorProto;

/// Why files do not compile.
#[derive(Debug)]
pub struct CompileError {
    /// `file:line:column: message`, on one line.
    pub reason: String,
    /// A file that is imported is nowhere.
    pub is_missing_import: bool,
}

/// Compiles a file and all that it imports, which comes first. `open` gives the contents of a file by its name in imports,
/// `None` if there is none; Google's own files need not be there.
///
/// # Errors
///
/// If one of them is missing, cannot be read, or is wrong.
pub fn compile(
    root: &str,
    open: impl Fn(&str) -> Result<Option<Vec<u8>>, String> + Send + Sync + 'static,
) -> Result<Vec<FileDescriptorProto>, CompileError> {
    let mut compiler = Compiler::with_file_resolver(Resolver(open));
    compiler.include_imports(true);
    if let Err(error) = compiler.open_file(root) {
        // Its `Debug` output has the place.
        let reason = match error.file() {
            Some(_) => format!("{error:?}"),
            None => error.to_string(),
        };
        let first = reason.lines().next().unwrap_or_default();
        return Err(CompileError {
            reason: first.trim_end().to_owned(),
            is_missing_import: error.is_file_not_found(),
        });
    }
    super::files_of_set(&compiler.encode_file_descriptor_set()).map_err(|error| CompileError {
        reason: error.to_string(),
        is_missing_import: false,
    })
}

/// A file of Google's own.
#[must_use]
pub fn google(name: &str) -> Option<FileDescriptorProto> {
    let files = compile(name, |_| Ok(None)).ok()?;
    files
        .into_iter()
        .find(|file| file.name.as_deref() == Some(name))
}

struct Resolver<F>(F);

impl<F: Fn(&str) -> Result<Option<Vec<u8>>, String> + Send + Sync> FileResolver for Resolver<F> {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        path.to_str().map(str::to_owned)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let Some(bytes) = self.0(name).map_err(protox::Error::new)? else {
            return GoogleFileResolver::new().open_file(name);
        };
        let text = String::from_utf8(bytes);
        let text =
            text.map_err(|_| protox::Error::new(format!("file '{name}' is not valid utf-8")))?;
        File::from_source(name, &text)
    }
}
