//! What protoc takes and what it refuses, found by comparing with it.

use super::{E2023, PROTO2, options, place};

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
