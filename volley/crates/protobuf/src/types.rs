//! Messages, enums and services.

use std::fmt;

use buffa::editions::EnumType;
use buffa_descriptor::{
    EnumDescriptor, EnumIndex, MessageDescriptor, MessageIndex, MethodDescriptor, OneofDescriptor,
    ServiceDescriptor, ServiceIndex,
};

use super::descriptor::{
    DescriptorProto, EnumDescriptorProto, MethodOptions, OneofOptions, ServiceOptions,
};
use super::field::Field;
use super::full_name::{join, last, scope};
use super::pool::Pool;
use super::well_known::WellKnown;

/// What a file declares: a number in a pool, and its descriptor there.
macro_rules! declared {
    ($(#[$doc:meta])* $name:ident($index:ident) -> $descriptor:ident: $by_index:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        pub struct $name {
            pool: Pool,
            index: $index,
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(self.full_name())
            }
        }

        impl $name {
            pub(super) fn new(pool: &Pool, index: $index) -> Self {
                let pool = pool.clone();
                Self { pool, index }
            }

            pub(super) fn descriptor(&self) -> &$descriptor {
                self.pool.descriptors().$by_index(self.index)
            }

            /// `package.Outer.Inner`.
            #[must_use]
            pub fn full_name(&self) -> &str {
                self.descriptor().full_name()
            }

            /// `Inner`.
            #[must_use]
            pub fn name(&self) -> &str {
                last(self.full_name())
            }
        }
    };
}

declared! {
    /// The type of a message.
    Message(MessageIndex) -> MessageDescriptor: message
}

impl Message {
    pub(super) fn index(&self) -> MessageIndex {
        self.index
    }

    /// All that was declared with it.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// As its file has it.
    #[must_use]
    pub fn proto(&self) -> Option<&DescriptorProto> {
        let files = self.pool.descriptors().files();
        self.pool.places().message(files, self.index)
    }

    /// The message that it is declared in.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let scope = Some(scope(self.full_name())).filter(|scope| !scope.is_empty())?;
        self.pool.message(scope)
    }

    /// Some file uses it, and none declares it.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.pool.is_missing(self.full_name())
    }

    /// Whether its schema has a message of this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.pool.message(name).is_some()
    }

    /// Its JSON is not a map of its fields: it is one of Google's own types.
    #[must_use]
    pub fn has_own_json(&self) -> bool {
        WellKnown::of(self.full_name()).is_some()
    }

    /// It is what a map consists of: a key and a value.
    #[must_use]
    pub fn is_map_entry(&self) -> bool {
        self.descriptor()
            .options()
            .is_some_and(|options| options.map_entry == Some(true))
    }

    /// Its fields, in the order of the file.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        let fields = self.descriptor().fields().iter();
        fields.map(|field| Field::new(&self.pool, self.index, field))
    }

    /// A field by its number.
    #[must_use]
    pub fn field(&self, number: u32) -> Option<Field> {
        let field = self.descriptor().field(number)?;
        Some(Field::new(&self.pool, self.index, field))
    }

    /// A field by its name in the file or in JSON.
    #[must_use]
    pub fn field_by_name(&self, name: &str) -> Option<Field> {
        let field = self.descriptor().field_by_name(name)?;
        Some(Field::new(&self.pool, self.index, field))
    }

    /// A field by its key in JSON: the name of an extension stands in brackets.
    #[must_use]
    pub fn field_by_key(&self, key: &str) -> Option<Field> {
        let Some(name) = key.strip_prefix('[').and_then(|key| key.strip_suffix(']')) else {
            return self.field_by_name(key);
        };
        let found = self.pool.extension(name);
        found.filter(|found| found.message() == *self)
    }

    /// The extensions of it, by their numbers.
    pub fn extensions(&self) -> impl Iterator<Item = Field> {
        let all = self.pool.descriptors().extensions_of(self.index);
        all.map(|one| Field::extension(&self.pool, one))
    }

    /// Its oneofs, those that only stand for `optional` too.
    pub fn oneofs(&self) -> impl Iterator<Item = Oneof> {
        let all = 0..self.descriptor().oneofs().len();
        all.map(|index| Oneof::new(self, index))
    }
}

/// Fields of which at most one is there.
#[derive(Clone, PartialEq)]
pub struct Oneof {
    message: Message,
    index: usize,
}

impl fmt::Debug for Oneof {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Oneof {
    pub(super) fn new(message: &Message, index: usize) -> Self {
        let message = message.clone();
        Self { message, index }
    }

    fn descriptor(&self) -> Option<&OneofDescriptor> {
        self.message.descriptor().oneofs().get(self.index)
    }

    /// Its own name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.descriptor().map_or("", OneofDescriptor::name)
    }

    /// The message that it belongs to.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Its options, if it has any.
    #[must_use]
    pub fn options(&self) -> Option<&OneofOptions> {
        self.descriptor()?.options()
    }

    /// It stands for `optional`.
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        self.descriptor().is_some_and(OneofDescriptor::is_synthetic)
    }

    /// Its fields.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        let all = self.message.descriptor().fields();
        let own = self.descriptor().map(OneofDescriptor::field_indices);
        let own = own.unwrap_or_default().iter();
        let own = own.filter_map(|index| all.get(usize::from(*index)));
        own.map(|field| Field::new(&self.message.pool, self.message.index, field))
    }
}

declared! {
    /// An enum.
    Enum(EnumIndex) -> EnumDescriptor: enumeration
}

impl Eq for Enum {}

impl Enum {
    /// As its file has it.
    #[must_use]
    pub fn proto(&self) -> Option<&EnumDescriptorProto> {
        let files = self.pool.descriptors().files();
        self.pool.places().enumeration(files, self.index)
    }

    /// A number that has no name is an unknown field.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.descriptor().enum_type() == EnumType::Closed
    }

    /// The name of a number.
    #[must_use]
    pub fn name_of(&self, number: i32) -> Option<&str> {
        self.descriptor().value(number).map(|value| value.name())
    }

    /// The number of a name.
    #[must_use]
    pub fn number_of(&self, name: &str) -> Option<i32> {
        self.descriptor()
            .value_by_name(name)
            .map(|value| value.number())
    }
}

declared! {
    /// A service.
    Service(ServiceIndex) -> ServiceDescriptor: service
}

impl Service {
    /// Its options, if it has any.
    #[must_use]
    pub fn options(&self) -> Option<&ServiceOptions> {
        self.descriptor().options()
    }

    /// Its methods.
    pub fn methods(&self) -> impl Iterator<Item = Method> {
        let all = self.descriptor().methods().iter();
        all.map(|method| Method::new(self, method))
    }

    /// One of them.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<Method> {
        self.methods().find(|method| method.name() == name)
    }
}

/// A method of a service.
#[derive(Clone)]
pub struct Method {
    service: Service,
    of: MethodDescriptor,
}

impl Method {
    fn new(service: &Service, of: &MethodDescriptor) -> Self {
        Self {
            service: service.clone(),
            of: of.clone(),
        }
    }

    /// Its own name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.of.name()
    }

    /// `package.Service.Method`.
    #[must_use]
    pub fn full_name(&self) -> String {
        join(self.service.full_name(), self.name())
    }

    /// Its options, if it has any.
    #[must_use]
    pub fn options(&self) -> Option<&MethodOptions> {
        self.of.options()
    }

    /// The service that it belongs to.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// The type of its requests.
    #[must_use]
    pub fn input(&self) -> Message {
        Message::new(&self.service.pool, self.of.input())
    }

    /// The type of its replies.
    #[must_use]
    pub fn output(&self) -> Message {
        Message::new(&self.service.pool, self.of.output())
    }

    /// The client may send any number of messages.
    #[must_use]
    pub fn is_client_streaming(&self) -> bool {
        self.of.is_client_streaming()
    }

    /// The server may send any number of messages.
    #[must_use]
    pub fn is_server_streaming(&self) -> bool {
        self.of.is_server_streaming()
    }
}
