//! Embeds the page of `volley edit`, if scripts/volley-page.sh has made it.

use std::path::Path;

const FOLDER: &str = "edit/dist";

/// What the page consists of.
const FILES: [&str; 4] = ["page.html", "page.css", "page.js", "licenses.txt"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_page)");
    println!("cargo::rerun-if-changed=build.rs");
    let folder = Path::new(FOLDER);
    // Cargo takes a missing path for one that has changed.
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={FOLDER}");
    }
    if FILES.iter().all(|name| folder.join(name).is_file()) {
        println!("cargo::rustc-cfg=has_page");
    }
}
