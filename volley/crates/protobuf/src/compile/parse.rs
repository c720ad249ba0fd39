//! Reads the text of a file: what can be said without any other file.

mod entries;
mod field;
mod message;
mod option;
mod service;

use std::collections::HashSet;

use buffa_descriptor::generated::descriptor::{Edition, FileDescriptorProto, SymbolVisibility};

pub(super) use self::field::scalar;
pub(super) use self::message::MAX_NUMBER;
use super::cursor::Cursor;
use super::error::{Fault, Pos, shown};
use super::features::{Features, is_2024};
use super::lexer::Lexer;
use super::tree::{File, Import, ImportKind};

/// Reads a file.
pub(super) fn file(name: &str, text: &[u8]) -> Result<File, Fault> {
    let mut parser = Parser {
        cursor: Cursor::new(Lexer::new(text))?,
        edition: Edition::EDITION_PROTO2,
        depth: 0,
        imported: HashSet::new(),
    };
    let mut file = File {
        proto: FileDescriptorProto {
            name: Some(name.to_owned()),
            ..FileDescriptorProto::default()
        },
        edition: Edition::EDITION_PROTO2,
        imports: Vec::new(),
        package_at: Pos::START,
        messages: Vec::new(),
        enums: Vec::new(),
        services: Vec::new(),
        extensions: Vec::new(),
        options: Vec::new(),
        features: Features::default(),
    };
    parser.syntax(&mut file)?;
    while !parser.cursor.is_end() {
        parser.statement(&mut file)?;
    }
    Ok(file)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    edition: Edition,
    /// How many messages are open.
    depth: u32,
    /// The names of imports so far.
    imported: HashSet<String>,
}

impl Parser<'_> {
    fn syntax(&mut self, file: &mut File) -> Result<(), Fault> {
        let is_edition = self.cursor.is("edition");
        if !is_edition && !self.cursor.is("syntax") {
            return Ok(());
        }
        self.cursor.advance()?;
        self.cursor.expect("=")?;
        let at = self.cursor.at();
        let written = self.cursor.string("a string")?;
        self.edition = match (is_edition, written.as_str()) {
            (false, "proto2") => Edition::EDITION_PROTO2,
            (false, "proto3") => Edition::EDITION_PROTO3,
            (true, "2023") => Edition::EDITION_2023,
            (true, "2024") => Edition::EDITION_2024,
            (false, _) => return Err(at.fault("the syntax must be \"proto2\" or \"proto3\"")),
            (true, _) => return Err(at.fault("the edition must be \"2023\" or \"2024\"")),
        };
        file.edition = self.edition;
        file.proto.syntax = match self.edition {
            Edition::EDITION_PROTO2 => None,
            Edition::EDITION_PROTO3 => Some("proto3".to_owned()),
            _ => Some("editions".to_owned()),
        };
        file.proto.edition = is_edition.then_some(self.edition);
        self.cursor.expect(";")
    }

    fn statement(&mut self, file: &mut File) -> Result<(), Fault> {
        if self.cursor.take(";")? {
            return Ok(());
        }
        let visibility = self.visibility()?;
        match self.cursor.token.text() {
            "message" => file.messages.push(self.message(visibility)?),
            "enum" => file.enums.push(self.enumeration(visibility)?),
            "service" => file.services.push(self.service()?),
            "extend" => self.extend(&mut file.extensions, &mut file.messages)?,
            "import" => self.import(file)?,
            "package" => self.package(file)?,
            "option" => file.options.push(self.option_statement()?),
            _ => return Err(self.cursor.unexpected("a statement, such as `message`,")),
        }
        Ok(())
    }

    /// `export` or `local` before a message or an enum.
    fn visibility(&mut self) -> Result<Option<SymbolVisibility>, Fault> {
        let visibility = match self.cursor.token.text() {
            "export" => SymbolVisibility::VISIBILITY_EXPORT,
            "local" => SymbolVisibility::VISIBILITY_LOCAL,
            _ => return Ok(None),
        };
        if !is_2024(self.edition) {
            return Ok(None);
        }
        self.cursor.advance()?;
        if !self.cursor.is("message") && !self.cursor.is("enum") {
            return Err(self.cursor.unexpected("`message` or `enum`"));
        }
        Ok(Some(visibility))
    }

    fn import(&mut self, file: &mut File) -> Result<(), Fault> {
        self.cursor.advance()?;
        let word_at = self.cursor.at();
        let kind = match self.cursor.token.text() {
            "public" => ImportKind::Public,
            "weak" => ImportKind::Weak,
            "option" => ImportKind::Option,
            _ => ImportKind::Plain,
        };
        match kind {
            ImportKind::Option if !is_2024(self.edition) => {
                return Err(word_at.fault("`import option` needs edition 2024"));
            }
            ImportKind::Plain => {}
            _ => {
                self.cursor.advance()?;
            }
        }
        let at = self.cursor.at();
        if kind == ImportKind::Weak && is_2024(self.edition) {
            return Err(at.fault("edition 2024 has no `import weak`: write `import option`"));
        }
        if kind != ImportKind::Option && !file.proto.option_dependency.is_empty() {
            return Err(at.fault("`import option` must come after all other imports"));
        }
        let name = self.cursor.string("the name of a file in quotes")?;
        self.cursor.expect(";")?;
        let proto = &mut file.proto;
        if !self.imported.insert(name.clone()) {
            return Err(at.fault(format!("{} is imported twice", shown(&name))));
        }
        let index = i32::try_from(proto.dependency.len()).unwrap_or(i32::MAX);
        match kind {
            ImportKind::Plain => {}
            ImportKind::Public => proto.public_dependency.push(index),
            ImportKind::Weak => proto.weak_dependency.push(index),
            ImportKind::Option => proto.option_dependency.push(name.clone()),
        }
        if kind != ImportKind::Option {
            proto.dependency.push(name.clone());
        }
        file.imports.push(Import { name, kind, at });
        Ok(())
    }

    fn package(&mut self, file: &mut File) -> Result<(), Fault> {
        let start = self.cursor.at();
        if file.proto.package.is_some() {
            return Err(start.fault("the file has a second package"));
        }
        self.cursor.advance()?;
        file.package_at = self.cursor.at();
        let mut name = self
            .cursor
            .name("the name of the package")?
            .text()
            .to_owned();
        while self.cursor.take(".")? {
            name.push('.');
            name.push_str(self.cursor.name("a name")?.text());
        }
        file.proto.package = Some(name);
        self.cursor.expect(";")
    }
}
