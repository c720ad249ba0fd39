//! Parts of a load for several processes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Share;
use crate::pace::Lane;

impl Share {
    /// The calls and connections of this part, by number.
    #[must_use]
    pub fn lane(self) -> Lane {
        Lane {
            first: u64::from(self.number) - 1,
            every: u64::from(self.of),
        }
    }

    /// Whether other processes make parts of the load.
    #[must_use]
    pub fn is_part(self) -> bool {
        self.of > 1
    }
}

impl Default for Share {
    /// The whole load.
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "a share is written as K/N, such as `1/3` for the first of three";
        let (number, of) = text.split_once('/').ok_or(wrong)?;
        let number = number.parse().map_err(|_| wrong)?;
        let of = of.parse().map_err(|_| wrong)?;
        match (1..=of).contains(&number) {
            true => Ok(Self { number, of }),
            false => Err(wrong),
        }
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(feature = "docs")]
impl schemars::JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A part of the load: `2/3` is the second of three.",
            "type": "string",
            "pattern": "^[0-9]+/[0-9]+$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_one_of_several_counted_from_one() {
        assert_eq!("2/3".parse(), Ok(Share { number: 2, of: 3 }));
        for text in "|0/1|2/1|1|1/0|-1/2|1/2/3|a/b|1/99999999999".split('|') {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
