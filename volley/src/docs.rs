//! Texts that are made of the code, and kept in `docs/`: `cli::shell` makes them if the feature `docs` is there.

use std::ffi::OsStr;

/// The JSON Schema of a file for `--config`.
pub const CONFIG_SCHEMA: &str = include_str!("../docs/config.schema.json");

/// The JSON Schema of a scenario file.
pub const SCENARIO_SCHEMA: &str = include_str!("../docs/scenario.schema.json");

/// Completions by shell.
pub const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", include_str!("../docs/completions/volley.bash")),
    ("elvish", include_str!("../docs/completions/volley.elv")),
    ("fish", include_str!("../docs/completions/volley.fish")),
    (
        "powershell",
        include_str!("../docs/completions/_volley.ps1"),
    ),
    ("zsh", include_str!("../docs/completions/_volley")),
];

/// The manual page of volley.
pub const PAGE: &str = include_str!("../docs/man/volley.1");

/// Those of its commands.
pub const PAGES: [(&str, &str); 14] = [
    ("blast", include_str!("../docs/man/volley-blast.1")),
    ("check", include_str!("../docs/man/volley-check.1")),
    ("compare", include_str!("../docs/man/volley-compare.1")),
    (
        "completions",
        include_str!("../docs/man/volley-completions.1"),
    ),
    ("describe", include_str!("../docs/man/volley-describe.1")),
    ("edit", include_str!("../docs/man/volley-edit.1")),
    ("import", include_str!("../docs/man/volley-import.1")),
    ("list", include_str!("../docs/man/volley-list.1")),
    ("man", include_str!("../docs/man/volley-man.1")),
    ("merge", include_str!("../docs/man/volley-merge.1")),
    ("run", include_str!("../docs/man/volley-run.1")),
    ("schema", include_str!("../docs/man/volley-schema.1")),
    ("serve", include_str!("../docs/man/volley-serve.1")),
    ("try", include_str!("../docs/man/volley-try.1")),
];

/// The text of a name.
#[must_use]
pub fn text(of: &[(&str, &'static str)], name: &OsStr) -> Option<&'static str> {
    let found = of.iter().find(|(known, _)| name == *known);
    found.map(|(_, text)| *text)
}
