//! Notes the profile for `--version`, and embeds the page of `volley edit`, if scripts/volley-page.sh has made it.

use std::env;
use std::path::{Path, PathBuf};

const FOLDER: &str = "edit/dist";

/// What the page consists of.
const FILES: [&str; 4] = ["page.html", "page.css", "page.js", "licenses.txt"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_page)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=VOLLEY_PROFILE={}", profile());
    let folder = Path::new(FOLDER);
    // Cargo takes a missing path for one that has changed.
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={FOLDER}");
    }
    if FILES.iter().all(|name| folder.join(name).is_file()) {
        println!("cargo::rustc-cfg=has_page");
    }
}

/// The profile's own name: cargo's PROFILE is `release` for each that inherits from it. Its folder has the name:
/// `<target>/<profile>/build/<package>/out`.
fn profile() -> String {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let folder = out.ancestors().nth(3).and_then(Path::file_name);
    folder.map_or("unknown".into(), |name| name.to_string_lossy().into_owned())
}
