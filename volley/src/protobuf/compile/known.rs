//! The schemas that every compiler brings along.

/// The text of a well-known file.
pub(super) fn text(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix("google/protobuf/")? {
        "any.proto" => include_str!("known/any.proto"),
        "api.proto" => include_str!("known/api.proto"),
        "compiler/plugin.proto" => include_str!("known/plugin.proto"),
        "descriptor.proto" => include_str!("known/descriptor.proto"),
        "duration.proto" => include_str!("known/duration.proto"),
        "empty.proto" => include_str!("known/empty.proto"),
        "field_mask.proto" => include_str!("known/field_mask.proto"),
        "source_context.proto" => include_str!("known/source_context.proto"),
        "struct.proto" => include_str!("known/struct.proto"),
        "timestamp.proto" => include_str!("known/timestamp.proto"),
        "type.proto" => include_str!("known/type.proto"),
        "wrappers.proto" => include_str!("known/wrappers.proto"),
        _ => return None,
    })
}
