//! What is set in a message in braces, and its bytes.

use std::collections::{BTreeMap, HashMap};

use super::super::error::{Fault, Pos, shown};
use super::super::universe::{FieldInfo, MessageInfo};
use super::super::wire::Datum;
use super::assign::{Interpreter, Used};

/// A message: its fields by number.
pub(super) struct Record<'a> {
    pub info: &'a MessageInfo,
    at: Pos,
    pub slots: BTreeMap<i32, Slot<'a>>,
    pub oneofs: HashMap<i32, &'a str>,
}

pub(super) struct Slot<'a> {
    field: &'a FieldInfo,
    data: Vec<Datum>,
    pub used: Used,
}

impl<'a> Record<'a> {
    pub fn new(info: &'a MessageInfo, at: Pos) -> Self {
        Self {
            info,
            at,
            slots: BTreeMap::new(),
            oneofs: HashMap::new(),
        }
    }

    pub fn push(&mut self, field: &'a FieldInfo, datum: Datum) -> &mut Slot<'a> {
        let slot = self.slots.entry(field.number).or_insert_with(|| Slot {
            field,
            data: Vec::new(),
            used: Used::default(),
        });
        slot.data.push(datum);
        slot
    }

    /// Notes what is set, so that it is not set again.
    pub fn note(&self, used: &mut Used) {
        for (number, slot) in &self.slots {
            let (inside, _) = used.enter(*number);
            inside.merge(&slot.used);
        }
    }

    /// Both parts of a map's entry are always written.
    pub fn complete_entry(&mut self, interpreter: &Interpreter<'_>) {
        let info = self.info;
        if !info.map_entry {
            return;
        }
        for field in &info.fields {
            if !self.slots.contains_key(&field.number) {
                let info = interpreter.universe.enum_of(field.target);
                let datum = match info.and_then(|info| info.first) {
                    Some(first) => Datum::Varint(i64::from(first) as u64),
                    None => Datum::zero(field.kind),
                };
                self.push(field, datum);
            }
        }
    }

    pub fn encode(&self) -> Result<Vec<u8>, Fault> {
        let mut required = self.info.required.iter();
        if let Some(missing) = required.find(|number| !self.slots.contains_key(number)) {
            let mut fields = self.info.fields.iter();
            let name = fields.find(|field| field.number == *missing);
            let name = shown(name.map_or("", |field| &field.name));
            return Err(self.at.fault(format!("{name} is required, but not set")));
        }
        let mut out = Vec::new();
        for (number, slot) in &self.slots {
            slot.write(*number, self.info, &mut out);
        }
        Ok(out)
    }
}

impl Slot<'_> {
    fn write(&self, number: i32, holder: &MessageInfo, out: &mut Vec<u8>) {
        if holder.message_set && self.field.extension {
            for datum in &self.data {
                let mut item = Vec::new();
                Datum::Varint(u64::from(number.unsigned_abs())).write(2, &mut item);
                datum.write(3, &mut item);
                Datum::Group(item).write(1, out);
            }
        } else if self.field.packed {
            let mut packed = Vec::new();
            for datum in &self.data {
                datum.write_alone(&mut packed);
            }
            Datum::Bytes(packed).write(number, out);
        } else {
            for datum in &self.data {
                let nothing = self.field.implicit && !self.field.repeated && datum.is_zero();
                if !nothing || holder.map_entry {
                    datum.write(number, out);
                }
            }
        }
    }
}
