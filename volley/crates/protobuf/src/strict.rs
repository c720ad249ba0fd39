//! JSON whose objects have each key once. `serde_json` itself keeps the last of several values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Map, Value as Json};

/// Reads anything.
pub(super) fn value<'de, D: Deserializer<'de>>(json: D) -> Result<Json, D::Error> {
    Strict::deserialize(json).map(|Strict(json)| json)
}

/// Reads what is no list and no object.
pub(super) fn plain<'de, D: Deserializer<'de>>(
    json: D,
    expected: &'static str,
) -> Result<Json, D::Error> {
    let is_plain = true;
    json.deserialize_any(Anything { expected, is_plain })
}

/// Reads an object.
pub(super) fn object<'de, D: Deserializer<'de>>(json: D) -> Result<Map<String, Json>, D::Error> {
    json.deserialize_map(Members)
}

/// Reads a list.
pub(super) fn list<'de, D: Deserializer<'de>>(json: D) -> Result<Vec<Json>, D::Error> {
    let all: Vec<Strict> = Vec::deserialize(json)?;
    Ok(all.into_iter().map(|Strict(json)| json).collect())
}

struct Strict(Json);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let (expected, is_plain) = ("a value", false);
        json.deserialize_any(Anything { expected, is_plain })
            .map(Self)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Map<String, Json>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if all.contains_key(&key) {
                return Err(Error::custom(format!("the key '{key}' is there twice")));
            }
            let Strict(value) = members.next_value()?;
            all.insert(key, value);
        }
        Ok(all)
    }
}

struct Anything {
    expected: &'static str,
    /// Lists and objects are refused.
    is_plain: bool,
}

impl<'de> Visitor<'de> for Anything {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut json: A) -> Result<Json, A::Error> {
        if self.is_plain {
            return Err(Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut all = Vec::new();
        while let Some(Strict(value)) = json.next_element()? {
            all.push(value);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Json, A::Error> {
        if self.is_plain {
            return Err(Error::invalid_type(Unexpected::Map, &self));
        }
        Members.visit_map(members).map(Json::Object)
    }
}
