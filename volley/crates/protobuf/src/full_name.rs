//! Full names: `package.Outer.Inner`.

/// The longest full name. The pool of descriptors takes none that is longer.
pub const LONGEST: usize = buffa_descriptor::MAX_SYMBOL_LEN;

/// A name inside of a scope.
#[must_use]
pub fn join(scope: &str, name: &str) -> String {
    match scope.is_empty() {
        true => name.to_owned(),
        false => format!("{scope}.{name}"),
    }
}

/// The last of the names in a full one.
#[must_use]
pub fn last(full: &str) -> &str {
    full.rsplit_once('.').map_or(full, |(_, last)| last)
}

/// What is before it.
#[must_use]
pub fn scope(full: &str) -> &str {
    full.rsplit_once('.').map_or("", |(scope, _)| scope)
}
