//! Any text as a configuration file of h2loadrunner: it is imported, and the new file is sound, or every line that says why
//! names its place.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use volley_scenario::file::{self, How};

fuzz_target!(|input: (bool, &str)| {
    let (as_run, text) = input;
    // No file is beside it.
    let folder = Path::new("/nonexistent");
    let how = How {
        as_run,
        from: folder,
        to: folder,
    };
    match file::import(text, Path::new("old.json"), how) {
        Ok(imported) => {
            let again = file::compile(&imported.yaml(), &folder.join("new.yaml"), &|_| None);
            assert!(again.is_ok(), "{}", again.unwrap_err());
        }
        Err(mistakes) => {
            assert!(!mistakes.all.is_empty());
            for line in mistakes.lines() {
                assert!(line.starts_with("old.json:") && !line.contains('\n'));
            }
        }
    }
});
