//! A schema's files from elsewhere: checked, because the library takes some things for granted, and made one pool.

use std::collections::{BTreeSet, HashMap, HashSet};

use prost_reflect::prost_types::FileDescriptorProto;
use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};
use thiserror::Error;

use crate::request::excerpt::excerpt;

/// The most imports of all files together, those that come through `import public` included.
const MOST_IMPORTS: usize = 1_000_000;

/// Why files give no schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilesError {
    #[error("a file has the syntax `{0}`: only `proto2` and `proto3` are known")]
    Syntax(String),
    #[error("the files have more than {MOST_IMPORTS} imports")]
    TooMany,
    #[error("the files import each other in a circle, through `{0}`")]
    Circle(String),
    #[error("its files do not fit together: {0}")]
    Invalid(String),
}

/// What the files declare. An import that is not among them is left out.
///
/// # Errors
///
/// If they do not fit together.
pub fn pool(mut files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, FilesError> {
    for file in &mut files {
        // Only its comments.
        file.source_code_info = None;
        match file.syntax() {
            "proto2" | "proto3" => {}
            // The library does not know the empty one.
            "" => file.syntax = None,
            other => return Err(FilesError::Syntax(excerpt(other, 100))),
        }
    }
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_protos(flattened(files)?)
        .map_err(|error| FilesError::Invalid(excerpt(&format!("{error:?}"), 300)))?;
    check_maps(&pool)?;
    Ok(pool)
}

/// Whether the entries of maps have keys and values.
fn check_maps(pool: &DescriptorPool) -> Result<(), FilesError> {
    let mut entries = pool.all_messages().filter(MessageDescriptor::is_map_entry);
    match entries.find(|entry| !is_entry(entry)) {
        Some(entry) => Err(FilesError::Invalid(format!(
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

/// The same files, imported ones first, with plain imports alone: what comes through `import public` is named.
fn flattened(files: Vec<FileDescriptorProto>) -> Result<Vec<FileDescriptorProto>, FilesError> {
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
                left = left.checked_sub(1).ok_or(FilesError::TooMany)?;
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
fn in_order(files: &[FileDescriptorProto]) -> Result<Vec<usize>, FilesError> {
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
        Some(file) => Err(FilesError::Circle(excerpt(file.name(), 100))),
        None => Ok(order),
    }
}
