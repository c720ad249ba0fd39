//! Any text as a scenario file: it is compiled, or every line that says why names its place.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use volley_scenario::file;

fuzz_target!(|text: &str| {
    // No file is beside it.
    let path = Path::new("/nonexistent/fuzz.yaml");
    let env = |name: &str| (name == "KEY").then(|| "k\"\n".to_owned());
    match file::compile(text, path, &env) {
        Ok(plan) => assert!(!plan.scenarios.is_empty() && !plan.steps.is_empty()),
        Err(mistakes) => {
            assert!(!mistakes.all.is_empty());
            for line in mistakes.lines() {
                assert!(line.starts_with("/nonexistent/fuzz.yaml:") && !line.contains('\n'));
            }
        }
    }
});
