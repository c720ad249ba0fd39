//! Compiles files to a pool of descriptors.

use std::path::{Path, PathBuf};

use buffa::DecodeError;
use volley_base::excerpt::excerpt;
use volley_base::input;
use volley_protobuf::compile::{CompileError, compile};
use volley_protobuf::{Pool, files_of_set};

use super::SchemaError;

/// Compiles a `.proto` file and its imports.
pub(super) fn proto(file: &Path, import_paths: &[PathBuf]) -> Result<Pool, SchemaError> {
    if file
        .extension()
        .is_none_or(|extension| extension != "proto")
    {
        return Err(SchemaError::NotProto {
            file: file.to_owned(),
        });
    }
    let found = find(file, import_paths)?;
    let folders = search_path(&found, import_paths);
    let root = name_of(&found, import_paths);
    let mut open = |name: &str| match name == root {
        true => read(&found).map(Some),
        false => open(&folders, name),
    };
    let files = compile(&root, &mut open).map_err(|error| failed(file, &error))?;
    Pool::new(files).map_err(|error| SchemaError::Compile {
        file: file.to_owned(),
        reason: error.to_string(),
    })
}

/// A file in the first of the folders that has it.
fn open(folders: &[PathBuf], name: &str) -> Result<Option<Vec<u8>>, String> {
    let mut places = folders.iter().map(|folder| folder.join(name));
    let Some(path) = places.find(|path| path.exists()) else {
        return Ok(None);
    };
    read(&path).map(Some)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    input::read(path, input::SCHEMA).map_err(|error| error.to_string())
}

/// Its name in imports: from a folder of the user's on, if it is in one.
fn name_of(file: &Path, import_paths: &[PathBuf]) -> String {
    let mut inside = import_paths
        .iter()
        .filter_map(|folder| file.strip_prefix(folder).ok());
    let own = || file.file_name().map(Path::new);
    let name = inside.next().or_else(own).unwrap_or(file);
    name.to_string_lossy().into_owned()
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
pub(super) fn protoset(file: &Path) -> Result<Pool, SchemaError> {
    let bytes = input::read(file, input::SCHEMA).map_err(|error| SchemaError::Read {
        file: file.to_owned(),
        error,
    })?;
    let unfit = |reason: &str| SchemaError::UnfitProtoset {
        file: file.to_owned(),
        reason: reason.to_owned(),
    };
    let files = files_of_set(&bytes).map_err(|error| match error {
        _ if file.extension().is_some_and(|end| end == "proto") => SchemaError::NotCompiled {
            file: file.to_owned(),
        },
        DecodeError::ElementMemoryLimitExceeded | DecodeError::UnknownFieldLimitExceeded => {
            unfit("it has too many parts that are empty or unknown")
        }
        error => SchemaError::Protoset {
            file: file.to_owned(),
            reason: excerpt(&error.to_string(), 200),
        },
    })?;
    Pool::new(files).map_err(|error| unfit(&error.to_string()))
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

fn failed(file: &Path, error: &CompileError) -> SchemaError {
    let (file, reason) = (file.to_owned(), error.to_string());
    match error {
        CompileError::MissingImport { .. } => SchemaError::MissingImport { file, reason },
        _ => SchemaError::Compile { file, reason },
    }
}
