"""Breaks a file on purpose, in one place."""

from collections.abc import Iterator
from random import Random

from tools.compare_protoc.formatting import tokens

_TEXT = ('import "google/protobuf/descriptor.proto"; message M { reserved "old"; optional int32 r = 1; } '
         "extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz) = { %s }; }")  # fmt: skip

# A declaration with one fault, by the syntaxes that it is written for: p proto2, q proto3, e editions, f edition 2024
# alone. `~` stands for `optional `, which an edition leaves out.
FAULTS: dict[str, tuple[str, str]] = {
    "number-twice": ("pqe", "message X { ~int32 a = 1; ~int32 b = 1; }"),
    "name-twice": ("pqe", "message X { ~int32 a = 1; ~int32 a = 2; }"),
    "message-twice": ("pqe", "message X {} message X {}"),
    "message-and-enum": ("pqe", "message X {} enum X { X_A = 0; }"),
    "json-name-twice": ("pqe", "message X { ~int32 a_b = 1; ~int32 aB = 2; }"),
    "json-name-set-twice": ("pqe", 'message X { ~int32 a = 1 [json_name="z"]; ~int32 z = 2; }'),
    "json-name-own-twice": ("p", 'message X { ~int32 a = 1 [json_name="z"]; ~int32 b = 2 [json_name="z"]; }'),
    "json-name-empty": ("pqe", 'message X { ~int32 a = 1 [json_name=""]; }'),
    "json-name-bracket": ("pqe", 'message X { ~int32 a = 1 [json_name="[a]"]; }'),
    "json-name-nul": ("pqe", r'message X { ~int32 a = 1 [json_name="a\0b"]; }'),
    "json-name-of-extension": ("p", 'message X { extensions 1; } extend X { optional int32 e = 1 [json_name="f"]; }'),
    "json-name-number": ("pqe", "message X { ~int32 a = 1 [json_name=3]; }"),
    "number-zero": ("pqe", "message X { ~int32 a = 0; }"),
    "number-negative": ("pqe", "message X { ~int32 a = -1; }"),
    "number-too-large": ("pqe", "message X { ~int32 a = 536870912; }"),
    "number-huge": ("pqe", "message X { ~int32 a = 99999999999999999999; }"),
    "number-of-implementation": ("pqe", "message X { ~int32 a = 19500; }"),
    "number-missing": ("pqe", "message X { ~int32 a; }"),
    "number-float": ("pqe", "message X { ~int32 a = 1.0; }"),
    "number-octal-wrong": ("pqe", "message X { ~int32 a = 08; }"),
    "number-hex-wrong": ("pqe", "message X { ~int32 a = 0x; }"),
    "number-word": ("pqe", "message X { ~int32 a = 1x; }"),
    "reserved-number": ("pqe", "message X { reserved 5; ~int32 a = 5; }"),
    "reserved-range": ("pqe", "message X { reserved 5 to 9; ~int32 a = 7; }"),
    "reserved-max": ("pqe", "message X { reserved 5 to max; ~int32 a = 7; }"),
    "reserved-name": ("pq", 'message X { reserved "a"; ~int32 a = 5; }'),
    "reserved-ident": ("pq", "message X { reserved a; }"),
    "reserved-string": ("e", 'message X { reserved "a"; }'),
    "reserved-ident-used": ("e", "message X { reserved a; int32 a = 1; }"),
    "reserved-overlap": ("pqe", "message X { reserved 5 to 9, 7; }"),
    "reserved-name-twice": ("pq", 'message X { reserved "a", "a"; }'),
    "reserved-backwards": ("pqe", "message X { reserved 9 to 5; }"),
    "reserved-mixed": ("pq", 'message X { reserved 1, "a"; }'),
    "reserved-empty": ("pqe", "message X { reserved; }"),
    "reserved-zero": ("pqe", "message X { reserved 0; }"),
    "reserved-negative": ("pqe", "message X { reserved -1; }"),
    "reserved-no-name": ("pq", 'message X { reserved "a b"; }'),
    "reserved-comma": ("pqe", "message X { reserved 1,; }"),
    "extensions-in-proto3": ("q", "message X { extensions 100; }"),
    "extensions-overlap": ("pe", "message X { extensions 100 to 200; extensions 150; }"),
    "extensions-and-reserved": ("pe", "message X { extensions 100 to 200; reserved 150; }"),
    "extensions-and-field": ("pe", "message X { extensions 100 to 200; ~int32 a = 150; }"),
    "extensions-backwards": ("pe", "message X { extensions 200 to 100; }"),
    "extensions-zero": ("pe", "message X { extensions 0 to 100; }"),
    "extensions-too-large": ("pe", "message X { extensions 100 to 536870912; }"),
    "extension-outside": ("pe", "message X { extensions 100; } extend X { ~int32 zz = 101; }"),
    "extension-twice": ("pe", "message X { extensions 100; } extend X { ~int32 zz = 100; ~int32 yy = 100; }"),
    "extension-required": ("p", "message X { extensions 100; } extend X { required int32 zz = 100; }"),
    "extension-unlabelled": ("p", "message X { extensions 100; } extend X { int32 zz = 100; }"),
    "extension-in-oneof": ("p", "message X { extensions 100; } extend X { oneof o { int32 zz = 100; } }"),
    "extension-map": ("pe", "message X { extensions 100; } extend X { map<int32, int32> zz = 100; }"),
    "extend-nothing": ("pqe", "extend Nowhere { ~int32 zz = 100; }"),
    "extend-enum": ("pqe", "enum X { X_A = 0; } extend X { ~int32 zz = 100; }"),
    "extend-empty": ("pe", "message X { extensions 100; } extend X { }"),
    "extend-in-proto3": ("q", "message X { } extend X { int32 zz = 100; }"),
    "extension-undeclared": ("pe", 'message X { extensions 4 [declaration = { number: 4 full_name: ".a.b" type: "int32" }]; } extend X { ~int32 zz = 4; }'),
    "declaration-outside": ("pe", 'message X { extensions 4 [declaration = { number: 9 full_name: ".a.b" type: "int32" }]; }'),
    "declaration-no-dot": ("pe", 'message X { extensions 4 [declaration = { number: 4 full_name: "a.b" type: "int32" }]; }'),
    "declaration-unverified": ("pe", 'message X { extensions 4 [declaration = { number: 4 full_name: ".a" type: "int32" }, verification = UNVERIFIED]; }'),
    "message-set-field": ("p", "message X { option message_set_wire_format = true; optional int32 a = 1; extensions 100; }"),
    "message-set-no-range": ("p", "message X { option message_set_wire_format = true; }"),
    "message-set-scalar": ("p", "message X { option message_set_wire_format = true; extensions 4 to max; } extend X { optional int32 zz = 100; }"),
    "message-set-in-proto3": ("q", "message X { option message_set_wire_format = true; }"),
    "label-missing": ("p", "message X { int32 a = 1; }"),
    "label-required": ("qe", "message X { required int32 a = 1; }"),
    "label-optional": ("e", "message X { optional int32 a = 1; }"),
    "label-twice": ("pq", "message X { optional repeated int32 a = 1; }"),
    "label-on-map": ("pqe", "message X { repeated map<int32, int32> a = 1; }"),
    "label-in-oneof": ("pqe", "message X { oneof o { optional int32 a = 1; } }"),
    "label-on-group": ("q", "message X { optional group G = 1 {} }"),
    "oneof-empty": ("pqe", "message X { oneof o { } }"),
    "oneof-map": ("pqe", "message X { oneof o { map<int32, int32> a = 1; } }"),
    "oneof-name-twice": ("pqe", "message X { oneof a { int32 a = 1; } }"),
    "oneof-twice": ("pqe", "message X { oneof o { int32 a = 1; } oneof o { int32 b = 2; } }"),
    "oneof-number": ("pqe", "message X { oneof o { int32 a = 1; int32 b = 1; } }"),
    "oneof-message": ("pqe", "message X { oneof o { message Y {} } }"),
    "oneof-synthetic-clash": ("q", "message X { optional int32 a = 1; int32 _a = 2; }"),
    "map-key-float": ("pqe", "message X { map<float, int32> a = 1; }"),
    "map-key-bytes": ("pqe", "message X { map<bytes, int32> a = 1; }"),
    "map-key-message": ("pqe", "message X { map<X, int32> a = 1; }"),
    "map-key-enum": ("pqe", "message X { enum E { E_A = 0; } map<E, int32> a = 1; }"),
    "map-value-map": ("pqe", "message X { map<int32, map<int32, int32>> a = 1; }"),
    "map-value-repeated": ("pqe", "message X { map<int32, repeated int32> a = 1; }"),
    "map-entry-clash": ("pqe", "message X { map<int32, int32> a = 1; message AEntry {} }"),
    "map-entry-option": ("pqe", "message X { option map_entry = true; }"),
    "map-entry-false": ("pqe", "message X { option map_entry = false; }"),
    "map-entry-used": ("pqe", "message X { map<int32, int32> a = 1; ~AEntry b = 2; }"),
    "map-enum-no-zero": ("p", "enum E { E_A = 1; } message X { map<int32, E> a = 1; }"),
    "map-two-types": ("pqe", "message X { map<int32> a = 1; }"),
    "group-lower": ("p", "message X { optional group g = 1 {} }"),
    "group-in-edition": ("e", "message X { group G = 1 {} }"),
    "group-clash": ("p", "message X { optional group G = 1 {} optional int32 g = 2; }"),
    "group-no-body": ("p", "message X { optional group G = 1; }"),
    "type-unknown": ("pqe", "message X { ~Nowhere a = 1; }"),
    "type-unknown-full": ("pqe", "message X { ~.no.where.At a = 1; }"),
    "type-shadowed": ("pqe", "message X { message Y { } ~Y.Z a = 1; }"),
    "type-is-field": ("pqe", "message X { ~int32 b = 1; ~b a = 2; }"),
    "type-is-value": ("pqe", "enum E { E_A = 0; } message X { ~E_A a = 2; }"),
    "type-is-package": ("pqe", "message X { ~google a = 2; }"),
    "type-is-service": ("pqe", "service S {} message X { ~S a = 2; }"),
    "enum-empty": ("pqe", "enum X { }"),
    "enum-first-not-zero": ("qe", "enum X { X_A = 1; }"),
    "enum-value-twice": ("pqe", "enum X { X_A = 0; X_A = 1; }"),
    "enum-value-clash": ("pqe", "enum X { V_A = 0; } enum Y { V_A = 0; }"),
    "enum-prefix-clash": ("qe", "enum X { X_A = 0; A = 1; }"),
    "enum-case-clash": ("qe", "enum X { AA_BB = 0; aaBb = 1; }"),
    "enum-alias": ("pqe", "enum X { X_A = 0; X_B = 0; }"),
    "enum-alias-false": ("pqe", "enum X { option allow_alias = false; X_A = 0; X_B = 0; }"),
    "enum-alias-needless": ("pqe", "enum X { option allow_alias = true; X_A = 0; X_B = 1; }"),
    "enum-too-large": ("pqe", "enum X { X_A = 0; X_B = 2147483648; }"),
    "enum-too-small": ("pqe", "enum X { X_A = 0; X_B = -2147483649; }"),
    "enum-reserved": ("pqe", "enum X { reserved 1; X_A = 0; X_B = 1; }"),
    "enum-reserved-name": ("pq", 'enum X { reserved "X_B"; X_A = 0; X_B = 1; }'),
    "enum-reserved-overlap": ("pqe", "enum X { reserved -5 to 5, 3; X_A = 6; X_C = 0; }"),
    "enum-no-number": ("pqe", "enum X { X_A; }"),
    "enum-default": ("p", "enum E { E_A = 0; } message X { optional E a = 1 [default = E_B]; }"),
    "enum-default-number": ("p", "enum E { E_A = 0; } message X { optional E a = 1 [default = 0]; }"),
    "enum-closed-in-proto3": ("q", "message X { .google.protobuf.FieldOptions.CType a = 1; }"),
    "default-in-proto3": ("q", "message X { int32 a = 1 [default = 1]; }"),
    "default-twice": ("pe", "message X { ~int32 a = 1 [default = 1, default = 2]; }"),
    "default-type": ("pe", 'message X { ~int32 a = 1 [default = "1"]; }'),
    "default-real": ("pe", "message X { ~int32 a = 1 [default = 1.5]; }"),
    "default-range": ("pe", "message X { ~int32 a = 1 [default = 2147483648]; }"),
    "default-range-64": ("pe", "message X { ~int64 a = 1 [default = 9223372036854775808]; }"),
    "default-range-u64": ("pe", "message X { ~uint64 a = 1 [default = 18446744073709551616]; }"),
    "default-negative": ("pe", "message X { ~uint32 a = 1 [default = -1]; }"),
    "default-minus-zero": ("pe", "message X { ~uint32 a = 1 [default = -0]; }"),
    "default-bool": ("pe", "message X { ~bool a = 1 [default = 1]; }"),
    "default-bool-word": ("pe", "message X { ~bool a = 1 [default = True]; }"),
    "default-repeated": ("pe", "message X { repeated int32 a = 1 [default = 1]; }"),
    "default-message": ("pe", "message X { ~X a = 1 [default = {}]; }"),
    "default-string": ("pe", "message X { ~string a = 1 [default = a]; }"),
    "default-utf8": ("pe", r'message X { ~string a = 1 [default = "\xff"]; }'),
    "default-word": ("pe", "message X { ~double a = 1 [default = infinity]; }"),
    "default-implicit": ("e", "message X { int32 a = 1 [default = 1, features.field_presence = IMPLICIT]; }"),
    "option-unknown": ("pqe", "message X { option nowhere = 1; }"),
    "option-unknown-custom": ("pqe", "message X { option (nowhere) = 1; }"),
    "option-twice": ("pqe", "message X { option deprecated = true; option deprecated = true; }"),
    "option-type": ("pqe", "message X { option deprecated = 1; }"),
    "option-type-text": ("pqe", 'message X { option deprecated = "true"; }'),
    "option-no-value": ("pqe", "message X { option deprecated; }"),
    "option-aggregate": ("pqe", "message X { option deprecated = { a: 1 }; }"),
    "option-dotted": ("pqe", "message X { option deprecated.x = true; }"),
    "option-uninterpreted": ("pqe", "option uninterpreted_option = { };"),
    "option-uninterpreted-custom": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.FileOptions { optional int32 uninterpreted_option = 5000; } option (uninterpreted_option) = 1;'),
    "option-enum-number": ("pqe", "message X { ~string a = 1 [ctype = 1]; }"),
    "option-enum-unknown": ("pqe", "message X { ~string a = 1 [ctype = NOWHERE]; }"),
    "option-bracket-empty": ("pqe", "message X { ~string a = 1 []; }"),
    "option-bracket-comma": ("pqe", "message X { ~string a = 1 [deprecated = true,]; }"),
    "option-target": ("pqe", "message X { option java_package = 'x'; }"),
    "ctype-of-int": ("pqe", "message X { ~int32 a = 1 [ctype = CORD]; }"),
    "jstype-of-int32": ("pqe", "message X { ~int32 a = 1 [jstype = JS_STRING]; }"),
    "lazy-of-int": ("pqe", "message X { ~int32 a = 1 [lazy = true]; }"),
    "packed-of-string": ("pq", "message X { repeated string a = 1 [packed = true]; }"),
    "packed-of-single": ("pq", "message X { ~int32 a = 1 [packed = true]; }"),
    "packed-in-edition": ("e", "message X { repeated int32 a = 1 [packed = true]; }"),
    "weak-field": ("pqe", "message X { ~X a = 1 [weak = true]; }"),
    "feature-in-old": ("pq", "message X { ~int32 a = 1 [features.field_presence = EXPLICIT]; }"),
    "feature-unknown": ("e", "message X { int32 a = 1 [features.nowhere = EXPLICIT]; }"),
    "feature-value": ("e", "message X { int32 a = 1 [features.field_presence = NOWHERE]; }"),
    "feature-value-zero": ("e", "message X { int32 a = 1 [features.field_presence = FIELD_PRESENCE_UNKNOWN]; }"),
    "feature-target": ("e", "message X { int32 a = 1 [features.enum_type = OPEN]; }"),
    "feature-presence-repeated": ("e", "message X { repeated int32 a = 1 [features.field_presence = EXPLICIT]; }"),
    "feature-presence-oneof": ("e", "message X { oneof o { int32 a = 1 [features.field_presence = EXPLICIT]; } }"),
    "feature-implicit-message": ("e", "message X { X a = 1 [features.field_presence = IMPLICIT]; }"),
    "feature-implicit-closed": ("e", "enum E { option features.enum_type = CLOSED; E_A = 0; } message X { E a = 1 [features.field_presence = IMPLICIT]; }"),
    "feature-encoding-single": ("e", "message X { int32 a = 1 [features.repeated_field_encoding = PACKED]; }"),
    "feature-packed-string": ("e", "message X { repeated string a = 1 [features.repeated_field_encoding = PACKED]; }"),
    "feature-utf8-int": ("e", "message X { int32 a = 1 [features.utf8_validation = NONE]; }"),
    "feature-delimited-int": ("e", "message X { int32 a = 1 [features.message_encoding = DELIMITED]; }"),
    "feature-delimited-map": ("e", "message X { map<int32, X> a = 1 [features.message_encoding = DELIMITED]; }"),
    "feature-required-extension": ("e", "message X { extensions 9; } extend X { int32 zz = 9 [features.field_presence = LEGACY_REQUIRED]; }"),
    "feature-required-file": ("e", "option features.field_presence = LEGACY_REQUIRED;"),
    "feature-twice": ("e", "message X { int32 a = 1 [features.field_presence = EXPLICIT, features.field_presence = IMPLICIT]; }"),
    "feature-own-file": ("e", 'import "google/protobuf/descriptor.proto"; message F { bool a = 1 [targets = TARGET_TYPE_FILE, edition_defaults = { edition: EDITION_LEGACY value: "true" }, feature_support = { edition_introduced: EDITION_2023 }]; } extend google.protobuf.FeatureSet { F f = 9999; } option features.(f).a = true;'),
    "feature-cpp-target": ("e", 'import "google/protobuf/cpp_features.proto"; message X { option features.(pb.cpp).string_type = CORD; }'),
    "feature-cpp-edition": ("e", 'import "google/protobuf/cpp_features.proto"; option features.(pb.cpp).enum_name_uses_string_view = true;'),
    "feature-java-value": ("f", 'import "google/protobuf/java_features.proto"; message X { option features.(pb.java).nest_in_file_class = LEGACY; }'),
    "feature-delimited-lazy": ("e", "option features.message_encoding = DELIMITED; message X { X a = 1 [lazy = true]; }"),
    "support-order": ("pqe", 'message X { ~int32 a = 1 [feature_support = { edition_introduced: EDITION_2024 edition_deprecated: EDITION_2023 deprecation_warning: "x" }]; }'),
    "support-no-warning": ("pqe", "message X { ~int32 a = 1 [feature_support = { edition_deprecated: EDITION_2023 }]; }"),
    "support-no-removal-error": ("pqe", "enum X { X_A = 0 [feature_support = { edition_removed: EDITION_2023 }]; }"),
    "feature-closed-no-zero": ("e", "enum X { option features.enum_type = CLOSED; X_A = 1; }"),
    "visibility": ("e", "local message X { }"),
    "strict-message": ("f", "option features.default_symbol_visibility = STRICT; message X { reserved 1 to max; export message Y { } }"),
    "strict-exported": ("f", "option features.default_symbol_visibility = STRICT; export message X { reserved 1 to max; export enum E { E_A = 0; } }"),
    "strict-nested": ("f", "option features.default_symbol_visibility = STRICT; message X { reserved 1 to max; message Y { reserved 1 to max; export enum E { E_A = 0; } } }"),
    "lite-cc-service": ("pqe", "option optimize_for = LITE_RUNTIME; option cc_generic_services = true; service X { }"),
    "lite-java-service": ("pqe", "option optimize_for = LITE_RUNTIME; option java_generic_services = true; service X { }"),
    "service-message": ("pqe", "service X { message Y {} }"),
    "rpc-twice": ("pqe", "message Y {} service X { rpc A (Y) returns (Y); rpc A (Y) returns (Y); }"),
    "rpc-scalar": ("pqe", "service X { rpc A (int32) returns (int32); }"),
    "rpc-enum": ("pqe", "enum E { E_A = 0; } service X { rpc A (E) returns (E); }"),
    "rpc-unknown": ("pqe", "service X { rpc A (Nowhere) returns (Nowhere); }"),
    "rpc-no-returns": ("pqe", "message Y {} service X { rpc A (Y); }"),
    "rpc-no-end": ("pqe", "message Y {} service X { rpc A (Y) returns (Y) }"),
    "rpc-body": ("pqe", "message Y {} service X { rpc A (Y) returns (Y) { int32 x = 1; } }"),
    "rpc-streams": ("pqe", "message Y {} service X { rpc A (stream stream Y) returns (Y); }"),
    "rpc-old-stream": ("p", "message Y {} service X { stream A (Y, Y); }"),
    "import-missing": ("pqe", 'import "no/where.proto";'),
    "import-twice": ("pqe", 'import "google/protobuf/empty.proto"; import "google/protobuf/empty.proto";'),
    "import-self": ("pqe", 'import "root.proto";'),
    "import-backslash": ("pqe", r'import "google\\protobuf\\empty.proto";'),
    "import-dots": ("pqe", 'import "./google/protobuf/empty.proto";'),
    "import-slashes": ("pqe", 'import "google//protobuf/empty.proto";'),
    "import-word": ("pqe", "import google;"),
    "import-not-used": ("pqe", 'import "google/protobuf/type.proto";'),
    "import-option": ("pqe", 'import option "google/protobuf/empty.proto";'),
    "import-lazy": ("pqe", 'import lazy "google/protobuf/empty.proto";'),
    "import-transitive": ("pqe", 'import "google/protobuf/type.proto"; message X { ~google.protobuf.Any a = 1; }'),
    "package-twice": ("pqe", "package a.b; package c;"),
    "package-keyword": ("pqe", "package message.enum;"),
    "package-dot": ("pqe", "package .a;"),
    "package-dots": ("pqe", "package a..b;"),
    "package-number": ("pqe", "package a.1;"),
    "package-string": ("pqe", 'package "a";'),
    "syntax-late": ("pqe", 'syntax = "proto3";'),
    "edition-late": ("pqe", 'edition = "2023";'),
    "unterminated-string": ("pqe", 'option java_package = "x;'),
    "unterminated-comment": ("pqe", "/* no end"),
    "comment-nul": ("pqe", "// a\0b\n"),
    "comment-nul-in-block": ("pqe", "/* a\0b */"),
    "nested-comment": ("pqe", "/* /* */ */"),
    "unterminated-message": ("pqe", "message X { "),
    "closed-twice": ("pqe", "message X { } }"),
    "no-semicolon": ("pqe", "message X { ~int32 a = 1 }"),
    "two-semicolons": ("pqe", "message X { ~int32 a = 1;; };;"),
    "string-newline": ("pqe", 'option java_package = "x\ny";'),
    "string-escape": ("pqe", r'option java_package = "\q";'),
    "string-hex": ("pqe", r'option java_package = "\xzz";'),
    "string-octal": ("pqe", r'option java_package = "\9";'),
    "string-unicode": ("pqe", r'option java_package = "\u12";'),
    "string-unicode-long": ("pqe", r'option java_package = "\U00110000";'),
    "string-surrogate": ("pqe", r'option java_package = "\ud800";'),
    "string-octal-large": ("pqe", r'option java_package = "\777";'),
    "string-nul": ("pqe", 'option java_package = "a\0b";'),
    "string-not-utf8": ("pqe", 'option java_package = "\udcff";'),
    "char-control": ("pqe", "message X { \x01 }"),
    "char-nul": ("pqe", "message X { \0 }"),
    "char-letter": ("pqe", "message É { }"),
    "char-hash": ("pqe", "# comment\n"),
    "char-at": ("pqe", "@ message X { }"),
    "char-no-break": ("pqe", "message\xa0X { }"),
    "name-number": ("pqe", "message 1X { }"),
    "name-dotted": ("pqe", "message X.Y { }"),
    "name-dash": ("pqe", "message X-Y { }"),
    "name-of-type": ("pqe", "message int32 { ~int32 a = 1; }"),
    "name-clash-package": ("pqe", "package dd.ee; message dd { } "),
    "number-with-name": ("pqe", "message X { ~int32 a = 1[deprecated=true]; ~int32 b=2a; }"),
    "field-named-in-scope": ("pqe", "message X { message a { } ~int32 a = 1; }"),
    "deep": ("pqe", "message X { " * 40 + "}" * 40),
    "lone-word": ("pqe", "messages X { }"),
    "style": ("e", "option features.enforce_naming_style = STYLE2024; message lower_x { }"),
    "custom-own": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.MessageOptions { optional int32 zz = 5000; } message X { option (zz) = "a"; }'),
    "custom-range": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.MessageOptions { optional int32 zz = 5000; } message X { option (zz) = 2147483648; }'),
    "custom-twice": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.MessageOptions { optional int32 zz = 5000; } message X { option (zz) = 1; option (zz) = 2; }'),
    "custom-elsewhere": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.MessageOptions { optional int32 zz = 5000; } message X { ~int32 a = 1 [(zz) = 1]; }'),
    "custom-no-brackets": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.MessageOptions { optional int32 zz = 5000; } message X { option zz = 1; }'),
    "custom-required": ("p", 'import "google/protobuf/descriptor.proto"; message M { required int32 r = 1; optional int32 o = 2; } extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz) = { o: 1 }; }'),
    "custom-target": ("p", 'import "google/protobuf/descriptor.proto"; extend google.protobuf.MessageOptions { optional int32 zz = 5000 [targets = TARGET_TYPE_FIELD]; } message X { option (zz) = 1; }'),
    "custom-repeated-inner": ("p", 'import "google/protobuf/descriptor.proto"; message M { repeated M r = 1; } extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz).r.r = { }; }'),
    "custom-parts-overlap": ("p", 'import "google/protobuf/descriptor.proto"; message M { optional int32 r = 1; } extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz) = { r: 1 }; option (zz).r = 2; }'),
    "custom-text-unknown": ("p", 'import "google/protobuf/descriptor.proto"; message M { optional int32 r = 1; } extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz) = { s: 1 }; }'),
    "custom-text-twice": ("p", 'import "google/protobuf/descriptor.proto"; message M { optional int32 r = 1; } extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz) = { r: 1 r: 2 }; }'),
    **{
        f"custom-text-removed-{place}": ("p", _TEXT % text)
        for place, text in enumerate((
            "old", "old:", "old: ;", "old: )", "old: +1", "old: -x", "old: -'a'", "old: [1 2]", "old: [1,]", "old: [-x]", "old [1]",
            "old 1", "old { 1 }", "old { x 1 }", "old { x: 1,, y: 2 }", "old < }", "old: x.y",
        ))
    },
    "custom-text-open": ("p", 'import "google/protobuf/descriptor.proto"; message M { optional int32 r = 1; } extend google.protobuf.MessageOptions { optional M zz = 5000; } message X { option (zz) = { r: 1 ; }'),
}  # fmt: skip


_HEADS = {"p": 'syntax = "proto2";\n', "q": 'syntax = "proto3";\n', "e": 'edition = "2023";\n',
          "f": 'edition = "2024";\n'}  # fmt: skip


def alone() -> Iterator[tuple[str, str]]:
    """Yield each fault in a file of each of its syntaxes: its name, and the file."""
    yield from in_files(FAULTS)


def in_files(declarations: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each declaration in a file of each of its syntaxes."""
    for name, (sorts, text) in declarations.items():
        for sort in sorts:
            yield name, _HEADS[sort] + _written(text, sort)


def broken(lot: Random, text: str, syntax: str) -> tuple[str, str]:
    """Return how a file was broken, and the broken file."""
    if lot.random() < 0.25:
        return _with_token(lot, text)
    sort = {"": "p", "proto2": "p", "proto3": "q"}.get(syntax, "e")
    name = lot.choice([name for name, (sorts, _) in FAULTS.items() if sort in sorts])
    return name, text + declared(name, sort)


def declared(name: str, sort: str) -> str:
    """Return the declaration that has a fault, with names of its own."""
    return _written(FAULTS[name][1], sort)


def _written(text: str, sort: str) -> str:
    return text.replace("~", "" if sort in "ef" else "optional ") + "\n"


def _with_token(lot: Random, text: str) -> tuple[str, str]:
    all_tokens = tokens(text)
    place = lot.randrange(len(all_tokens))
    way = lot.choice(["drop", "double", "swap", "other"])
    if way == "drop":
        del all_tokens[place]
    elif way == "double":
        all_tokens.insert(place, all_tokens[place])
    elif way == "swap":
        other = lot.randrange(len(all_tokens))
        pair = all_tokens[other], all_tokens[place]
        all_tokens[place], all_tokens[other] = pair
    else:
        all_tokens[place] = lot.choice(
            ["{", "}", ";", "=", "message", "1", "-", '"x"', "(", ".", "x"]
        )
    return f"token-{way}", _lines(all_tokens)


def _lines(of: list[str]) -> str:
    return " ".join(each + ("\n" if each in {"{", "}", ";"} else "") for each in of)
