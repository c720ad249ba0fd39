//! What protoc takes and what it refuses, found by comparing with it.

use volley_testkit::table::{table, words};

use super::{E2023, E2024, PROTO2, PROTO3, files, options, place};

/// A file whose first message has an option, a message `S` with these fields.
fn with_options(syntax: &str, fields: &str, text: &str) -> String {
    let optional = if syntax == PROTO2 { "optional " } else { "" };
    format!(
        "{syntax}import 'google/protobuf/descriptor.proto'; message M {{ option (s) = {{ {text} }}; }} \
         message S {{ {fields} }} extend google.protobuf.MessageOptions {{ {optional}S s = 1000; }}"
    )
}

/// Each text is taken, or else refused.
fn assert_taken<T: AsRef<str>>(taken: bool, texts: impl IntoIterator<Item = T>) {
    for text in texts {
        let (text, place) = (text.as_ref(), place(text.as_ref()));
        assert_eq!(place == "taken", taken, "{place}: {text}");
    }
}

/// Why a file is refused.
fn reason(text: &str) -> String {
    let error = files(&[("root.proto", text)]).unwrap_err().to_string();
    error.splitn(4, ':').last().unwrap().trim().to_owned()
}

#[test]
fn maps_are_never_delimited() {
    let syntax = format!("{E2023}option features.message_encoding = DELIMITED; ");
    let text = with_options(
        &syntax,
        "map<int32, S> m = 1 [lazy = true]; S s = 2;",
        "m { key: 1 value { s { } } }",
    );
    // The option and the field are groups; the map and its values are not.
    assert_eq!(options(&text), "c33e0a06080112021314c43e");
    assert_taken(
        false,
        [format!("{syntax}message M {{ M m = 1 [lazy = true]; }}")],
    );
}

#[test]
fn names_in_json_may_be_lenient() {
    let lenient = "option deprecated_legacy_json_field_conflicts = true;";
    let message = |syntax: &str, start: &str, names: [&str; 2]| {
        let label = if syntax == PROTO2 { "optional" } else { "" };
        let [one, other] = names;
        format!(
            "{syntax}message M {{ {start} {label} int32 a_b = 1 {one}; {label} int32 aB = 2 {other}; }}"
        )
    };
    let best_effort = format!("{E2023}option features.json_format = LEGACY_BEST_EFFORT; ");
    let (own, x) = ("[json_name = 'aB']", "[json_name = 'x']");
    // A name that is that of the field anyway is no name of its own.
    for syntax in [PROTO2, &best_effort] {
        assert_taken(
            true,
            [[own, own], [own, ""], [x, ""], ["", x]].map(|names| message(syntax, "", names)),
        );
        assert_taken(
            false,
            [
                message(syntax, "", [x, x]),
                message(syntax, "", ["[json_name = '[a]']", ""]),
            ],
        );
    }
    for syntax in [PROTO2, PROTO3, E2023] {
        let names = [[own, own], [x, x], ["[json_name = '[a]']", ""]];
        assert_taken(true, names.map(|names| message(syntax, lenient, names)));
        assert_taken(
            false,
            [message(syntax, lenient, ["[json_name = 'a\\0']", ""])],
        );
        if syntax != PROTO2 {
            assert_taken(
                false,
                [[own, own], [x, ""]].map(|names| message(syntax, "", names)),
            );
        }
    }
    let item = format!("enum E {{ {lenient} E_A = 0; A = 1; }}");
    assert_taken(true, [PROTO2.to_owned() + &item]);
    assert_taken(
        false,
        [
            PROTO3.to_owned() + &item,
            E2023.to_owned() + &item,
            best_effort + &item,
        ],
    );
    let extension = |name: &str, json: &str| {
        format!(
            "message X {{ extensions 1; }} extend X {{ optional int32 {name} = 1 [json_name = '{json}']; }}"
        )
    };
    assert_taken(true, [extension("e", "e"), extension("e_f", "eF")]);
    assert_taken(false, [extension("e", "f"), extension("e_f", "e_f")]);
}

#[test]
fn only_a_plain_option_has_a_reserved_name() {
    let text = |name: &str, option: &str| {
        format!(
            "{PROTO2}import 'google/protobuf/descriptor.proto'; message S {{ optional bool features = 1; optional bool \
             uninterpreted_option = 2; extensions 5; }} extend S {{ optional bool e = 5; }} \
             extend google.protobuf.MessageOptions {{ optional S o = 1000; optional bool {name} = 1001; }} \
             message M {{ option {option} = true; }}"
        )
    };
    assert_taken(
        true,
        [
            text("features", "(features)"),
            text("map_entry", "(map_entry)"),
            text("uninterpreted_option", "(.uninterpreted_option)"),
            text("x", "(o).features"),
            text("x", "(o).uninterpreted_option"),
        ],
    );
    assert_taken(
        false,
        [
            text("uninterpreted_option", "(uninterpreted_option)"),
            text("x", "uninterpreted_option"),
            text("x", "map_entry"),
            "message M { option map_entry = false; }".to_owned(),
            format!("{PROTO3}message M {{ option features.field_presence = IMPLICIT; }}"),
        ],
    );
}

#[test]
fn a_group_like_field_has_the_name_of_its_type_too() {
    let group = "[features.message_encoding = DELIMITED]";
    for (fields, text, taken) in [
        (
            format!("message Gr {{ }} Gr gr = 1 {group};"),
            "Gr { } ",
            true,
        ),
        (
            format!("message Gr {{ }} Gr gr = 1 {group};"),
            "gr { } ",
            true,
        ),
        (
            format!("message gR {{ }} gR gr = 1 {group};"),
            "gR { } ",
            true,
        ),
        (
            format!("message GrUp {{ }} repeated GrUp grup = 1 {group};"),
            "GrUp { } ",
            true,
        ),
        (
            format!("message GrUp {{ }} GrUp gr_up = 1 {group};"),
            "GrUp { } ",
            false,
        ),
        (
            format!("message Gr {{ }} Gr other = 1 {group};"),
            "Gr { } ",
            false,
        ),
        ("message Gr { } Gr gr = 1;".to_owned(), "Gr { } ", false),
        // The type is not beside the field.
        (format!("M m = 1 {group};"), "M { } ", false),
    ] {
        assert_taken(taken, [with_options(E2023, &fields, text)]);
    }
    let group = "optional group Gr = 1 { }";
    assert_taken(true, [with_options(PROTO2, group, "Gr { }")]);
    assert_taken(false, [with_options(PROTO2, group, "gR { }")]);
}

#[test]
fn a_declared_type_is_a_name_or_a_scalar() {
    let text = |kind: &str| {
        format!(
            "message M {{ extensions 4 [declaration = {{ number: 4 full_name: '.e' type: '{kind}' }}]; }}"
        )
    };
    assert_taken(true, ["enum", "bytes", "sint32", ".a.b", ".a.1b"].map(text));
    assert_taken(false, ["group", "message", "map", "a.b", ".a..b"].map(text));
    // An enum has a name.
    let extended = |kind| text(kind) + "enum E { A = 0; } extend M { optional E e = 4; }";
    assert_taken(true, [extended(".E")]);
    assert_taken(false, [extended("enum")]);
}

#[test]
fn the_values_of_removed_fields_are_values() {
    let fields = "reserved 'old'; optional int32 a = 1;";
    let text = |text: &str| with_options(PROTO2, fields, text);
    assert_taken(
        true,
        words(
            "old: 1 a: 2|old: x|old: -1.5, a: 1|old: -inf; a: 1|old: - NaN|old: 'a' 'b' a: 1|old { }|old: < x: 1, y { } z < > >|\
             old: []|old: [1, { a: -1 }, < >, 'a' 'b']|old: [[1]]|old: 1 old: 2|old { [a.b]: 1 [a.b/c.d] { } }|old: 99999999999999999999999",
        )
        .into_iter()
        .map(text),
    );
    assert_taken(
        false,
        words(
            "old|old:|old: ;|old: )|old: +1|old: -x|old: -'a'|old: [1 2]|\
             old: [1,]|old: [-x]|old [1]|old 1|old 'a'|old { 1 }|old { x 1 }|old { x: }|\
             old { x: 1,, y: 2 }|old < }|old: { < } >|old { x [1] }|old: (1)|old: x.y|old: 1 2",
        )
        .into_iter()
        .map(text),
    );
    assert_taken(
        false,
        [text(&format!(
            "old: {}1{}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        ))],
    );
}

#[test]
fn a_strict_file_exports_enums_of_a_namespace_alone() {
    let strict =
        |text: &str| format!("{E2024}option features.default_symbol_visibility = STRICT; {text}");
    let item = "export enum E { E_A = 0; }";
    assert_taken(
        true,
        [
            format!("message M {{ reserved 1 to max; {item} }}"),
            format!("local message M {{ reserved 1 to max; reserved a; {item} message N {{ }} }}"),
        ]
        .map(|text| strict(&text)),
    );
    assert_taken(
        false,
        [
            format!("export message M {{ reserved 1 to max; {item} }}"),
            format!("message M {{ reserved 1 to max; message N {{ reserved 1 to max; {item} }} }}"),
            format!("message M {{ reserved 1 to 5, 6 to max; {item} }}"),
            "message M { reserved 1 to max; export message N { } }".to_owned(),
        ]
        .map(|text| strict(&text)),
    );
}

#[test]
fn a_lite_file_has_no_generic_services() {
    for (option, taken) in [("cc", false), ("java", false), ("py", true)] {
        let text = format!(
            "option optimize_for = LITE_RUNTIME; option {option}_generic_services = true; "
        );
        assert_taken(true, [&text]);
        assert_taken(taken, [text + "service S { }"]);
    }
}

#[test]
fn a_comment_has_no_nul() {
    assert_taken(true, ["// \x01 é\n/* \x01 é */"]);
    assert_taken(false, ["// a\0b\n", "/* a\0b */", "message M { } // \0"]);
}

#[test]
fn languages_have_features_of_their_own() {
    let text = |file: &str, option: &str| {
        format!(
            "{E2023}import 'google/protobuf/{file}_features.proto'; option features.(pb.{file}).{option}; message M {{ }}"
        )
    };
    assert_taken(
        true,
        [
            text("cpp", "string_type = VIEW"),
            text("java", "utf8_validation = VERIFY"),
            text("go", "api_level = API_OPAQUE"),
        ],
    );
    assert_taken(
        false,
        [
            text("cpp", "enum_name_uses_string_view = true"),
            text("java", "nest_in_file_class = YES"),
            text("go", "api_level = VIEW"),
        ],
    );
}

#[test]
fn a_feature_is_set_in_other_files_than_its_own() {
    let own = format!(
        "{E2023}import 'google/protobuf/descriptor.proto'; message F {{ bool a = 1; }} \
         extend google.protobuf.FeatureSet {{ F f = 9999; }} "
    );
    let option = "option features.(f).a = true;";
    assert_taken(true, [&own]);
    assert_eq!(
        reason(&format!("{own}{option}")),
        "a feature cannot be set in the file that defines it"
    );
    let root = format!("{E2023}import 'a.proto'; {option}");
    assert!(files(&[("root.proto", &root), ("a.proto", &own)]).is_ok());
}

#[test]
fn the_editions_of_an_option_fit_together() {
    let text = |support: &str| {
        format!("{E2023}message M {{ int32 a = 1 [feature_support = {{ {support} }}]; }}")
    };
    let value =
        |support: &str| format!("{E2023}enum E {{ A = 0 [feature_support = {{ {support} }}]; }}");
    let (introduced, deprecated) = (
        "edition_introduced: EDITION_2024",
        "deprecation_warning: 'x' edition_deprecated",
    );
    let removed = "removal_error: 'x' edition_removed";
    let taken = [
        String::new(),
        format!("{introduced} {deprecated}: EDITION_2024"),
        format!("{introduced} {removed}: EDITION_2024"),
        // It never was there.
        format!("{introduced} edition_removed: EDITION_2024"),
        format!("{deprecated}: EDITION_2023 {removed}: EDITION_2024"),
    ];
    assert_taken(
        true,
        taken
            .iter()
            .flat_map(|support| [text(support), value(support)]),
    );
    let refused = [
        format!("{introduced} {deprecated}: EDITION_2023"),
        format!("{introduced} {removed}: EDITION_2023"),
        format!("{deprecated}: EDITION_2024 {removed}: EDITION_2024"),
        "edition_deprecated: EDITION_2024".to_owned(),
        "deprecation_warning: 'x'".to_owned(),
    ];
    assert_taken(
        false,
        refused
            .iter()
            .flat_map(|support| [text(support), value(support)]),
    );
    for (value, taken) in [("true", false), ("false", true)] {
        assert_taken(
            taken,
            [format!("{E2023}option java_string_check_utf8 = {value};")],
        );
    }
}

#[test]
fn a_name_that_is_too_long_is_not_looked_for() {
    let package = vec!["a"; 250].join(".");
    let name = "b".repeat(8 << 20);
    let text = format!("package {package}; message M {{ optional {name} m = 1; }}");
    assert_eq!(reason(&text), "the name is longer than 512 bytes");
}

#[test]
fn faults_tell_what_to_do() {
    for [text, expected] in table(
        r#"
        package p.q; message M { optional .p.q.N n = 1; } => `.p.q.N` is not defined
        package p.q; message M { optional p.q.N n = 1; } => `p.q.N` is not defined
        import 'root.proto'; => the file imports itself
        message M { optional int32 a = 1; => the file ends here, but a `}` is missing
        message M { optional google.protobuf.Any a = 1; } => `google.protobuf.Any` is not defined: add `import "google/protobuf/any.proto";`
        import 'google/protobuf/any.proto'; message M { optional .google.protobuf.NullValue a = 1; } => `.google.protobuf.NullValue` is not defined: add `import "google/protobuf/struct.proto";`
        import 'google/protobuf/any.proto'; message M { optional google.protobuf.Int32Value a = 1; } => `google.protobuf.Int32Value` is not defined: add `import "google/protobuf/wrappers.proto";`
    "#,
    ) {
        assert_eq!(reason(text), expected, "{text}");
    }
}

#[test]
fn long_whole_numbers_have_a_point() {
    let text = |option: &str, value: &str| {
        format!(
            "{PROTO2}import \"google/protobuf/descriptor.proto\"; extend google.protobuf.MessageOptions {{ \
             optional double d = 1000; optional int64 i = 1001; }}\nmessage M {{ option ({option}) = {value}; }}"
        )
    };
    assert_eq!(
        options(&text("d", "18446744073709551616")),
        "c13e000000000000f043"
    );
    assert_eq!(
        options(&text("d", "-9223372036854775809")),
        "c13e000000000000e0c3"
    );
    assert_eq!(place(&text("i", "18446744073709551616")), "2:26");
    assert_eq!(place(&text("d", "0x10000000000000000")), "2:26");
}
