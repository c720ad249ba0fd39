//! The file as a tree that knows its lines. JSON is YAML, so one reader reads both.

use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

use super::mistake::{Path, Segment};

/// How deep maps and lists may be nested.
const DEPTH: usize = 64;

/// How many values a file may hold, with every alias written out.
const NODES: usize = 200_000;

/// A value, and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    /// From 1; that of the key, if it has one.
    line: usize,
    /// Of the value, in bytes.
    place: Range<usize>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It is neither YAML nor JSON: the line, and why.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        // Without `strict_booleans`, `y` and `on` would be booleans.
        let options = serde_saphyr::options! {
            strict_booleans: true,
            with_snippet: false,
            budget: serde_saphyr::budget! { max_depth: DEPTH, max_nodes: NODES },
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: NODES },
        };
        let read: Result<Spanned<Kind>, _> = serde_saphyr::from_str_with_options(text, options);
        read.map(Self::from).map_err(|error| {
            let line = error.location().map_or(1, |place| line(place.line()));
            let whole = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            let reason = whole.lines().next().unwrap_or_default();
            // The line stands in front of the message already.
            let reason = reason
                .rsplit_once(" at line ")
                .map_or(reason, |(reason, _)| reason);
            (line, reason.to_owned())
        })
    }

    /// Where something stands. If it is not there, where that stands which lacks it.
    pub fn line(&self, path: &Path) -> usize {
        let mut node = self;
        for segment in path.segments() {
            match node.below(segment) {
                Some(next) => node = next,
                None => break,
            }
        }
        node.line
    }

    /// Whether there is a value.
    pub fn has(&self, path: &Path) -> bool {
        self.at(path).is_some()
    }

    fn at(&self, path: &Path) -> Option<&Self> {
        path.segments().iter().try_fold(self, Self::below)
    }

    /// A number, and where it is written.
    pub fn number(&self, path: &Path) -> Option<(&Number, Range<usize>)> {
        let node = self.at(path)?;
        match &node.kind {
            Kind::Scalar(Value::Number(number)) => Some((number, node.place.clone())),
            _ => None,
        }
    }

    /// A single value.
    pub fn scalar(&self, path: &Path) -> Option<&Value> {
        match &self.at(path)?.kind {
            Kind::Scalar(value) => Some(value),
            _ => None,
        }
    }

    fn below(&self, segment: &Segment) -> Option<&Self> {
        match (&self.kind, segment) {
            (Kind::Map(entries), Segment::Key(key)) => entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, node)| node),
            (Kind::List(items), Segment::Index(index)) => items.get(*index),
            _ => None,
        }
    }

    /// The same without lines.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => items.iter().map(Self::value).collect(),
            Kind::Map(entries) => {
                let entry = |(key, node): &(String, Self)| (key.clone(), node.value());
                Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }
}

fn line(number: impl TryInto<usize>) -> usize {
    number.try_into().unwrap_or(usize::MAX)
}

impl From<Spanned<Kind>> for Node {
    fn from(read: Spanned<Kind>) -> Self {
        let whole = |number: Option<u64>| usize::try_from(number.unwrap_or(0)).unwrap_or(0);
        let span = read.defined.span();
        let start = whole(span.byte_offset());
        Self {
            line: line(read.referenced.line()),
            place: start..start.saturating_add(whole(span.byte_len())),
            kind: read.value,
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Kind;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    // The file's text has all digits.
    fn visit_i128<E>(self, value: i128) -> Result<Kind, E> {
        Ok(Kind::Scalar((value as f64).into()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Kind, E> {
        Ok(Kind::Scalar((value as f64).into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Kind, D::Error> {
        Kind::deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Kind>>()? {
            list.push(item.into());
        }
        Ok(Kind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, Spanned<Kind>>()? {
            let line = line(key.referenced.line());
            map.push((
                key.value,
                Node {
                    line,
                    ..value.into()
                },
            ));
        }
        Ok(Kind::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, path: &[Segment]) -> usize {
        let path = path.iter().cloned().fold(Path::default(), Path::then);
        Node::read(text).unwrap().line(&path)
    }

    #[test]
    fn a_value_stands_where_its_key_does() {
        let key = |key: &str| Segment::Key(key.to_owned());
        let text = "a:\n  b:\n    - c: 1\n    - {c: 2,\n       d: 3}\n";
        for (path, expected) in [
            (vec![], 1),
            (vec![key("a"), key("b")], 2),
            (vec![key("a"), key("b"), Segment::Index(0)], 3),
            (vec![key("a"), key("b"), Segment::Index(1), key("d")], 5),
            (vec![key("a"), key("x"), key("y")], 1),
        ] {
            assert_eq!(line(text, &path), expected, "{path:?}");
        }
        let json = "{\n\t\"a\": {\n\t\t\"b\": [1,\n\t\t\t{\"c\": \"\\/\"}]}}\n";
        assert_eq!(
            line(json, &[key("a"), key("b"), Segment::Index(1), key("c")]),
            4
        );
    }

    #[test]
    fn json_is_read_as_json() {
        let text = r#"{"a": ["\ud83d\ude00\/\u0041", 1.5e3, -7, true, null, "yes"], "404": {}}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(Node::read(text).unwrap().value(), value);
    }

    #[test]
    fn a_number_knows_its_text() {
        let key = |key: &str| Path::default().key(key);
        for (text, expected) in [
            ("ä: é\na: 1.10\n", "1.10"),
            ("{a:   +1.50 }", "+1.50"),
            ("b: &b 1e3\na: *b\n", "1e3"),
            (
                "a: 123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            ("\u{feff}ä: 1\na: 0x1F # 31\n", "0x1F"),
        ] {
            let node = Node::read(text).unwrap();
            let place = node.number(&key("a")).map(|(_, place)| place);
            assert_eq!(place.and_then(|place| text.get(place)), Some(expected));
        }
        for text in ["a: .nan", "a: [-.inf]", "a: 1e999"] {
            let (_, problem) = Node::read(text).unwrap_err();
            assert!(
                problem.contains("is not a finite number"),
                "{text}: {problem}"
            );
        }
    }

    #[test]
    fn aliases_and_merges_are_written_out() {
        let text = "a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  y: 2\n";
        let value = Node::read(text).unwrap().value();
        assert_eq!(
            value,
            serde_json::json!({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}})
        );
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_its_line() {
        for (text, line) in [("a: 1\nb: [1\n", 2), ("a: 1\na: 2\n", 2), ("a: *b\n", 1)] {
            let (found, problem) = Node::read(text).unwrap_err();
            assert_eq!(found, line, "{text}: {problem}");
        }
        let bomb = (1..9).fold(
            "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned(),
            |text, n| {
                let b = n - 1;
                text + &format!(
                    "a{n}: &a{n} [*a{b}, *a{b}, *a{b}, *a{b}, *a{b}, *a{b}, *a{b}, *a{b}]\n"
                )
            },
        );
        assert!(Node::read(&bomb).is_err());
        assert!(Node::read(&"[".repeat(100_000)).is_err());
    }
}
