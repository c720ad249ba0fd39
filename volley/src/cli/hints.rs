//! Whether what messages tell people to write exists.

use std::fs;
use std::path::Path;

use clap::Command;
use regex::Regex;

use super::shell::tree;

/// A flag that is there without clap's definition, and those of cargo and protoc.
const OTHERS: [&str; 3] = ["--help", "--path", "--include"];

/// The code of each file that may hold a message, without comments and tests.
fn code(folder: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            code(&path, all);
        } else if name.ends_with(".rs") && !["tests.rs", "hints.rs"].contains(&name) {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = text.lines().map(str::trim_start);
            let lines = lines.filter(|line| !line.starts_with("//"));
            let lines: Vec<&str> = lines.collect();
            all.push((path.display().to_string(), lines.join("\n")));
        }
    }
}

fn has(command: &Command, flag: &str) -> bool {
    let name = flag.trim_start_matches("--");
    let turned = name.strip_prefix("no-").unwrap_or(name);
    let mut args = command.get_arguments();
    turned.is_empty()
        || OTHERS.contains(&flag)
        || match name.strip_suffix('*') {
            Some(start) => {
                args.any(|arg| arg.get_long().is_some_and(|long| long.starts_with(start)))
            }
            None => args.any(|arg| [Some(name), Some(turned)].contains(&arg.get_long())),
        }
}

#[test]
fn every_command_and_flag_that_a_message_names_exists() {
    let tree = tree();
    let mut all = Vec::new();
    for folder in ["crates", "src"] {
        code(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut all,
        );
    }
    let flags = Regex::new(r"(?:^|[ `('\x22])(--[a-zA-Z][a-zA-Z0-9-]*\*?)").unwrap();
    let hints = Regex::new(r"`volley ([a-z]+)([^`]*)`").unwrap();
    let (mut commands, mut named, mut wrong) = (0, 0, Vec::new());
    for (file, text) in &all {
        for found in flags.captures_iter(text) {
            let mut known = tree.get_subcommands().chain([&tree]);
            named += 1;
            if !known.any(|command| has(command, &found[1])) {
                wrong.push(format!("{file}: {}", &found[1]));
            }
        }
        for found in hints.captures_iter(text) {
            commands += 1;
            let command = tree.find_subcommand(&found[1]);
            let is_known = |command: &Command| {
                let mut own = flags.captures_iter(&found[2]);
                own.all(|flag| has(command, &flag[1]))
            };
            if !command.is_some_and(is_known) {
                wrong.push(format!("{file}: {}", &found[0]));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // It has looked.
    assert!(commands > 30 && named > 150, "{commands} {named}");
}
