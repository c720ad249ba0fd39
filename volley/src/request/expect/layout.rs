//! The fields that a message may have, and their wire types; compiled once from the descriptors.

use prost_reflect::{Kind, MessageDescriptor};

use super::wire::Wire;

/// How one value is encoded. Numbers are indices into [`Layouts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Varint,
    Fixed32,
    Fixed64,
    Bytes,
    Text,
    Message(usize),
    Group(usize),
    /// A map entry: a message that does not count as a nesting level.
    Entry(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) form: Form,
    pub(super) list: bool,
}

/// The layouts of a message (the first) and of all messages that it may contain.
#[derive(Clone, Debug, Default)]
pub(super) struct Layouts(Vec<Vec<Field>>);

impl Form {
    pub(super) fn wire(self) -> Wire {
        match self {
            Self::Varint => Wire::Varint,
            Self::Fixed32 => Wire::Fixed32,
            Self::Fixed64 => Wire::Fixed64,
            Self::Bytes | Self::Text | Self::Message(_) | Self::Entry(_) => Wire::Delimited,
            Self::Group(_) => Wire::StartGroup,
        }
    }
}

impl Layouts {
    pub(super) fn new(root: &MessageDescriptor) -> Self {
        let mut found = vec![root.clone()];
        let mut layouts = Vec::new();
        // `found` grows during the loop: messages may contain each other, and themselves.
        while let Some(message) = found.get(layouts.len()).cloned() {
            layouts.push(fields(&message, &mut found));
        }
        Self(layouts)
    }

    pub(super) fn field(&self, layout: usize, number: u32) -> Option<Field> {
        let fields = self.0.get(layout)?;
        // Most messages number their fields from 1 without gaps.
        let guess = usize::try_from(number).ok()?.checked_sub(1)?;
        match fields.get(guess) {
            Some(field) if field.number == number => Some(*field),
            _ => {
                let place = fields
                    .binary_search_by_key(&number, |field| field.number)
                    .ok()?;
                fields.get(place).copied()
            }
        }
    }

    /// The first field of the outermost message.
    pub(super) fn first(&self) -> Option<Field> {
        self.0.first()?.first().copied()
    }
}

fn fields(message: &MessageDescriptor, found: &mut Vec<MessageDescriptor>) -> Vec<Field> {
    let own = message.fields().map(|field| {
        (
            field.number(),
            field.kind(),
            field.is_group(),
            field.is_map(),
            field.is_list(),
        )
    });
    let extensions = message
        .extensions()
        .map(|field| {
            (
                field.number(),
                field.kind(),
                field.is_group(),
                field.is_map(),
                field.is_list(),
            )
        })
        .collect::<Vec<_>>();
    let mut fields: Vec<Field> = own
        .chain(extensions)
        .map(|(number, kind, is_group, is_map, list)| {
            let form = match kind {
                Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Form::Fixed64,
                Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Form::Fixed32,
                Kind::String => Form::Text,
                Kind::Bytes => Form::Bytes,
                Kind::Message(inner) => {
                    let place = place(&inner, found);
                    match (is_group, is_map) {
                        (true, _) => Form::Group(place),
                        (_, true) => Form::Entry(place),
                        _ => Form::Message(place),
                    }
                }
                _ => Form::Varint,
            };
            Field { number, form, list }
        })
        .collect();
    fields.sort_by_key(|field| field.number);
    fields
}

fn place(message: &MessageDescriptor, found: &mut Vec<MessageDescriptor>) -> usize {
    found
        .iter()
        .position(|known| known == message)
        .unwrap_or_else(|| {
            found.push(message.clone());
            found.len() - 1
        })
}
