//! What a build leaves out.

/// A part that is needed, and left out: one of cargo's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this volley was built without the feature `{0}`: use one with all features (`cargo install --path volley`)"
)]
pub struct Lacks(pub &'static str);
