//! The layers of a crate: its `lib.rs` lists its modules, and each uses only itself and those above it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// From the lowest up.
fn layers(lib: &str) -> Vec<&str> {
    let lines = lib.lines();
    let named = lines.filter_map(|line| line.strip_prefix("//! - "));
    // Its words begin otherwise.
    let named = named.filter(|line| line.starts_with(['`', '[']));
    let names = named.filter_map(|line| line.split('`').nth(1));
    names.collect()
}

/// The layer of a module: the one with the longest name that it begins with.
fn layer(layers: &[&str], module: &str) -> Option<usize> {
    let is_in = |name: &str| {
        let rest = module.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let within = layers.iter().enumerate().filter(|(_, name)| is_in(name));
    within.max_by_key(|(_, name)| name.len()).map(|(at, _)| at)
}

/// Every source file: its module, and its text without tests and comments.
fn sources(folder: &Path, module: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let inner = match (module, name) {
            (_, "mod") => module.to_owned(),
            ("", _) => name.to_owned(),
            _ => format!("{module}::{name}"),
        };
        if path.is_dir() {
            sources(&path, &inner, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(str::trim_start);
            let code = lines.filter(|line| !line.starts_with("//"));
            found.push((inner, code.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// The code of a file before its tests, and the modules that only tests have.
fn without_tests<'a>(module: &str, code: &'a str) -> (&'a str, Vec<String>) {
    let mut of_tests = Vec::new();
    for (at, mark) in code.match_indices("#[cfg(test)]\n") {
        let item = code[at + mark.len()..].lines().next().unwrap_or_default();
        match item.split_once("mod ").map(|(_, name)| name) {
            Some(name) if name.ends_with('{') => return (&code[..at], of_tests),
            Some(name) => of_tests.push(format!("{module}::{}", name.trim_end_matches(';'))),
            None => {}
        }
    }
    (code, of_tests)
}

/// The paths after `crate::`, as far as they are modules or names in lower case.
fn used(code: &str) -> BTreeSet<&str> {
    let is_path = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
    let after = code.split("crate::").skip(1);
    let paths = after.map(|rest| rest.split(|c| !is_path(c)).next().unwrap_or_default());
    paths.map(|path| path.trim_end_matches(':')).collect()
}

/// Holds the files of a crate's `src` against the list in its `lib.rs`.
///
/// # Panics
///
/// A module uses one below it.
pub fn check(src: &Path) {
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let layers = layers(&lib);
    let mut files = Vec::new();
    sources(src, "", &mut files);
    let of_tests = files
        .iter()
        .flat_map(|(module, code)| without_tests(module, code).1);
    let of_tests: Vec<String> = of_tests.chain(["testkit".to_owned()]).collect();
    let of_tests: Vec<&str> = of_tests.iter().map(String::as_str).collect();
    let is_test = |module: &str| {
        let mut parts = module.split("::");
        parts.any(|part| part == "tests") || layer(&of_tests, module).is_some()
    };
    let mut wrong = Vec::new();
    for (module, code) in files.iter().filter(|(module, _)| !is_test(module)) {
        let own = layer(&layers, module);
        if own.is_none() && !["lib", "main"].contains(&&**module) {
            wrong.push(format!("{module} is not in the list"));
        }
        for path in used(without_tests(module, code).0) {
            if layer(&layers, path) > own && own.is_some() {
                wrong.push(format!("{module} uses {path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_the_check_reads_is_there() {
    let layers = layers("//! - [`a`]: x\n//! - [`a::b`]: y\n");
    assert_eq!(layer(&layers, "a::b::c"), layer(&layers, "a::b"));
    assert!(layer(&layers, "a::c") < layer(&layers, "a::b"));
    let code = "use crate::a::b::C;\n#[cfg(test)]\nmod samples;\nuse crate::d;\n#[cfg(test)]\nmod tests {\nuse crate::e;\n}";
    let (code, of_tests) = without_tests("m", code);
    assert_eq!(used(code), BTreeSet::from(["a::b", "d"]));
    assert_eq!(of_tests, ["m::samples"]);
}
