//! Cargo.toml: what `release` builds in haste, `dist` builds in full.

use std::collections::BTreeSet;
use std::fs;

use toml::Table;

#[test]
fn dist_optimises_every_package_that_release_does_not() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let file: Table = text.parse().unwrap();
    let packages = |profile: &str| file["profile"][profile]["package"].as_table().unwrap();
    let names = |profile| packages(profile).keys().collect::<BTreeSet<_>>();
    assert_eq!(names("release"), names("dist"));
    for (name, of) in packages("dist") {
        assert_eq!(of["opt-level"].as_integer(), Some(3), "{name}");
    }
}
