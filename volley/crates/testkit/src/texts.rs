//! What a text must say. One that does not is shown, with what it lacks.

/// It has this part.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in: {text}");
}

/// It begins so.
#[track_caller]
pub fn begins(text: &str, start: &str) {
    assert!(
        text.starts_with(start),
        "no `{start}` at the start of: {text}"
    );
}

/// It ends so.
#[track_caller]
pub fn ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "no `{end}` at the end of: {text}");
}
