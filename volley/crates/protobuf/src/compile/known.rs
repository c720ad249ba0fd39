//! The schemas that every compiler brings along.

macro_rules! files {
    ($($name:literal)*) => {
        [$((concat!($name, ".proto"), include_str!(concat!("known/", $name, ".proto")))),*]
    };
}

/// The well-known files: what follows `google/protobuf/` in their names, and their texts.
const FILES: [(&str, &str); 15] = files! {
    "any" "api" "compiler/plugin" "cpp_features" "descriptor" "duration" "empty" "field_mask"
    "go_features" "java_features" "source_context" "struct" "timestamp" "type" "wrappers"
};

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
