//! The body of a new item: any JSON, of which the texts `sku` and `owner` are kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Appends `"sku":"…","owner":"…",` to `out`, as far as `body` has them; `None` if it is not JSON.
pub fn copy(body: &[u8], out: &mut Vec<u8>) -> Option<()> {
    #[derive(Deserialize)]
    struct New<'a> {
        #[serde(borrow, default)]
        sku: Text<'a>,
        #[serde(borrow, default)]
        owner: Text<'a>,
    }
    if body.trim_ascii_start().first() != Some(&b'{') {
        return serde_json::from_slice::<IgnoredAny>(body).ok().map(drop);
    }
    let new: New = serde_json::from_slice(body).ok()?;
    for (name, Text(text)) in [("sku", new.sku), ("owner", new.owner)] {
        if let Some(text) = text {
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            serde_json::to_writer(&mut *out, &text).ok()?;
            out.push(b',');
        }
    }
    Some(())
}

/// A text, or `None` for any other value.
#[derive(Default)]
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Text<'de>;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(body: &str) -> Option<String> {
        let mut out = Vec::new();
        copy(body.as_bytes(), &mut out)?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn texts_are_kept_with_their_escapes_and_other_values_are_not() {
        let kept = |body, fields: &str| assert_eq!(copied(body).as_deref(), Some(fields), "{body}");
        kept(
            r#"{"owner":"a\"\u0001ü","pad":[1],"sku":"7"}"#,
            r#""sku":"7","owner":"a\"\u0001ü","#,
        );
        kept(r#" {"sku":7,"owner":null}"#, "");
        kept(r#"{"sku":[{"sku":"x"}],"owner":{"a":1.5}}"#, "");
        kept(r#"["a","b"]"#, "");
        kept("3", "");
        kept("{}", "");
    }

    #[test]
    fn what_is_not_json_is_none() {
        for body in [
            "",
            "{",
            "{\"sku\":\"a}",
            "{}x",
            "[1,]",
            "{\"sku\":\"\u{1}\"}",
        ] {
            assert_eq!(copied(body), None, "{body}");
        }
        assert!(copy(b"{\"sku\":\"\xff\"}", &mut Vec::new()).is_none());
        assert_eq!(copied(&"[".repeat(60_000)), None);
    }
}
