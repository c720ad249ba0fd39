//! The command line as a user meets it: whole lines in, options or whole error lines out.

#[path = "../common/mod.rs"]
mod common;

mod blast;
mod config;
mod ghz;
mod options;
mod profiles;
mod program;
mod refusals;
mod spec;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use volley::cli::{self, Command, Run};
use volley::spec::Spec;

/// What every run needs, so that a test can vary one other flag.
const BASE: [&str; 5] = ["--proto", "a.proto", "--call", "p.S/M", "localhost:8080"];

fn parse(words: &[&str]) -> Result<Run, String> {
    let argv = std::iter::once("volley").chain(words.iter().copied());
    match cli::parse(argv.map(OsString::from)) {
        Ok(Command::Run(run)) => Ok(*run),
        Ok(other) => Err(format!("{other:?}")),
        Err(exit) => Err(exit.to_string()),
    }
}

/// What a valid command line with these flags asks for.
fn run(flags: &[&str]) -> Run {
    let words: Vec<&str> = BASE.iter().chain(flags).copied().collect();
    parse(&words).unwrap()
}

/// What it runs.
fn spec(flags: &[&str]) -> Spec {
    run(flags).spec
}

/// The error of an otherwise valid command line with these flags, without "error: ".
fn refusal(flags: &[&str]) -> String {
    let words: Vec<&str> = BASE.iter().chain(flags).copied().collect();
    let line = parse(&words).unwrap_err();
    line.strip_prefix("error: ").unwrap().to_owned()
}

/// A file in a folder of its own: tests that run beside each other may give theirs the same name.
fn file(name: &str, text: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = format!("cli-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}
