//! Compiles files to a pool of descriptors.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prost::Message as _;
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use protox::Compiler;
use protox::file::{
    ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};

use super::{SchemaError, files};
use crate::input;
use crate::request::excerpt::excerpt;

/// Compiles a `.proto` file and its imports.
pub(super) fn proto(file: &Path, import_paths: &[PathBuf]) -> Result<DescriptorPool, SchemaError> {
    if file
        .extension()
        .is_none_or(|extension| extension != "proto")
    {
        return Err(SchemaError::NotProto {
            file: file.to_owned(),
        });
    }
    let found = find(file, import_paths)?;
    let mut resolver = ChainFileResolver::new();
    for folder in search_path(&found, import_paths) {
        resolver.add(Folder(folder));
    }
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler
        .open_file(&found)
        .map_err(|error| failed(file, &error))?;
    Ok(compiler.descriptor_pool())
}

/// A folder with files that can be read whole.
struct Folder(PathBuf);

impl FileResolver for Folder {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        IncludeFileResolver::new(self.0.clone()).resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let path = self.0.join(name);
        if path.exists() {
            input::check(&path, input::SCHEMA)
                .map_err(|error| protox::Error::new(format!("`{}`: {error}", path.display())))?;
        }
        IncludeFileResolver::new(self.0.clone()).open_file(name)
    }
}

/// The file as given, or else in one of the import paths.
fn find(file: &Path, import_paths: &[PathBuf]) -> Result<PathBuf, SchemaError> {
    let elsewhere = import_paths.iter().map(|folder| folder.join(file));
    let mut places = std::iter::once(file.to_owned()).chain(elsewhere);
    places
        .find(|place| place.exists())
        .ok_or_else(|| SchemaError::NotFound {
            file: file.to_owned(),
            import_paths: import_paths
                .iter()
                .map(|folder| format!(", nor in `{}`", folder.display()))
                .collect(),
        })
}

/// Reads a serialized `FileDescriptorSet`.
pub(super) fn protoset(file: &Path) -> Result<DescriptorPool, SchemaError> {
    let bytes = input::read(file, input::SCHEMA).map_err(|error| SchemaError::Read {
        file: file.to_owned(),
        error,
    })?;
    let broken = |reason| SchemaError::Protoset {
        file: file.to_owned(),
        reason,
    };
    let set = FileDescriptorSet::decode(bytes.as_slice());
    let FileDescriptorSet { file: files } =
        set.map_err(|error| broken(excerpt(&error.to_string(), 200)))?;
    let names: HashSet<&str> = files.iter().map(FileDescriptorProto::name).collect();
    let mut imports = files.iter().flat_map(|file| &file.dependency);
    if let Some(missing) = imports.find(|name| !names.contains(name.as_str())) {
        return Err(broken(format!("`{}` is missing", excerpt(missing, 100))));
    }
    files::pool(files).map_err(|error| broken(error.to_string()))
}

/// The folders searched for imports, in ghz's order: the file's own folder, the working directory,
/// then those of the user.
fn search_path(file: &Path, import_paths: &[PathBuf]) -> Vec<PathBuf> {
    let own_folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folders = own_folder
        .into_iter()
        .chain([Path::new(".")])
        .map(Path::to_owned);
    folders.chain(import_paths.iter().cloned()).collect()
}

/// The compiler's `Debug` output is one line: `file:line:column: message`. A [`Folder`]'s own errors have no such place.
fn failed(file: &Path, error: &protox::Error) -> SchemaError {
    let reason = match error.file() {
        Some(_) => format!("{error:?}"),
        None => error.to_string(),
    };
    let (file, reason) = (file.to_owned(), first_line(&reason));
    if error.is_file_not_found() {
        SchemaError::MissingImport { file, reason }
    } else {
        SchemaError::Compile { file, reason }
    }
}

fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}
