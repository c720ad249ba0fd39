//! Options, as .proto files write them. They are read by what their types declare: custom ones are extensions.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use buffa::MessageName;
use buffa_descriptor::MapKey;
use volley_protobuf::{DynamicMessage, Field, Kind, Message, Pool, Value, compile, key_text};

use super::quoted;

/// Where the types of options are declared.
const FILE: &str = "google/protobuf/descriptor.proto";

/// Options of any declaration.
pub(super) trait Options: buffa::Message + MessageName {}

impl<O: buffa::Message + MessageName> Options for O {}

/// Options behind a field, a value or a range, with the space before them.
#[derive(Default)]
pub(super) struct Bracketed {
    pub(super) text: String,
    /// A comment on those that are not shown.
    pub(super) note: String,
}

/// All options, behind these.
pub(super) fn bracketed(
    pool: &Pool,
    options: Option<&impl Options>,
    mut shown: Vec<String>,
) -> Bracketed {
    let (more, note) = all(pool, options);
    shown.extend(more);
    let text = match shown.as_slice() {
        [] => String::new(),
        shown => format!(" [{}]", shown.join(", ")),
    };
    Bracketed { text, note }
}

/// `name = value` for each that is set, and a comment if there are others, of which the schema has no file.
pub(super) fn all(pool: &Pool, options: Option<&impl Options>) -> (Vec<String>, String) {
    let Some(options) = options else {
        return (Vec::new(), String::new());
    };
    match read(pool, options) {
        Some((shown, unknown)) if unknown.is_empty() => (shown, String::new()),
        Some((shown, unknown)) => {
            let unknown: Vec<String> = unknown.into_iter().collect();
            (shown, format!("// unknown options: {}", unknown.join(", ")))
        }
        None => (Vec::new(), "// options that cannot be read".to_owned()),
    }
}

/// Those that the schema knows, and the numbers of others.
fn read<O: Options>(pool: &Pool, options: &O) -> Option<(Vec<String>, BTreeSet<String>)> {
    let of = match pool.message(O::FULL_NAME) {
        Some(of) => of,
        None => own().message(O::FULL_NAME)?,
    };
    let options = of.decode(&options.encode_to_vec()).ok()?;
    let numbers = |of: &DynamicMessage, before: &str| {
        let all = of.unknown_fields().iter();
        let all = all.map(|field| format!("{before}{}", field.number));
        all.collect::<Vec<_>>()
    };
    let mut unknown = BTreeSet::from_iter(numbers(&options, ""));
    let mut shown = Vec::new();
    for (name, field, value) in fields(&of, &options) {
        match (field.kind(), &value) {
            _ if ["map_entry", "uninterpreted_option"].contains(&&*name) => {}
            (Kind::Message(of), Value::Message(features)) if name == "features" => {
                unknown.extend(numbers(features, "features."));
                for (inner, field, value) in fields(&of, features) {
                    let value = text(&field.kind(), &value);
                    shown.push(format!("features.{inner} = {value}"));
                }
            }
            (kind, Value::List(all)) => {
                let all = all.iter();
                shown.extend(all.map(|value| format!("{name} = {}", text(&kind, value))));
            }
            (kind, value) => shown.push(format!("{name} = {}", text(&kind, value))),
        }
    }
    Some((shown, unknown))
}

/// The options' own types, for schemas without them.
fn own() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let file = compile::well_known(FILE);
        Pool::new(file.into_iter().collect()).unwrap_or_default()
    })
}

/// The fields that are set; extensions have their full names in parentheses.
fn fields(of: &Message, message: &DynamicMessage) -> Vec<(String, Field, Value)> {
    let own = of.fields().map(|field| (field.name().to_owned(), field));
    let extension = |one: Field| (format!("({})", one.full_name()), one);
    let set = own
        .chain(of.extensions().map(extension))
        .filter_map(|(name, field)| {
            let value = message.field_by_number(field.number())?.clone();
            Some((name, field, value))
        });
    set.collect()
}

/// A value; messages as in protobuf's text format.
fn text(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Enum(values), Value::EnumNumber(number)) => match values.name_of(*number) {
            Some(name) => name.to_owned(),
            None => number.to_string(),
        },
        (_, Value::Bool(value)) => value.to_string(),
        (_, Value::I32(value) | Value::EnumNumber(value)) => value.to_string(),
        (_, Value::I64(value)) => value.to_string(),
        (_, Value::U32(value)) => value.to_string(),
        (_, Value::U64(value)) => value.to_string(),
        (_, Value::F32(value)) => value.to_string().to_lowercase(),
        (_, Value::F64(value)) => value.to_string().to_lowercase(),
        (_, Value::String(text)) => quoted(text),
        (_, Value::Bytes(bytes)) => format!("\"{}\"", bytes.escape_ascii()),
        (Kind::Message(of), Value::Message(message)) => {
            let fields = fields(of, message).into_iter();
            let fields = fields.flat_map(|(name, field, value)| {
                let name = name.replace('(', "[").replace(')', "]");
                let values = entries(&field, &value).into_iter();
                values.map(move |value| format!("{name}: {value}"))
            });
            match fields.collect::<Vec<_>>().as_slice() {
                [] => "{}".to_owned(),
                fields => format!("{{ {} }}", fields.join(" ")),
            }
        }
        _ => String::new(),
    }
}

/// The values of a field: one, or those of a list or a map.
fn entries(field: &Field, value: &Value) -> Vec<String> {
    match (value, field.map_kinds()) {
        (Value::List(all), _) => all.iter().map(|value| text(&field.kind(), value)).collect(),
        (Value::Map(all), Some((_, kind))) => {
            let all = all.into_iter().map(|(key, value)| {
                let key = match key {
                    MapKey::String(key) => quoted(key),
                    key => key_text(key),
                };
                format!("{{ key: {key} value: {} }}", text(&kind, value))
            });
            all.collect()
        }
        (value, _) => vec![text(&field.kind(), value)],
    }
}
