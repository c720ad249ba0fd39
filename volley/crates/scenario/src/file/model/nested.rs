//! Values that have a short form and a long one, and errors inside of them.

use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

use crate::file::mistake::{Path, Segment};

/// Surrounds the way to what is wrong, in front of a message of serde. Files cannot hold it: YAML forbids it.
const MARK: char = '\u{1}';

/// Reads a value that stands `below` the present one. An error says where.
pub fn read<T: DeserializeOwned, E: Error>(value: Value, below: Path) -> Result<T, E> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (path, message) = place(&error);
        let path = serde_json::to_string(&below.join(path)).unwrap_or_default();
        E::custom(format!("{MARK}{path}{MARK}{message}"))
    })
}

/// Where something is wrong, and what.
pub fn place(error: &serde_path_to_error::Error<serde_json::Error>) -> (Path, String) {
    use serde_path_to_error::Segment as Step;
    let outer = error.path().iter().filter_map(|step| match step {
        Step::Seq { index } => Some(Segment::Index(*index)),
        Step::Map { key } => Some(Segment::Key(key.clone())),
        Step::Enum { .. } | Step::Unknown => None,
    });
    let outer = outer.fold(Path::default(), Path::then);
    let message = error.inner().to_string();
    let inner = message
        .strip_prefix(MARK)
        .and_then(|text| text.split_once(MARK));
    match inner {
        Some((path, message)) => {
            let path: Path = serde_json::from_str(path).unwrap_or_default();
            (outer.join(path), message.to_owned())
        }
        None => (outer, message),
    }
}

/// The schema of either form.
#[cfg(feature = "docs")]
pub fn either<T: schemars::JsonSchema>(
    generator: &mut schemars::SchemaGenerator,
    short: Value,
) -> schemars::Schema {
    let long = generator.subschema_for::<T>();
    schemars::json_schema!({"anyOf": [short, long]})
}

/// `Name(Map)`: a map, or something shorter.
macro_rules! shorthand {
    ($name:ident, $map:ident, $needed:literal, |$value:ident| { $short:pat => $long:expr }, $schema:expr) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                use serde::de::Error as _;
                let $value = serde_json::Value::deserialize(from)?;
                match $value {
                    serde_json::Value::Object(_) => {
                        let path = crate::file::mistake::Path::default();
                        $crate::file::model::nested::read($value, path).map(Self)
                    }
                    $short => Ok(Self($long)),
                    _ => Err(D::Error::custom(concat!($needed, " is needed"))),
                }
            }
        }

        #[cfg(feature = "docs")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::file::model::nested::either::<$map>(generator, $schema)
            }
        }
    };
}

pub(super) use shorthand;
