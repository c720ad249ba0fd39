//! Single values, lists of them, and maps by name.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::nested;
use crate::file::mistake::Path;
use volley_base::units::{duration, size};
use volley_load::pace::whole_ns;

/// A map in the file's order.
#[derive(Debug)]
pub struct Named<T>(pub Vec<(String, T)>);

/// One value, or a list of them.
#[derive(Debug)]
pub struct OneOrMany<T> {
    items: Vec<T>,
    is_list: bool,
}

/// A text, also one that looks like a number or a boolean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar(pub String);

/// A time in nanoseconds, such as `500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub u64);

/// A size in bytes, such as `4MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u32);

/// 1, 2 or auto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpVersion(pub crate::plan::Version);

/// Reads a value that may be null: `Some(Null)` then.
///
/// # Errors
///
/// Those of the deserializer.
pub fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let entries = Option::<Map<String, Value>>::deserialize(from)?.unwrap_or_default();
        let read = |(key, value): (String, Value)| {
            let path = Path::default().key(&key);
            nested::read(value, path).map(|read| (key, read))
        };
        let entries = entries.into_iter().map(read);
        entries.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(feature = "docs")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        std::collections::BTreeMap::<String, T>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, T>::json_schema(generator)
    }
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            is_list: true,
        }
    }
}

impl<T> OneOrMany<T> {
    /// Each value, and where it stands if all of it stands at `path`.
    pub(in crate::file) fn at(&self, path: &Path) -> impl Iterator<Item = (Path, &T)> {
        self.items.iter().enumerate().map(|(index, item)| {
            let place = if self.is_list {
                path.index(index)
            } else {
                path.clone()
            };
            (place, item)
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(from)? {
            Value::Null => Self::default(),
            Value::Array(items) => {
                let read = |(index, item)| nested::read(item, Path::default().index(index));
                let items = items.into_iter().enumerate().map(read);
                Self {
                    items: items.collect::<Result<_, _>>()?,
                    is_list: true,
                }
            }
            one => Self {
                items: vec![nested::read(one, Path::default())?],
                is_list: false,
            },
        })
    }
}

#[cfg(feature = "docs")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({"anyOf": [one, {"type": "array", "items": one}]})
    }
}

/// A value that is read from a scalar, with its schema.
macro_rules! scalar {
    ($name:ident, $value:ident => $read:expr, $schema:tt) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let $value = Value::deserialize(from)?;
                let read: Result<Self, String> = $read;
                read.map_err(D::Error::custom)
            }
        }

        #[cfg(feature = "docs")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

pub(super) use scalar;

/// The text of a scalar; `None` for lists and maps.
pub fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) | Value::Null => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

scalar!(Scalar, value => match &value {
    Value::Null => Err("a text or a number is needed; an empty text is \"\"".to_owned()),
    value => words(value).map(Self).ok_or_else(|| "a text or a number is needed".to_owned()),
}, {"type": ["string", "number", "boolean"]});

scalar!(Time, value => match words(&value).map(|text| duration::parse(&text)) {
    None => Err("a time is needed, such as `500ms`".to_owned()),
    Some(Err(error)) => Err(error.to_string()),
    Some(Ok(time)) => Ok(Self(whole_ns(time))),
}, {"type": "string", "examples": ["500ms", "1m30s"]});

scalar!(Size, value => match words(&value).map(|text| size::parse(&text)) {
    None => Err("a size is needed, such as `4MiB`".to_owned()),
    Some(Err(error)) => Err(error.to_string()),
    Some(Ok(bytes)) => Ok(Self(bytes)),
}, {"type": ["string", "integer"], "examples": ["4MiB", 65535]});

scalar!(HttpVersion, value => match words(&value).as_deref() {
    Some("1" | "1.1") => Ok(Self(crate::plan::Version::Http1)),
    Some("2" | "2.0") => Ok(Self(crate::plan::Version::Http2)),
    Some("auto") => Ok(Self(crate::plan::Version::Auto)),
    _ => Err("a version of HTTP is 1, 2 or auto".to_owned()),
}, {"enum": [1, 2, "auto"]});
