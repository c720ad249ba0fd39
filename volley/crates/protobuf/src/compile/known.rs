//! The schemas that every compiler brings along.

/// The well-known files: what follows `google/protobuf/` in their names, and their texts.
const FILES: [(&str, &str); 15] = [
    ("any.proto", include_str!("known/any.proto")),
    ("api.proto", include_str!("known/api.proto")),
    ("compiler/plugin.proto", include_str!("known/plugin.proto")),
    (
        "cpp_features.proto",
        include_str!("known/cpp_features.proto"),
    ),
    ("descriptor.proto", include_str!("known/descriptor.proto")),
    ("duration.proto", include_str!("known/duration.proto")),
    ("empty.proto", include_str!("known/empty.proto")),
    ("field_mask.proto", include_str!("known/field_mask.proto")),
    ("go_features.proto", include_str!("known/go_features.proto")),
    (
        "java_features.proto",
        include_str!("known/java_features.proto"),
    ),
    (
        "source_context.proto",
        include_str!("known/source_context.proto"),
    ),
    ("struct.proto", include_str!("known/struct.proto")),
    ("timestamp.proto", include_str!("known/timestamp.proto")),
    ("type.proto", include_str!("known/type.proto")),
    ("wrappers.proto", include_str!("known/wrappers.proto")),
];

/// The text of a well-known file.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("google/protobuf/")?;
    let (_, text) = FILES.iter().find(|(file, _)| *file == name)?;
    Some(text)
}

/// The well-known file that defines a type, such as `google.protobuf.Any`.
pub(super) fn defining(full_name: &str) -> Option<String> {
    let name = full_name.strip_prefix("google.protobuf.")?;
    let starts = ["message", "enum"].map(|word| format!("{word} {name} {{"));
    let is_start = |line: &str| starts.iter().any(|start| line.starts_with(start));
    let defines =
        |text: &str| text.contains("\npackage google.protobuf;") && text.lines().any(is_start);
    let (file, _) = FILES.iter().find(|(_, text)| defines(text))?;
    Some(format!("google/protobuf/{file}"))
}
