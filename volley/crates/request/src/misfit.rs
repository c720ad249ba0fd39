//! Where JSON does not fit its message, and what was meant.

use serde::de::DeserializeSeed as _;
use serde_path_to_error::{Deserializer, Segment, Track};
use volley_base::excerpt::excerpt;
use volley_protobuf::{Field, Kind};

use super::messages::Reading;
use super::schema::suggest::{hint_of, keys};

/// Nobody reads a place that is deeper.
const DEEPEST: usize = 20;

/// What can be said of a mistake, beside its reason.
pub(super) struct Misfit {
    /// The names that lead to it, and its type: "`inners[0].value` (int32): ". Empty: the message itself.
    pub field: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

/// What a name leads to.
enum Thing {
    /// One value: a message, too.
    Value(Kind),
    /// A list or a map.
    All(Field),
    Unknown,
}

impl Misfit {
    /// Reads JSON again that does not fit, for this reason.
    pub(super) fn find(json: &str, reading: Reading, reason: &str) -> Self {
        let mut track = Track::new();
        let mut json = serde_json::Deserializer::from_str(json);
        // Its error is known.
        let _ = reading.deserialize(Deserializer::new(&mut json, &mut track));
        let path = track.path();
        let mut thing = Thing::Value(Kind::Message(reading.input().clone()));
        let mut names = String::new();
        for segment in path.iter().take(DEEPEST) {
            thing = thing.enter(segment, &mut names);
        }
        let is_cut = path.iter().count() > DEEPEST;
        let field = match names.as_str() {
            "" => String::new(),
            names if is_cut => format!("`{names}…`: "),
            names => format!("`{names}`{}: ", thing.type_name()),
        };
        let hint = thing.hint(reason).filter(|_| !is_cut);
        Self { field, hint }
    }
}

impl Thing {
    fn of(field: Field) -> Self {
        match field.is_list() || field.is_map() {
            true => Self::All(field),
            false => Self::Value(field.kind()),
        }
    }

    /// What is within it, whose name is added.
    fn enter(self, segment: &Segment, names: &mut String) -> Self {
        match (self, segment) {
            (thing, Segment::Seq { index }) => {
                *names += &format!("[{index}]");
                match thing {
                    Self::All(list) => Self::Value(list.kind()),
                    // Of several messages.
                    thing => thing,
                }
            }
            (Self::All(map), Segment::Map { key }) => {
                *names += &format!("[\"{}\"]", excerpt(key, 40));
                let kinds = map.map_kinds();
                kinds.map_or(Self::Unknown, |(_, value)| Self::Value(value))
            }
            (thing, Segment::Map { key }) => {
                *names += if names.is_empty() { "" } else { "." };
                *names += &excerpt(key, 60);
                match thing {
                    Self::Value(Kind::Message(message)) => {
                        message.field_by_key(key).map_or(Self::Unknown, Self::of)
                    }
                    _ => Self::Unknown,
                }
            }
            _ => Self::Unknown,
        }
    }

    /// Reasons name the types of messages themselves.
    fn type_name(&self) -> String {
        let name = match self {
            Self::Value(Kind::Message(_)) | Self::Unknown => return String::new(),
            Self::Value(kind) => kind.to_string(),
            Self::All(field) => match field.map_kinds() {
                Some((key, value)) => format!("map<{key}, {value}>"),
                None => format!("repeated {}", field.kind()),
            },
        };
        format!(" ({})", excerpt(&name, 100))
    }

    /// The name that is nearest to one that there is not, or all that there are.
    fn hint(&self, reason: &str) -> Option<String> {
        let (_, typed) = reason.split_once('\'')?;
        let (typed, _) = typed.rsplit_once('\'')?;
        let (what, names) = match self {
            Self::Value(Kind::Message(message))
                if reason.starts_with("unrecognized field name") && !message.has_own_json() =>
            {
                ("fields", keys(message, typed))
            }
            Self::Value(Kind::Enum(values)) if reason.starts_with("unrecognized enum value") => {
                let all = values.proto()?.value.iter();
                (
                    "values",
                    all.filter_map(|value| value.name.clone()).collect(),
                )
            }
            _ => return None,
        };
        let (none, all) = (format!("it has no {what}"), format!("its {what} are"));
        Some(hint_of(typed, &names, &none, &all))
    }
}
