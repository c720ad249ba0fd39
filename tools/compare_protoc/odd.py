"""Declarations that look wrong, and that protoc takes."""

from collections.abc import Iterator

from tools.compare_protoc import breaking

_LENIENT = "option deprecated_legacy_json_field_conflicts = true;"
_DELIMITED = "option features.message_encoding = DELIMITED;"
_DESCRIPTOR = 'import "google/protobuf/descriptor.proto";'
_GROUP = "[features.message_encoding = DELIMITED]"


def _option(fields: str, text: str) -> str:
    """Return an option of a message with these fields."""
    return (f"{_DESCRIPTOR} message S {{ {fields} }} extend google.protobuf.MessageOptions {{ ~S s = 5000; }} "
            f"message X {{ option (s) = {{ {text} }}; }}")  # fmt: skip


def _named(name: str) -> str:
    """Return a custom option with this name, and one that has a part of this name."""
    return (f"{_DESCRIPTOR} message S {{ optional bool {name} = 1; }} extend google.protobuf.MessageOptions "
            f"{{ optional bool {name} = 5000; optional S s = 5001; }} "
            f"message X {{ option (.{name}) = true; option (s).{name} = true; }}")  # fmt: skip


# By the syntaxes that each is written for, as in `breaking.FAULTS`.
ODDITIES: dict[str, tuple[str, str]] = {
    "json-name-own": ("p", 'message X { ~int32 a_b = 1 [json_name="aB"]; ~int32 aB = 2 [json_name="aB"]; }'),
    "json-name-best-effort": ("e", 'option features.json_format = LEGACY_BEST_EFFORT; message X { int32 a_b = 1 [json_name="aB"]; int32 aB = 2; }'),
    "json-name-lenient": ("pqe", f'message X {{ {_LENIENT} ~int32 a = 1 [json_name="z"]; ~int32 b = 2 [json_name="z"]; }}'),
    "json-name-bracket-lenient": ("pqe", f'message X {{ {_LENIENT} ~int32 a = 1 [json_name="[a]"]; }}'),
    "json-name-of-extension-own": ("pe", 'message X { extensions 1; } extend X { ~int32 e_f = 1 [json_name="eF"]; }'),
    "enum-clash-lenient": ("p", f"enum X {{ {_LENIENT} X_A = 0; A = 1; }}"),
    "option-features": ("p", _named("features")),
    "option-map-entry": ("p", _named("map_entry")),
    "option-uninterpreted": ("p", _named("uninterpreted_option")),
    "group-in-text": ("p", _option("optional group Gr = 1 { }", "Gr { } ")),
    "group-like-in-text": ("e", _option(f"message Gr {{ }} Gr gr = 1 {_GROUP};", "Gr { }")),
    "group-like-own-name": ("e", _option(f"message Gr {{ }} Gr gr = 1 {_GROUP};", "gr { }")),
    "delimited-map": ("e", f"{_DELIMITED} message X {{ map<int32, X> a = 1 [lazy = true]; }}"),
    "delimited-map-in-option": ("e", _DELIMITED + _option("map<int32, S> m = 1; S s = 2;", "m { key: 1 value { s { } } }")),
    "declaration-enum": ("pe", 'message X { extensions 4 [declaration = { number: 4 full_name: ".a" type: "enum" }]; }'),
    "features-cpp": ("e", 'import "google/protobuf/cpp_features.proto"; option features.(pb.cpp).string_type = CORD;'),
    "features-java": ("f", 'import "google/protobuf/java_features.proto"; message X { option features.(pb.java).nest_in_file_class = YES; }'),
    "features-go": ("e", 'import "google/protobuf/go_features.proto"; option features.(pb.go).api_level = API_HYBRID;'),
    "strict-namespace": ("f", "option features.default_symbol_visibility = STRICT; message X { reserved 1 to max; export enum E { E_A = 0; } }"),
    "lite-service": ("pq", "option optimize_for = LITE_RUNTIME; option py_generic_services = true; service X { }"),
    "declaration-digit": ("pe", 'message X { extensions 4 [declaration = { number: 4 full_name: ".a.1" type: "int32" }]; }'),
    "java-string-check": ("e", "option java_string_check_utf8 = false;"),
    "comment-control": ("pqe", "// \x01\n/* \x02 */"),
    **{
        f"removed-{place}": ("p", _option("reserved 'old';", text))
        for place, text in enumerate((
            "old: -inf, old: 'a' 'b'; old: x", "old < x: [1, { }, [], [-1.5]] [a.b]: 1 [a.b/c.d] { } >", "old: 99999999999999999999",
        ))
    },
}  # fmt: skip


def alone() -> Iterator[tuple[str, str]]:
    """Yield each in a file of each of its syntaxes: its name, and the file."""
    yield from breaking.in_files(ODDITIES)
