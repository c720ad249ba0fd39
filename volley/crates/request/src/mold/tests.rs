use std::collections::HashSet;
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::select;
use volley_load::spec::SchemaSource;
use volley_testkit::table::words;

use super::*;
use crate::CallNumber;
use crate::messages::{self, Message};
use crate::schema::{self, Method};
use crate::template::{Action, CallData, Piece};

/// What an action gives stands between these.
const OPEN: char = '«';
const CLOSE: char = '»';

fn input() -> &'static protobuf::Message {
    static METHOD: OnceLock<Method> = OnceLock::new();
    let method = METHOD.get_or_init(|| {
        let source = SchemaSource::Proto {
            file: "../../tests/protos/everything.proto".into(),
            import_paths: Vec::new(),
        };
        let pool = schema::read(&source).unwrap().unwrap();
        schema::find(&pool, "everything.Everything/Call").unwrap()
    });
    &method.input
}

/// A template whose actions give the texts between `«` and `»`.
fn template(text: &str) -> Template {
    let mut pieces = Vec::new();
    for (place, part) in text.split([OPEN, CLOSE]).enumerate() {
        pieces.push(match place % 2 {
            0 => Piece::Text(part.to_owned()),
            _ => Piece::Action(Action::Text(part.to_owned())),
        });
    }
    Template::from(pieces)
}

/// What the JSON parser makes of the rendered template.
fn slow(template: &Template, call: &mut CallData) -> Option<Message> {
    let mut json = String::new();
    template.render(call, &mut json).unwrap();
    let mut messages = messages::from_json(&json, input()).ok()?;
    messages.pop().filter(|_| messages.is_empty())
}

#[derive(Debug, PartialEq)]
enum Made {
    NoMold,
    Odd,
    Same,
}

/// Makes a message in both ways.
fn made(text: &str) -> Made {
    let template = template(text);
    let Some(mold) = Mold::new(&template, input()) else {
        return Made::NoMold;
    };
    let mut random = fastrand::Rng::with_seed(7);
    let mut call = CallData::new(CallNumber::default(), "", 1, &mut random);
    let (mut filling, mut out) = (Filling::default(), Vec::new());
    // What was filled in before leaves nothing behind.
    filling.words.push((1, 99));
    if mold.fill(&mut call, &mut filling, &mut out).is_err() {
        return Made::Odd;
    }
    let slow = slow(&template, &mut call).unwrap_or_else(|| panic!("refused: {text}"));
    let decoded = |bytes: &[u8]| input().decode(bytes).unwrap();
    let (molded, parsed) = (decoded(&out), decoded(&slow.bytes));
    // The entries of a map are in no order.
    let is_same = out.len() == slow.bytes.len() && molded == parsed;
    assert!(
        is_same || out == slow.bytes,
        "{text}\n{molded:?}\n{parsed:?}"
    );
    for field in input().fields() {
        let molded = mold.fields(&filling);
        assert_eq!(
            molded.word(&field),
            slow.fields.word(&field),
            "{text} {field:?}"
        );
    }
    Made::Same
}

const FIELDS: &str = "int32|int64|uint32|uint64|sint32|sint64|fixed32|fixed64|sfixed32|sfixed64|bool|double|\
    float|string|bytes|level|inner|self|packed|unpacked|strings|inners|counts|byId|\
    fixed|levels|number|name|either|maybe|when|wrapped_number|wrappedText|wrappedBytes";

/// What actions give, and what stands in the JSON itself.
const VALUES: &str = "0|1|-1|300|-0|007|+5|1.0|1e2|-7.25|0.1|1e400|\
    2147483648|-2147483648|4294967295|18446744073709551615|-9223372036854775808|16777217|33554435|true|false|null|HIGH|LOW|\
    NaN|-Infinity|AQID|_-==||é\\n\\u00e9|2020-01-01T00:00:00Z| 5 |5,6|x\\\"y";

/// A field's value: constant or rendered, bare, quoted, part of a string, or within a list, a map or a message.
fn value() -> impl Strategy<Value = String> {
    let leaf =
        (select(words(VALUES)), select(words(VALUES)), 0..9_u8).prop_map(
            |(a, b, form)| match form {
                0 => a.to_owned(),
                1 => format!("\"{a}\""),
                2 | 3 => format!("«{a}»"),
                4 | 5 => format!("\"«{a}»\""),
                6 => format!("\"{a}«{b}»\""),
                7 => format!("«\"{a}\"»"),
                _ => format!("\"«{a}»{b}«{a}»\""),
            },
        );
    leaf.prop_recursive(2, 8, 2, |inner| {
        (inner.clone(), inner, 0..6_u8).prop_map(|(a, b, form)| match form {
            0 => format!("[{a}, {b}]"),
            1 => format!("{{\"value\": {a}, \"text\": {b}}}"),
            2 => format!("{{\"inner\": {{\"text\": {a}}}}}"),
            3 => format!("{{\"5\": {a}}}"),
            4 => format!("{{\"strings\": [{a}], \"int32\": {b}}}"),
            _ => format!("[{{\"value\": {a}}}]"),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn molded_messages_are_those_that_the_json_parser_makes(
        fields in prop::collection::vec((select(words(FIELDS)), value()), 1..5),
    ) {
        // Of a name that comes twice, a mold reads the last value alone.
        let mut names = HashSet::new();
        let fields: Vec<String> = fields
            .iter()
            .filter(|(name, _)| names.insert(*name))
            .map(|(name, value)| format!("\"{name}\": {value}"))
            .collect();
        made(&format!("{{{}}}", fields.join(", ")));
    }

    #[test]
    fn any_text_within_a_string_is_sent_as_it_stands_in_json(text in "\\PC{0,20}", given in "\\PC{0,200}") {
        prop_assume!(!format!("{text}{given}").contains([OPEN, CLOSE]));
        made(&format!("{{\"string\": \"{text}«{given}»\"}}"));
    }

    #[test]
    fn any_number_is_that_of_its_field(name in select(words(FIELDS)[..16].to_vec()), number in any::<i64>(), float in any::<f64>()) {
        for shift in [0, 32, 48] {
            let integer = number >> shift;
            made(&format!("{{\"{name}\": «{integer}», \"maybe\": «{}»}}", integer & 1));
        }
        made(&format!("{{\"double\": «{float}», \"float\": \"«{float:e}»\"}}"));
        made(&format!("{{\"float\": «{float:e}»}}"));
    }
}

#[test]
fn every_kind_of_field_is_molded() {
    for fields in [
        r#""int32": «-1», "int64": "«-5»", "uint32": «7», "uint64": «8», "sint32": «-9»"#,
        r#""sint64": «-1», "fixed32": «1», "fixed64": «2», "sfixed32": «-3», "sfixed64": «-4»"#,
        r#""bool": «true», "double": «1.5», "float": «-2.5», "string": "a«b»c", "bytes": "«AQ==»""#,
        r#""level": "«HIGH»", "levels": ["«HIGH»", «1»], "packed": [1, «2»], "unpacked": [«-3»]"#,
        r#""inner": {"value": «5», "text": "«x»", "inner": {"value": «0»}}, "strings": ["«a»", "b"]"#,
        r#""inners": [{"text": "«y»"}, {}], "counts": {"k«1»": «2»}, "by_id": {"-4": {"value": «3»}}"#,
        r#""number": «0», "maybe": «0», "when": "«2020-01-01T00:00:00Z»", "camelCase": «3»"#,
        r#""wrappedNumber": "«0»", "wrapped_text": "«»", "wrappedBytes": "«AQ»", "int32": 4"#,
        r#""name": "", "string": "«é\n\"\\»", "self": {"name": "«»", "self": {"level": «2»}}"#,
        r#""string": "«aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa»""#,
        r#""inner": {"text": "0123456789«0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890»"}"#,
    ] {
        let fields = fields.replace("\n\"\\»", "\\n\\\"\\\\»");
        assert_eq!(made(&format!("{{{fields}}}")), Made::Same, "{fields}");
    }
}

#[test]
fn what_only_the_json_parser_can_read_has_no_mold() {
    for text in [
        r#"{"«int32»": 1}"#,
        r#"{«"int32": 1»}"#,
        r#"{"int32": 1«, "int64": 2»}"#,
        r#"{"int32": 1«2»}"#,
        r#"{"number": «1», "name": "x"}"#,
        r#"{"int32": «1», "int32": 2}"#,
        r#"{"nothing": «1»}"#,
        r#"[{"int32": «1»}]"#,
        "«{}»",
    ] {
        assert_eq!(made(text), Made::NoMold, "{text}");
    }
}

#[test]
fn values_that_are_more_than_a_value_are_odd() {
    for text in [
        r#"{"int32": «1, "int64": 2»}"#,
        r#"{"string": "«a", "int32": "5»"}"#,
        r#"{"packed": «[1], "int32": 5»}"#,
        r#"{"int32": «2147483648»}"#,
        r#"{"bool": "«true»"}"#,
        r#"{"string": «5»}"#,
    ] {
        assert_eq!(made(text), Made::Odd, "{text}");
    }
}

/// A mold of JSON with templates for a message of proto2, and what it gives with these values.
fn old(text: &str) -> Option<Vec<u8>> {
    let source = SchemaSource::Proto {
        file: "../../tests/protos/proto2.proto".into(),
        import_paths: Vec::new(),
    };
    let pool = schema::read(&source).unwrap().unwrap();
    let template = template(text);
    let mold = Mold::new(&template, &pool.message("old.Thing").unwrap())?;
    let mut random = fastrand::Rng::with_seed(7);
    let mut call = CallData::new(CallNumber::default(), "", 1, &mut random);
    let (mut filling, mut out) = (Filling::default(), Vec::new());
    mold.fill(&mut call, &mut filling, &mut out).ok()?;
    Some(out)
}

#[test]
fn a_field_that_must_be_there_may_be_a_hole_and_may_not_be_missing() {
    let out = [8, 7, 18, 1, b'x'];
    assert_eq!(old("{\"name\": \"«x»\", \"number\": 7}").unwrap(), out);
    assert_eq!(old("{\"name\": \"x\", \"number\": «7»}").unwrap(), out);
    assert_eq!(old("{\"number\": «7»}"), None);
    assert_eq!(old("{\"number\": «7», \"name\": null}"), None);
}

#[test]
fn only_plus_zero_is_a_default() {
    for (text, is_sent) in [
        ("{\"double\": «-0.0»}", true),
        ("{\"double\": «-0»}", true),
        ("{\"float\": \"«-0.0»\"}", true),
        ("{\"double\": «0.0»}", false),
        ("{\"float\": «0»}", false),
    ] {
        let template = template(text);
        let mold = Mold::new(&template, input()).unwrap();
        let mut random = fastrand::Rng::with_seed(7);
        let mut call = CallData::new(CallNumber::default(), "", 1, &mut random);
        let (mut filling, mut out) = (Filling::default(), Vec::new());
        mold.fill(&mut call, &mut filling, &mut out).unwrap();
        assert_eq!(out.last() == Some(&0x80), is_sent, "{text}");
        assert_eq!(out.is_empty(), !is_sent, "{text}");
    }
}
