//! Replies of any kind, valid or not: volley's walk against a full decoder.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::de::DeserializeSeed as _;
use volley_protobuf as protobuf;
use volley_protobuf::wire::{Piece, encode_varint, pieces};
use volley_protobuf::{Kind, Message, Pool, Seed};
use volley_request::{Expected, Method, Mismatch, schema};

use crate::support::{everything, first, json, load, proto};

/// A method's replies, checked only for their form.
fn any_reply(method: &Method, data: &str) -> std::sync::Arc<Expected> {
    first(&json(data), method).expected
}

/// The decoder reads a group's field that comes as a message, and a message's that comes as a group; for volley and for
/// protoc they are unknown fields then.
fn has_other_framing(bytes: &[u8], message: &Message) -> bool {
    let is_other = |(number, piece): (u32, Piece)| {
        let field = message.field(number).filter(|field| !field.is_map());
        field.is_some_and(|field| match (field.kind(), piece) {
            (Kind::Message(_), Piece::Bytes(_)) if field.is_delimited() => true,
            (Kind::Message(inner), Piece::Bytes(bytes)) => has_other_framing(bytes, &inner),
            (Kind::Message(_), Piece::Other) => !field.is_delimited(),
            _ => false,
        })
    };
    pieces(bytes).is_some_and(|all| all.into_iter().any(is_other))
}

/// The decoder reads the key and the value of a map's entry whatever their wire types are; for volley they are unknown
/// fields then. There is no third difference.
fn has_odd_entry(bytes: &[u8], message: &Message) -> bool {
    let maps = message
        .fields()
        .filter_map(|field| Some((field.number(), field.map_kinds()?)));
    let maps: Vec<_> = maps.collect();
    let fits = |kind: &Kind, piece: Piece| match kind {
        Kind::String | Kind::Message(_) => matches!(piece, Piece::Bytes(_)),
        _ => matches!(piece, Piece::Varint(_)),
    };
    // Keys of maps (23, 24) take two bytes.
    bytes.windows(3).enumerate().any(|(at, window)| {
        let key = u32::from(window[0] & 0x7f) | u32::from(window[1]) << 7;
        let map = maps
            .iter()
            .find(|(number, _)| window[0] >= 0x80 && key == number << 3 | 2);
        let Some((_, (key, value))) = map else {
            return false;
        };
        let rest = &bytes[at + 3..];
        let entry = pieces(&rest[..rest.len().min(window[2].into())]);
        !entry.is_some_and(|entry| {
            entry.into_iter().all(|(number, piece)| match number {
                1 => fits(key, piece),
                2 => fits(value, piece),
                _ => true,
            })
        })
    })
}

fn agrees(expected: &Expected, message: &Message, bytes: &[u8]) -> Result<(), String> {
    let decoded = message.decode(bytes);
    let walked = expected.check(0, bytes);
    match (&decoded, &walked) {
        (Ok(_), Ok(())) => Ok(()),
        (Err(_), Err(Mismatch::Malformed { at, .. })) if *at <= bytes.len() => Ok(()),
        _ if has_odd_entry(bytes, message) || has_other_framing(bytes, message) => Ok(()),
        _ => Err(format!(
            "decoder: {decoded:?}\nvolley: {walked:?}\nbytes: {bytes:?}"
        )),
    }
}

/// A valid message with many fields.
const FULL: &str = r#"{"int32":-1,"int64":"-2","uint32":3,"uint64":"4","sint32":-5,"sint64":"-6",
    "fixed32":7,"fixed64":"8","sfixed32":-9,"sfixed64":"-10","bool":true,"double":1.5,"float":2.5,
    "string":"é","bytes":"AQI=","level":"HIGH","inner":{"value":1,"inner":{"text":"xyz"}},
    "self":{"self":{"strings":["ü"],"packed":[300]}},"packed":[1,-2,300],"unpacked":[-1,5],
    "strings":["a",""],"inners":[{"value":2},{}],"counts":{"k":1},"byId":{"-4":{"value":3}},
    "fixed":[1,2],"levels":[1,7],"name":"n","maybe":0,"when":"2020-01-01T00:00:00Z"}"#;

fn full(message: &Message) -> Vec<u8> {
    let mut json = serde_json::Deserializer::from_str(FULL);
    protobuf::encode(&Seed(message).deserialize(&mut json).unwrap())
}

/// Bytes that often look like fields: small numbers, every wire type, short lengths.
fn field_like() -> impl Strategy<Value = Vec<u8>> {
    let key = (1_u32..34, 0_u32..8).prop_map(|(number, wire)| {
        let mut bytes = Vec::new();
        encode_varint(u64::from(number << 3 | wire), &mut bytes);
        bytes
    });
    let value = prop_oneof![
        (0_u64..300).prop_map(|value| {
            let mut bytes = Vec::new();
            encode_varint(value, &mut bytes);
            bytes
        }),
        any::<u64>().prop_map(|value| {
            let mut bytes = Vec::new();
            encode_varint(value, &mut bytes);
            bytes
        }),
        prop::collection::vec(any::<u8>(), 0..12),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(|mut text| {
            text.insert(0, text.len() as u8);
            text
        }),
    ];
    let field = (key, value).prop_map(|(key, value)| [key, value].concat());
    prop::collection::vec(field, 0..6).prop_map(|fields| fields.concat())
}

/// Runs many generated replies through both.
fn all_agree(method: &Method, data: &str, cases: u32, replies: impl Strategy<Value = Vec<u8>>) {
    let expected = any_reply(method, data);
    let mut runner = TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let judge =
        |bytes: Vec<u8>| agrees(&expected, &method.output, &bytes).map_err(TestCaseError::fail);
    runner.run(&replies, judge).unwrap();
}

#[test]
fn any_bytes_are_judged_as_a_decoder_judges_them() {
    all_agree(
        &everything("Call"),
        "{}",
        5_000,
        prop::collection::vec(any::<u8>(), 0..40),
    );
}

#[test]
fn fields_of_every_kind_are_judged_as_a_decoder_judges_them() {
    all_agree(&everything("Call"), "{}", 10_000, field_like());
}

#[test]
fn a_full_message_is_accepted() {
    let method = everything("Call");
    let expected = any_reply(&method, "{}");
    assert_eq!(expected.check(0, &full(&method.output)), Ok(()));
}

#[test]
fn a_message_cut_anywhere_is_judged_as_a_decoder_judges_it() {
    let method = everything("Call");
    let expected = any_reply(&method, "{}");
    let bytes = full(&method.output);
    for end in 0..bytes.len() {
        agrees(&expected, &method.output, &bytes[..end]).unwrap();
    }
}

#[test]
fn a_message_with_any_byte_changed_is_judged_as_a_decoder_judges_it() {
    let method = everything("Call");
    let expected = any_reply(&method, "{}");
    let bytes = full(&method.output);
    for at in 0..bytes.len() {
        for value in [
            0,
            1,
            3,
            4,
            7,
            0x7f,
            0x80,
            0xff,
            bytes[at] ^ 1,
            bytes[at] ^ 8,
        ] {
            let mut changed = bytes.clone();
            changed[at] = value;
            agrees(&expected, &method.output, &changed).unwrap();
        }
    }
}

#[test]
fn groups_and_extensions_are_judged_as_a_decoder_judges_them() {
    let method = load(&proto("proto2.proto"), "old.Old/Call").unwrap();
    let expected = any_reply(&method, r#"{"name":"x"}"#);
    for (bytes, is_good) in [
        (&[27, 8, 1, 28][..], true),            // a group
        (&[27, 18, 1, 65, 28], true),           // with text in it
        (&[27, 18, 1, 0xff, 28], true),         // that is not UTF-8, as it may be
        (&[27, 8, 1], false),                   // that does not end
        (&[27, 8, 1, 36], false),               // that ends as another
        (&[35, 10, 1, 0xff, 36, 35, 36], true), // two of a repeated one
        (&[26, 0], true),                       // a group as a message: unknown
        (&[26, 1, 0], true),                    // whatever is in it
        (&[0xa2, 6, 1, 65], true),              // an extension
        (&[0xa2, 6, 1, 0xff], true),            // that is not UTF-8
        (&[0xa2, 6, 2, 0xff], false),           // that is cut short
        (&[0xaa, 6, 1, 0xff], true),            // no extension: unknown
        (&[43, 51, 52, 44], true),              // unknown groups
        (&[43, 51, 44, 52], false),             // crossed
    ] {
        // With the field that must be there.
        let bytes = [&[18, 1, 65], bytes].concat();
        assert_eq!(expected.check(0, &bytes).is_ok(), is_good, "{bytes:?}");
        agrees(&expected, &method.output, &bytes).unwrap();
        agrees(&expected, &method.output, &bytes[3..]).unwrap();
    }
    all_agree(&method, r#"{"name":"x"}"#, 5_000, field_like());
}

/// A method of what one file declares, whose replies are `R`.
fn of_text(text: &str) -> Method {
    let text = format!("{text} service S {{ rpc Call(R) returns (R); }}").into_bytes();
    let mut open = move |name: &str| Ok((name == "a.proto").then(|| text.clone()));
    let files = protobuf::compile::compile("a.proto", &mut open);
    let files = files.unwrap_or_else(|error| panic!("{error}"));
    schema::find(&Pool::new(files).unwrap(), "S/Call").unwrap()
}

#[test]
fn every_field_that_must_be_there_is_looked_for() {
    for count in [2_u32, 63, 64, 65, 130] {
        let field = |number| format!("required int32 r{number} = {number};");
        let needs: String = (1..=count).map(field).collect();
        let method = of_text(&format!(
            "syntax = \"proto2\"; message N {{ {needs} }}
             message R {{ optional N n = 1; optional group G = 2 {{ {needs} }} }}"
        ));
        let expected = any_reply(&method, "{}");
        for lacking in [0, 1, count, count - 1, count / 2] {
            let mut inner = Vec::new();
            for number in (1..=count).filter(|number| *number != lacking) {
                encode_varint(u64::from(number << 3), &mut inner);
                inner.push(0);
            }
            let mut nested = vec![0x0a];
            encode_varint(inner.len() as u64, &mut nested);
            nested.extend(&inner);
            for bytes in [nested, [&[0x13], &inner[..], &[0x14]].concat()] {
                agrees(&expected, &method.output, &bytes).unwrap();
                let walked = expected.check(0, &bytes);
                let walked = walked.map_err(|error| error.to_string());
                let reason = format!("the required field {lacking} is missing");
                match walked {
                    Ok(()) => assert_eq!(lacking, 0, "{count}"),
                    Err(error) => assert!(error.ends_with(&reason), "{error}"),
                }
            }
        }
    }
}

#[test]
fn text_need_not_be_utf8_where_files_allow_it() {
    let of_edition = |all: &str, own: &str| {
        format!(
            "edition = \"2023\"; {all} message R {{ string s = 1 [features.utf8_validation = {own}]; repeated R r = 2;
             map<int32, string> m = 3; G g = 4 [features.message_encoding = DELIMITED]; message G {{ string t = 1; }}
             extensions 5; }} extend R {{ string e = 5; }}"
        )
    };
    let old = "syntax = \"proto2\"; message R { optional string s = 1; repeated R r = 2; map<int32, string> m = 3;
               optional group G = 4 { optional string t = 1; } extensions 5; } extend R { optional string e = 5; }";
    let none = "option features.utf8_validation = NONE;";
    let cases = [
        (&[0x0a, 3, b'a', 0xff, b'b'][..], r#"{"s":"a�b"}"#),
        (
            &[0x12, 3, 0x0a, 1, 0xc3, 0x0a, 1, b'x'],
            r#"{"s":"x","r":[{"s":"�"}]}"#,
        ),
        (&[0x1a, 6, 8, 5, 0x12, 2, 0x80, b'y'], r#"{"m":{"5":"�y"}}"#),
        (&[0x23, 0x0a, 1, 0xff, 0x24], r#"{"g":{"t":"�"}}"#),
        (&[0x2a, 1, 0xff], r#"{"[e]":"�"}"#),
    ];
    for (text, allowed) in [
        (old.to_owned(), [true; 5]),
        (of_edition(none, "NONE"), [true; 5]),
        (of_edition(none, "VERIFY"), [false, false, true, true, true]),
        (of_edition("", "NONE"), [true, true, false, false, false]),
        (of_edition("", "VERIFY"), [false; 5]),
        ("syntax = \"proto3\"; message R { string s = 1; repeated R r = 2; map<int32, string> m = 3; }".to_owned(), [false, false, false, true, true]),
    ] {
        let method = of_text(&text);
        let expected = any_reply(&method, "{}");
        for ((bytes, shown), is_allowed) in cases.iter().zip(allowed) {
            agrees(&expected, &method.output, bytes).unwrap();
            let decoded = method.output.decode(bytes);
            assert_eq!(decoded.is_ok(), is_allowed, "{text} {bytes:?}");
            if let Ok(decoded) = decoded
                && !text.contains("proto3")
            {
                assert_eq!(method.output.to_json(&decoded).to_string(), *shown);
            }
        }
        // What is no message is not made one.
        assert!(method.output.decode(&[0x0a, 2, 0xff]).is_err());
        assert!(method.output.decode(&[0x0a, 1, 0xff, 0x0b]).is_err());
    }
}

#[test]
fn nesting_is_followed_as_deep_as_a_decoder_does() {
    let method = everything("Call");
    let expected = any_reply(&method, "{}");
    for depth in [1, 50, 99, 100, 101, 102, 5_000] {
        let mut message = Vec::new();
        for _ in 0..depth {
            let mut outer = vec![0x92, 1];
            encode_varint(message.len() as u64, &mut outer);
            outer.extend(message);
            message = outer;
        }
        agrees(&expected, &method.output, &message).unwrap();
        let groups = [[0xc3, 2].repeat(depth), [0xc4, 2].repeat(depth)].concat();
        agrees(&expected, &method.output, &groups).unwrap();
    }
}
