//! Enums.

use buffa_descriptor::generated::descriptor::SymbolVisibility;
use buffa_descriptor::generated::descriptor::enum_descriptor_proto::EnumReservedRange;

use super::super::error::Fault;
use super::super::tree::{Enum, EnumValue};
use super::Parser;

impl Parser<'_> {
    pub(super) fn enumeration(
        &mut self,
        visibility: Option<SymbolVisibility>,
    ) -> Result<Enum, Fault> {
        self.cursor.expect("enum")?;
        let name = self.cursor.name("the name of the enum")?;
        let mut item = Enum {
            at: name.at,
            ..Enum::default()
        };
        item.proto.name = Some(name.text().to_owned());
        item.proto.visibility = visibility;
        self.cursor.expect("{")?;
        while !self.cursor.take_end()? {
            match self.cursor.token.text() {
                ";" => {
                    self.cursor.advance()?;
                }
                "option" => item.options.push(self.option_statement()?),
                "reserved" => self.reserved_values(&mut item)?,
                _ => item.values.push(self.enum_value()?),
            }
        }
        Ok(item)
    }

    fn enum_value(&mut self) -> Result<EnumValue, Fault> {
        let name = self.cursor.name("the name of a value")?;
        self.cursor.expect("=")?;
        let mut value = EnumValue {
            at: name.at,
            number_at: self.cursor.at(),
            ..EnumValue::default()
        };
        value.proto.name = Some(name.text().to_owned());
        value.proto.number = Some(self.cursor.signed("a whole number")?);
        value.options = self.bracketed()?;
        self.cursor.expect(";")?;
        Ok(value)
    }

    fn reserved_values(&mut self, item: &mut Enum) -> Result<(), Fault> {
        self.cursor.advance()?;
        if let Some(names) = self.reserved_names()? {
            item.reserved_names.extend(names);
            return Ok(());
        }
        for (start, end, at) in self.ranges("a name, or the number of a value,", true)? {
            let range = EnumReservedRange {
                start: Some(start),
                end: Some(end.unwrap_or(i32::MAX)),
                ..EnumReservedRange::default()
            };
            item.reserved.push((range, at));
        }
        self.cursor.expect(";")
    }
}
