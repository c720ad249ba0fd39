//! `volley completions` and `volley man`: what a shell and a reader of manuals need to know of the flags.

use std::ffi::{OsStr, OsString};

use clap::Command;

use super::look::Question;
use super::usage::CliExit;
use super::{blast, check, compare, edit, find, import, merge, scenario, serve, trial};
use crate::docs;

/// The name of a command, what it does, and its flags.
type Entry = (&'static str, &'static str, fn() -> Command);

/// The commands beside a run.
const COMMANDS: [Entry; 15] = [
    ("blast", blast::TITLE, blast::help_command),
    ("check", check::TITLE, check::command),
    ("compare", compare::TITLE, compare::command),
    ("completions", COMPLETIONS, completions_command),
    ("describe", "Show how a server declares a symbol", || {
        Question::Describe.help()
    }),
    ("edit", edit::TITLE, edit::command),
    ("find", find::TITLE, find::help_command),
    ("import", import::TITLE, import::command),
    ("list", "List the services of a server", || {
        Question::List.help()
    }),
    ("man", "Print a manual page", man_command),
    ("merge", merge::TITLE, merge::command),
    ("run", scenario::TITLE, scenario::command),
    ("schema", SCHEMA, schema_command),
    ("serve", serve::TITLE, serve::command),
    ("try", trial::TITLE, trial::help_command),
];

const COMPLETIONS: &str = "Print completions for a shell";
const SCHEMA: &str = "Print the JSON Schema of a file for --config, or of a scenario file";

fn completions_command() -> Command {
    let shells = docs::COMPLETIONS.map(|(shell, _)| shell);
    let shell = clap::Arg::new("SHELL").value_parser(shells);
    Command::new("volley completions").arg(shell.required(true))
}

fn man_command() -> Command {
    let names = COMMANDS.map(|(name, ..)| name);
    Command::new("volley man").arg(clap::Arg::new("COMMAND").value_parser(names))
}

fn schema_command() -> Command {
    Command::new("volley schema").arg(clap::Arg::new("FILE").value_parser(["scenario"]))
}

/// The whole program, as help shows it.
#[cfg(test)]
pub(super) fn tree() -> Command {
    let commands = COMMANDS.map(|(name, about, command)| {
        titled(command(), about)
            .name(name)
            .bin_name(format!("volley {name}"))
    });
    titled(super::args::help_command(), env!("CARGO_PKG_DESCRIPTION"))
        .name("volley")
        .disable_help_subcommand(true)
        .subcommands(commands)
}

/// Adds a title in one line; the text that help shows becomes the description.
fn titled(command: Command, about: &'static str) -> Command {
    match command.get_about().cloned() {
        Some(long) => command.about(about).long_about(long),
        None => command.about(about),
    }
}

fn entry(name: &OsStr) -> Option<Entry> {
    COMMANDS.into_iter().find(|(known, ..)| name == *known)
}

/// Ends with the help of a command if its words ask for it.
pub(super) fn help(name: &str, words: &[OsString]) -> Result<(), CliExit> {
    let asks = |word: &OsString| word == "--help" || word == "-h";
    match entry(name.as_ref()).filter(|_| words.iter().any(asks)) {
        Some((_, about, command)) => Err(CliExit::Print(titled(command(), about).render_help())),
        None => Ok(()),
    }
}

/// The completions for the shell that is named after `volley completions`.
pub(super) fn completions(words: &[OsString]) -> Result<&'static str, CliExit> {
    const USAGE: &str =
        "write `volley completions SHELL`, with bash, elvish, fish, powershell or zsh as the SHELL";
    help("completions", words)?;
    match words {
        [shell] => docs::text(&docs::COMPLETIONS, shell),
        _ => None,
    }
    .ok_or_else(|| CliExit::usage(USAGE))
}

/// The manual page of volley, or of the command that is named after `volley man`.
pub(super) fn man(words: &[OsString]) -> Result<&'static str, CliExit> {
    help("man", words)?;
    match words {
        [] => Some(docs::PAGE),
        [word] => docs::text(&docs::PAGES, word),
        _ => None,
    }
    .ok_or_else(|| CliExit::usage(usage()))
}

fn usage() -> String {
    let names = COMMANDS.map(|(name, ..)| name).join(", ");
    format!("write `volley man`, or add one of {names}")
}

/// What `docs/` holds: names of files, and their texts.
#[cfg(all(test, feature = "docs"))]
fn made() -> Vec<(String, Vec<u8>)> {
    use clap::ValueEnum;
    use clap_complete::{Generator, Shell, generate};

    let page = |title: &str, command: Command| {
        let mut text = Vec::new();
        let page = clap_mangen::Man::new(command.version(env!("CARGO_PKG_VERSION"))).title(title);
        let page = page.source(concat!("volley ", env!("CARGO_PKG_VERSION")));
        // Writing to memory cannot fail.
        let _ = page.render(&mut text);
        (format!("man/{title}.1"), text)
    };
    let schema = |name: &str, schema: schemars::Schema| {
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n";
        (format!("{name}.schema.json"), text.into_bytes())
    };
    let mut all = vec![
        page("volley", tree()),
        schema("config", schemars::schema_for!(crate::spec::Spec)),
        schema("scenario", crate::scenario::file::schema()),
    ];
    all.extend(
        COMMANDS.map(|(name, about, command)| {
            page(&format!("volley-{name}"), titled(command(), about))
        }),
    );
    for shell in Shell::value_variants() {
        let mut text = Vec::new();
        generate(*shell, &mut tree(), "volley", &mut text);
        all.push((format!("completions/{}", shell.file_name("volley")), text));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use volley_testkit::table::words;

    use super::super::args;
    use super::*;
    use crate::cli::testkit::parsed;

    #[test]
    fn every_word_that_is_no_host_is_a_command() {
        assert_eq!(COMMANDS.map(|(name, ..)| name), crate::spec::COMMANDS);
    }

    #[test]
    fn the_whole_program_is_sound() {
        tree().debug_assert();
        args::command().debug_assert();
        for plain in [
            blast::plain(),
            find::plain(),
            trial::plain(),
            Question::List.plain(),
            Question::Describe.plain(),
        ] {
            args::parser(plain).debug_assert();
        }
    }

    /// A command shows what it takes, and nothing else.
    #[test]
    fn each_help_reads_as_expected() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected");
        for name in [
            "blast", "check", "describe", "edit", "find", "import", "list", "run", "serve", "try",
        ] {
            let (.., command) = entry(name.as_ref()).unwrap();
            let help = command().term_width(100).render_help().to_string();
            let expected = fs::read_to_string(folder.join(format!("{name}-help.txt")));
            assert_eq!(help, expected.unwrap(), "{name}");
        }
    }

    #[test]
    fn every_shell_completes_every_command_and_flag() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let text = completions(&[shell.into()]).unwrap();
            for word in words("compare|serve|fail-if|connections|repetitions|freeze") {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
        for words in [&[][..], &["csh".into()], &["zsh".into(), "bash".into()]] {
            let error = completions(words).unwrap_err().to_string();
            assert!(error.contains("volley completions SHELL"), "{error}");
        }
    }

    #[test]
    fn volley_and_each_command_have_a_manual_page() {
        let whole = parsed(man, "").unwrap();
        for part in [".TH volley 1", "fail\\-if", "volley\\-compare"] {
            assert!(whole.contains(part), "{whole}");
        }
        for (name, ..) in COMMANDS {
            let page = parsed(man, name).unwrap();
            assert!(page.contains(&format!(".TH volley-{name} 1")), "{name}");
        }
        for line in ["me", "blast serve"] {
            assert!(parsed(man, line).unwrap_err().contains("`volley man`"));
        }
    }

    #[test]
    fn each_command_has_a_kept_page_and_there_are_no_others() {
        assert_eq!(
            COMMANDS.map(|(name, ..)| name),
            docs::PAGES.map(|(name, _)| name)
        );
    }

    #[cfg(feature = "docs")]
    #[test]
    fn the_kept_docs_are_those_of_this_code() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let writes = std::env::var_os("VOLLEY_WRITE_DOCS").is_some();
        let made = made();
        for below in ["man", "completions"] {
            for file in std::fs::read_dir(folder.join(below)).unwrap() {
                let name = format!("{below}/{}", file.unwrap().file_name().display());
                assert!(
                    made.iter().any(|(known, _)| *known == name),
                    "docs/{name} is of no command"
                );
            }
        }
        for (name, text) in made {
            let file = folder.join(&name);
            if writes {
                std::fs::write(&file, &text).unwrap();
            }
            assert!(
                std::fs::read(&file).unwrap() == text,
                "docs/{name} is stale: run VOLLEY_WRITE_DOCS=1 cargo test --features docs kept_docs"
            );
        }
    }
}
