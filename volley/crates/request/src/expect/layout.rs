//! The fields that a message may have, and their wire types; compiled once from the descriptors.

use volley_protobuf::{Kind, Message};

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
    /// Its place among those that must be there.
    pub(super) required: Option<u32>,
}

/// The fields of a message, by their numbers.
#[derive(Clone, Debug)]
struct Layout {
    fields: Vec<Field>,
    /// The numbers of all that must be there.
    required: Vec<u32>,
}

/// The layouts of a message (the first) and of all messages that it may contain.
#[derive(Clone, Debug, Default)]
pub(super) struct Layouts(Vec<Layout>);

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
    pub(super) fn new(root: &Message) -> Self {
        let mut found = vec![root.clone()];
        let mut layouts = Vec::new();
        // `found` grows during the loop: messages may contain each other, and themselves.
        while let Some(message) = found.get(layouts.len()).cloned() {
            layouts.push(layout(&message, &mut found));
        }
        Self(layouts)
    }

    pub(super) fn field(&self, layout: usize, number: u32) -> Option<Field> {
        let fields = &self.0.get(layout)?.fields;
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
        self.0.first()?.fields.first().copied()
    }

    /// The numbers of the fields that a message must have.
    pub(super) fn required(&self, layout: usize) -> &[u32] {
        self.0.get(layout).map_or(&[], |layout| &layout.required)
    }
}

fn layout(message: &Message, found: &mut Vec<Message>) -> Layout {
    let mut fields = Vec::new();
    let mut all_required = Vec::new();
    for field in message.fields().chain(message.extensions()) {
        let form = match field.kind() {
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Form::Fixed64,
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Form::Fixed32,
            Kind::String if field.is_utf8() => Form::Text,
            Kind::String | Kind::Bytes => Form::Bytes,
            Kind::Message(inner) => {
                let place = place(&inner, found);
                match (field.is_delimited(), field.is_map()) {
                    (true, _) => Form::Group(place),
                    (_, true) => Form::Entry(place),
                    _ => Form::Message(place),
                }
            }
            _ => Form::Varint,
        };
        let place = u32::try_from(all_required.len()).ok();
        let required = place.filter(|_| field.is_required());
        all_required.extend(required.map(|_| field.number()));
        fields.push(Field {
            number: field.number(),
            form,
            list: field.is_list(),
            required,
        });
    }
    fields.sort_by_key(|field| field.number);
    Layout {
        fields,
        required: all_required,
    }
}

fn place(message: &Message, found: &mut Vec<Message>) -> usize {
    found
        .iter()
        .position(|known| known == message)
        .unwrap_or_else(|| {
            found.push(message.clone());
            found.len() - 1
        })
}
