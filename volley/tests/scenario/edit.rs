//! `volley edit`, as a program. What its page asks for is tested beside it, and the page in a browser.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{Scratch, command, has};

fn edit(words: &[&Path]) -> Output {
    command(["edit"]).args(words).output().unwrap()
}

/// What it printed to stderr: one line.
fn line(done: &Output) -> String {
    let text = String::from_utf8(done.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn the_licences_of_its_page_are_a_part_of_the_program_or_it_says_how_to_make_the_page() {
    let done = edit(&["--licenses".as_ref()]);
    if cfg!(has_page) {
        let text = String::from_utf8(done.stdout).unwrap();
        has(&text, "json-editor");
        has(&text, "yaml");
        assert_eq!(done.status.code(), Some(0));
    } else {
        assert!(line(&done).contains("./scripts/volley-page.sh"));
        assert_eq!(done.status.code(), Some(3));
    }
}

#[test]
fn a_file_that_cannot_be_edited_is_refused_in_one_line() {
    if !cfg!(has_page) {
        return;
    }
    let folder = Scratch::new();
    let (old, broken) = (folder.path("old.json"), folder.path("broken.yaml"));
    let program = folder.path("program.lua");
    let config = r#"{"schema": "http", "host": "h", "Scenarios": []}"#;
    fs::write(&old, config).unwrap();
    fs::write(&broken, b"\xff").unwrap();
    for (file, reason) in [
        (&old, "volley import h2loadrunner"),
        (&broken, "UTF-8"),
        (&program, "edit it as text"),
        (&folder.path("none/a.yaml"), "its folder is missing"),
        (&folder.path(""), "it is not a file"),
    ] {
        let done = edit(&[file]);
        assert!(line(&done).contains(reason), "{done:?}");
        assert_eq!(done.status.code(), Some(2), "{done:?}");
    }
}
