//! Gives every name of a file its place among all, and refuses names that are taken.

use std::collections::HashMap;

use super::super::full_name::{LONGEST, join};
use super::error::{Fault, Pos, shown};
use super::tree::{Enum, Field, File, Message, Service};
use super::universe::{EnumInfo, FileInfo, Kind, MessageInfo, Symbol, TypeRef, Universe};

/// The longest name of a package.
const MAX_PACKAGE: usize = 511;

/// Adds a file; its index is that of the file among all.
pub(super) fn declare(
    universe: &mut Universe,
    file: &mut File,
    public: Vec<usize>,
) -> Result<usize, Fault> {
    let index = universe.files.len();
    universe.files.push(FileInfo {
        name: file.name().to_owned(),
        package: file.package().to_owned(),
        public,
        lite: false,
    });
    let mut names = Names {
        universe,
        file: index,
    };
    let package = file.package().to_owned();
    names.package(&package, file.package_at)?;
    for message in &mut file.messages {
        names.message(message, &package)?;
    }
    for item in &mut file.enums {
        names.enumeration(item, &package)?;
    }
    for service in &file.services {
        names.service(service, &package)?;
    }
    for extension in &file.extensions {
        names.add(&package, extension.name(), Kind::Other, extension.at)?;
    }
    Ok(index)
}

struct Names<'a> {
    universe: &'a mut Universe,
    file: usize,
}

impl Names<'_> {
    fn package(&mut self, package: &str, at: Pos) -> Result<(), Fault> {
        if package.len() > MAX_PACKAGE {
            return Err(at.fault("the name of the package is too long"));
        }
        let ends = package.match_indices('.').map(|(end, _)| end);
        for end in ends.chain((!package.is_empty()).then_some(package.len())) {
            let name = package.get(..end).unwrap_or_default();
            match self.universe.symbols.get(name) {
                Some(taken) if taken.kind != Kind::Package => {
                    let file = self.universe.file_name(taken.file);
                    let (name, file) = (shown(name), shown(file));
                    return Err(at.fault(format!("{name} is no package in {file}")));
                }
                Some(_) => {}
                None => self.insert(name.to_owned(), Kind::Package),
            }
        }
        Ok(())
    }

    fn insert(&mut self, name: String, kind: Kind) {
        let file = self.file;
        self.universe.symbols.insert(name, Symbol { kind, file });
    }

    fn add(&mut self, scope: &str, name: &str, kind: Kind, at: Pos) -> Result<String, Fault> {
        let full = join(scope, name);
        if full.len() > LONGEST {
            return Err(at.fault(format!("the full name is longer than {LONGEST} bytes")));
        }
        if let Some(taken) = self.universe.symbols.get(&full) {
            let place = match taken.file == self.file {
                true => String::new(),
                false => format!(" in {}", shown(self.universe.file_name(taken.file))),
            };
            let message = format!("{} is already defined{place}", shown(&full));
            return Err(at.fault(message));
        }
        self.insert(full.clone(), kind);
        Ok(full)
    }

    /// The parser limits how deep messages nest.
    fn message(&mut self, message: &mut Message, scope: &str) -> Result<(), Fault> {
        message.index = self.universe.messages.len();
        let kind = Kind::Type(TypeRef::Message(message.index));
        let full = self.add(scope, message.name(), kind, message.at)?;
        self.universe.messages.push(MessageInfo {
            full_name: full.clone(),
            file: self.file,
            map_entry: message.is_map_entry(),
            exported: true,
            message_set: message
                .options
                .iter()
                .any(|option| option.is_true("message_set_wire_format")),
            reserved_names: message
                .reserved_names
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            ..MessageInfo::default()
        });
        for oneof in &message.oneofs {
            let name = oneof.proto.name.as_deref().unwrap_or_default();
            self.add(&full, name, Kind::Other, oneof.at)?;
        }
        self.fields(&message.fields, &full)?;
        for nested in &mut message.messages {
            self.message(nested, &full)?;
        }
        for item in &mut message.enums {
            self.enumeration(item, &full)?;
        }
        self.fields(&message.extensions, &full)
    }

    fn fields(&mut self, fields: &[Field], scope: &str) -> Result<(), Fault> {
        for field in fields {
            self.add(scope, field.name(), Kind::Other, field.at)?;
        }
        Ok(())
    }

    fn enumeration(&mut self, item: &mut Enum, scope: &str) -> Result<(), Fault> {
        item.index = self.universe.enums.len();
        let full_name = self.add(
            scope,
            item.name(),
            Kind::Type(TypeRef::Enum(item.index)),
            item.at,
        )?;
        let values = item.values.iter();
        self.universe.enums.push(EnumInfo {
            full_name,
            file: self.file,
            values: values
                .clone()
                .map(|value| (value.name().to_owned(), value.number()))
                .collect(),
            numbers: values.map(super::tree::EnumValue::number).collect(),
            first: item.values.first().map(super::tree::EnumValue::number),
            support: HashMap::new(),
            closed: false,
            exported: true,
        });
        // The values are beside the enum, not inside of it.
        for value in &item.values {
            self.add(scope, value.name(), Kind::Other, value.at)
                .map_err(|fault| {
                    let message = format!(
                        "{}; values of enums are in the scope around the enum",
                        fault.message
                    );
                    fault.at.fault(message)
                })?;
        }
        Ok(())
    }

    fn service(&mut self, service: &Service, scope: &str) -> Result<(), Fault> {
        let name = service.proto.name.as_deref().unwrap_or_default();
        let full = self.add(scope, name, Kind::Service, service.at)?;
        for method in &service.methods {
            let name = method.proto.name.as_deref().unwrap_or_default();
            self.add(&full, name, Kind::Other, method.at)?;
        }
        Ok(())
    }
}
