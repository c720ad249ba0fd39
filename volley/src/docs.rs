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

macro_rules! pages {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../docs/man/volley-", $name, ".1")))),*]
    };
}

/// Those of its commands.
pub const PAGES: [(&str, &str); 15] = pages! {
    "blast" "check" "compare" "completions" "describe" "edit" "find" "import" "list" "man" "merge" "run"
    "schema" "serve" "try"
};

/// The text of a name.
#[must_use]
pub fn text(of: &[(&str, &'static str)], name: &OsStr) -> Option<&'static str> {
    let found = of.iter().find(|(known, _)| name == *known);
    found.map(|(_, text)| *text)
}
