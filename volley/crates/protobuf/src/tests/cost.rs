//! Few bytes do not become much.

use super::super::{Message, Zeros};
use super::pool;

/// A message with this many parts, all of them empty.
fn parts(of: &Message, count: usize) -> Vec<u8> {
    let bytes = [0x0a, 0].repeat(count);
    assert!(of.decode(&bytes).is_ok());
    bytes
}

/// What is shown, and whether all of it is.
fn shown(of: &Message, bytes: &[u8], zeros: &Zeros) -> (String, bool) {
    let json = of.to_json_with(&of.decode(bytes).unwrap(), zeros);
    (json.to_string(), !zeros.are_left_out())
}

#[test]
fn fields_that_are_empty_are_left_out_together_if_they_are_too_many() {
    let fields = |label: &str, count: usize| -> String {
        let field = |number| format!("{label} int32 f{number} = {number};");
        (2..2 + count).map(field).collect()
    };
    let of = |label: &str, count: usize| {
        let text = format!(
            "syntax = \"proto3\"; message M {{ repeated M parts = 1; {} }}",
            fields(label, count)
        );
        pool(&text).message("M").unwrap()
    };
    let (twenty, many) = (of("", 20), of("optional", 3_000));
    let (all, is_whole) = shown(&twenty, &parts(&twenty, 1_000), &Zeros::default());
    assert!(is_whole);
    assert_eq!(all.matches(":0").count(), 1_001 * 20);
    // Fields that are shown in vain count less, and those that have a value not at all.
    assert!(shown(&many, &parts(&many, 1_000), &Zeros::default()).1);
    let full = [0x0a, 2, 0x10, 1].repeat(20_000);
    let one = of("optional", 1);
    assert!(shown(&one, &full, &Zeros::default()).1);
    for (of, count) in [(&twenty, 6_000), (&many, 4_000)] {
        let (none, is_whole) = shown(of, &parts(of, count), &Zeros::default());
        assert!(!is_whole);
        assert_eq!(
            none,
            format!("{{\"parts\":[{}{{}}]}}", "{},".repeat(count - 1))
        );
    }
    // Several messages share the room.
    let zeros = Zeros::default();
    let whole = (0..10).map(|_| shown(&twenty, &parts(&twenty, 1_000), &zeros).1);
    assert_eq!(whole.filter(|is_whole| *is_whole).count(), 4);
}

#[test]
fn fields_that_have_a_value_are_shown_in_the_order_of_the_file() {
    let message = pool(
        "syntax = \"proto2\"; message M { optional int32 c = 30; optional M b = 20; extensions 5, 40; optional int32 a = 10; }
         extend M { optional int32 y = 40; optional int32 x = 5; }",
    );
    let message = message.message("M").unwrap();
    let bytes = [
        0x28, 5, 0x50, 1, 0xa2, 1, 3, 0xf0, 1, 2, 0xf0, 1, 3, 0xc0, 2, 4,
    ];
    let decoded = message.decode(&bytes).unwrap();
    let expected = r#"{"c":3,"b":{"c":2},"a":1,"[x]":5,"[y]":4}"#;
    assert_eq!(message.to_json(&decoded).to_string(), expected);
    assert_eq!(shown(&message, &bytes, &Zeros::default()).0, expected);
}

#[test]
fn fields_that_must_be_there_are_found_missing_at_any_depth() {
    let required: String = (10..110)
        .map(|number| format!("required int32 r{number} = {number};"))
        .collect();
    let pool = pool(&format!(
        "syntax = \"proto2\"; message Needs {{ {required} }}
         message M {{ repeated Needs list = 1; map<int32, Needs> map = 2; optional group G = 3 {{ optional Needs n = 1; }} extensions 9; }}
         extend M {{ optional Needs e = 9; }}"
    ));
    let message = pool.message("M").unwrap();
    for (bytes, field) in [
        (&[0x0a, 2, 0x50, 1][..], "list[0].r11"),
        (&[0x12, 2, 0x12, 0], r#"map["0"].r10"#),
        (&[0x1b, 0x0a, 0, 0x1c], "g.n.r10"),
        (&[0x4a, 0], "e.r10"),
    ] {
        let error = message.decode(bytes).unwrap_err().to_string();
        assert_eq!(error, format!("the required field `{field}` is missing"));
    }
    assert!(message.decode(&[0x1b, 0x1c]).is_ok());
}
