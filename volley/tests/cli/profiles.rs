//! Cargo.toml: what `release` builds in haste, `dist` builds in full.

use std::collections::BTreeSet;
use std::fs;

use toml::Table;

fn manifest() -> Table {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    text.parse().unwrap()
}

#[test]
fn every_crate_of_the_program_is_optimised_alike() {
    let file = manifest();
    let of = &file["profile"]["release"]["package"];
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/crates")).unwrap() {
        let name = format!("volley-{}", entry.unwrap().file_name().display());
        if name != "volley-testkit" {
            assert_eq!(of.get(&name), Some(&of["volley-grpc"]), "{name}");
        }
    }
}

#[test]
fn dist_optimises_every_package_that_release_does_not() {
    let file = manifest();
    let packages = |profile: &str| file["profile"][profile]["package"].as_table().unwrap();
    let names = |profile| packages(profile).keys().collect::<BTreeSet<_>>();
    assert_eq!(names("release"), names("dist"));
    for (name, of) in packages("dist") {
        assert_eq!(of["opt-level"].as_integer(), Some(3), "{name}");
    }
}
