//! What files declare.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, LazyLock};

use buffa::editions::FieldPresence;
use buffa_descriptor::{DescriptorPool, FieldDescriptor, MessageIndex};
use volley_base::excerpt::excerpt;

use super::adapt::{FilesError, adapt};
use super::compile;
use super::descriptor::{FileDescriptorProto, FileDescriptorSet};
use super::field::Field;
use super::places::Places;
use super::types::{Enum, Message, Service};

/// Google's own messages that have a JSON form of their own, and the empty one.
static WELL_KNOWN: LazyLock<Pool> = LazyLock::new(|| {
    let names = [
        "any",
        "duration",
        "empty",
        "field_mask",
        "struct",
        "timestamp",
        "wrappers",
    ];
    let files = names.map(|name| compile::well_known(&format!("google/protobuf/{name}.proto")));
    Pool::new(files.into_iter().flatten().collect()).unwrap_or_default()
});

/// All that some files declare.
#[derive(Clone, Default)]
pub struct Pool(Arc<Inner>);

#[derive(Default)]
struct Inner {
    descriptors: Arc<DescriptorPool>,
    places: Places,
    missing: HashSet<String>,
    renamed: HashMap<String, Option<String>>,
    /// The numbers of the fields that must be there, of messages that have such.
    required: HashMap<MessageIndex, Vec<u32>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names = self.files().map(|file| file.name.as_deref());
        f.debug_list().entries(names.flatten()).finish()
    }
}

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Pool {
    /// What files declare. Types of other files may be missing, as long as nothing uses them.
    ///
    /// # Errors
    ///
    /// If they do not fit together.
    pub fn new(files: Vec<FileDescriptorProto>) -> Result<Self, FilesError> {
        let adapted = adapt(files)?;
        let set = FileDescriptorSet {
            file: adapted.files,
            ..FileDescriptorSet::default()
        };
        let descriptors = DescriptorPool::new(set)
            .map_err(|error| FilesError::Invalid(excerpt(&error.to_string(), 300)))?;
        let places = Places::of(&descriptors);
        let mut required = HashMap::new();
        for message in descriptors.messages() {
            let fields = message.fields().iter();
            let own = fields.filter(|field| field.presence() == FieldPresence::LegacyRequired);
            let own: Vec<u32> = own.map(FieldDescriptor::number).collect();
            let index = descriptors.message_index(message.full_name());
            required.extend(index.filter(|_| !own.is_empty()).map(|index| (index, own)));
        }
        Ok(Self(Arc::new(Inner {
            descriptors: Arc::new(descriptors),
            places,
            missing: adapted.missing,
            renamed: adapted.renamed,
            required,
        })))
    }

    pub(super) fn descriptors(&self) -> &Arc<DescriptorPool> {
        &self.0.descriptors
    }

    pub(super) fn places(&self) -> &Places {
        &self.0.places
    }

    pub(super) fn has_required(&self) -> bool {
        !self.0.required.is_empty()
    }

    /// The numbers of the fields that a message must have.
    pub(super) fn required(&self, message: MessageIndex) -> &[u32] {
        self.0.required.get(&message).map_or(&[], Vec::as_slice)
    }

    /// Whether files use a type of this name that none declares.
    pub(super) fn is_missing(&self, type_name: &str) -> bool {
        self.0.missing.contains(type_name)
    }

    /// The name in JSON that a field declares, if it has another one here: two fields would have the same.
    pub(super) fn renamed(&self, field: &str) -> Option<&Option<String>> {
        self.0.renamed.get(field)
    }

    /// All files, in their order.
    pub fn files(&self) -> impl Iterator<Item = &FileDescriptorProto> {
        let files = self.0.descriptors.files();
        // The last one stands for what is missing.
        let own = files.len() - usize::from(!self.0.missing.is_empty());
        files.iter().take(own)
    }

    /// A file by its name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&FileDescriptorProto> {
        self.0.descriptors.file_by_name(name)
    }

    /// The file that declares something, which is given by its full name.
    #[must_use]
    pub fn file_of(&self, symbol: &str) -> Option<&FileDescriptorProto> {
        match self.is_missing(symbol) {
            true => None,
            false => self.0.descriptors.file_containing_symbol(symbol),
        }
    }

    /// All services.
    pub fn services(&self) -> impl Iterator<Item = Service> {
        let all = self.0.descriptors.services().iter();
        all.filter_map(|one| self.service(one.full_name()))
    }

    /// The full names of all services.
    #[must_use]
    pub fn service_names(&self) -> Vec<String> {
        let names = self.services().map(|one| one.full_name().to_owned());
        names.collect()
    }

    /// All messages, those in other messages too.
    pub fn messages(&self) -> impl Iterator<Item = Message> {
        let all = self.0.descriptors.messages().iter();
        all.filter_map(|one| self.message(one.full_name()))
    }

    /// All enums, those in messages too.
    pub fn enums(&self) -> impl Iterator<Item = Enum> {
        let all = self.0.descriptors.enums().iter();
        all.filter_map(|one| self.enumeration(one.full_name()))
    }

    /// A service by its full name.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<Service> {
        let index = self.0.descriptors.service_index(name)?;
        Some(Service::new(self, index))
    }

    /// A message by its full name.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<Message> {
        let index = self.0.descriptors.message_index(name)?;
        Some(Message::new(self, index)).filter(|_| !self.is_missing(name))
    }

    /// A message by its full name; Google's own are known to all, as those of an `Any` are not always imported.
    pub(super) fn message_or_known(&self, name: &str) -> Option<Message> {
        let own = self.message(name);
        let is_known = || name.starts_with("google.protobuf.") && !self.is_missing(name);
        own.or_else(|| WELL_KNOWN.message(name).filter(|_| is_known()))
    }

    /// An enum by its full name.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<Enum> {
        let index = self.0.descriptors.enum_index(name)?;
        Some(Enum::new(self, index)).filter(|_| !self.is_missing(name))
    }

    /// An extension by its full name.
    #[must_use]
    pub fn extension(&self, name: &str) -> Option<Field> {
        let found = self.0.descriptors.extension_by_name(name)?;
        Some(Field::extension(self, found))
    }
}
