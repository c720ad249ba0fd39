//! The parts that a build of volley may leave out: cargo's features.

use std::sync::LazyLock;

pub use volley_base::Lacks;

/// All parts, and whether they are there. Cargo.toml says what each is for.
const PARTS: [(&str, bool); 6] = [
    ("brotli", cfg!(feature = "brotli")),
    ("control", cfg!(feature = "control")),
    ("edit", cfg!(feature = "edit")),
    ("import", cfg!(feature = "import")),
    ("lua", cfg!(feature = "lua")),
    ("zstd", cfg!(feature = "zstd")),
];

/// The version, and how it was built, such as `0.1.0 (release; features: edit lua)`.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let there = PARTS.iter().filter(|(_, is_there)| *is_there);
    let mut names: Vec<&str> = there.map(|(name, _)| *name).collect();
    if names.is_empty() {
        names.push("none");
    }
    format!(
        "{} ({}; features: {})",
        env!("CARGO_PKG_VERSION"),
        env!("VOLLEY_PROFILE"),
        names.join(" ")
    )
});

/// Whether a part is there.
///
/// # Errors
///
/// It is not.
pub fn need(part: &'static str) -> Result<(), Lacks> {
    match PARTS.contains(&(part, true)) {
        true => Ok(()),
        false => Err(Lacks(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_named_with_a_remedy() {
        for (part, is_there) in PARTS {
            assert_eq!(need(part).is_ok(), is_there);
        }
        let line = need("grpc").unwrap_err().to_string();
        assert!(
            line.contains("`grpc`") && line.contains("cargo install"),
            "{line}"
        );
    }
}
