//! `volley completions` and `volley man`: what a shell and a reader of manuals need to know of the flags.

use std::ffi::{OsStr, OsString};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::exit::CliExit;
use super::look::Question;
use super::{args, blast, check, compare, edit, import, merge, scenario, serve, trial};

/// The name of a command, what it does, and its flags.
type Entry = (&'static str, &'static str, fn() -> Command);

/// The commands beside a run.
const COMMANDS: [Entry; 14] = [
    (
        "blast",
        "Send many calls at the same moment",
        blast::help_command,
    ),
    ("check", "Check a scenario file", check::command),
    (
        "compare",
        "Tell what changed from one run to another",
        compare::command,
    ),
    (
        "completions",
        "Print completions for a shell",
        completions_command,
    ),
    ("describe", "Show how a server declares a symbol", || {
        Question::Describe.help()
    }),
    (
        "edit",
        "Edit a scenario file in a form in the browser",
        edit::command,
    ),
    (
        "import",
        "Make a scenario file of a file of another load generator",
        import::command,
    ),
    ("list", "List the services of a server", || {
        Question::List.help()
    }),
    ("man", "Print a manual page", man_command),
    (
        "merge",
        "Make one report of those of several processes",
        merge::command,
    ),
    ("run", "Run the scenarios of a file", scenario::command),
    (
        "schema",
        "Print the JSON Schema of a file for --config, or of a scenario file",
        schema_command,
    ),
    ("serve", "Start a server to try commands on", serve::command),
    ("try", "Make one call", trial::help_command),
];

fn completions_command() -> Command {
    Command::new("volley completions").arg(
        clap::Arg::new("SHELL")
            .value_parser(clap::value_parser!(Shell))
            .required(true),
    )
}

fn man_command() -> Command {
    let names = COMMANDS.map(|(name, ..)| name);
    Command::new("volley man").arg(clap::Arg::new("COMMAND").value_parser(names))
}

fn schema_command() -> Command {
    Command::new("volley schema").arg(clap::Arg::new("FILE").value_parser(["scenario"]))
}

/// The whole program, as help shows it.
fn tree() -> Command {
    let commands = COMMANDS.map(|(name, about, command)| {
        titled(command(), about)
            .name(name)
            .bin_name(format!("volley {name}"))
    });
    titled(args::help_command(), env!("CARGO_PKG_DESCRIPTION"))
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
pub(super) fn completions(words: &[OsString]) -> Result<Vec<u8>, CliExit> {
    const USAGE: &str =
        "write `volley completions SHELL`, with bash, elvish, fish, powershell or zsh as the SHELL";
    help("completions", words)?;
    let [shell] = words else {
        return Err(CliExit::usage(USAGE));
    };
    let shell: Shell = shell
        .to_str()
        .and_then(|name| name.parse().ok())
        .ok_or_else(|| CliExit::usage(USAGE))?;
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut tree(), "volley", &mut text);
    Ok(text)
}

/// The manual page of volley, or of the command that is named after `volley man`.
pub(super) fn man(words: &[OsString]) -> Result<Vec<u8>, CliExit> {
    help("man", words)?;
    let (title, command) = match words {
        [] => ("volley".to_owned(), tree()),
        [word] => {
            let (name, about, command) = entry(word).ok_or_else(|| CliExit::usage(usage()))?;
            (format!("volley-{name}"), titled(command(), about))
        }
        _ => return Err(CliExit::usage(usage())),
    };
    let page = Man::new(command.version(env!("CARGO_PKG_VERSION"))).title(title);
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = page
        .source(concat!("volley ", env!("CARGO_PKG_VERSION")))
        .render(&mut text);
    Ok(text)
}

fn usage() -> String {
    format!(
        "write `volley man`, or add one of {}",
        COMMANDS.map(|(name, ..)| name).join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_is_no_host_is_a_command() {
        assert_eq!(COMMANDS.map(|(name, ..)| name), crate::spec::COMMANDS);
    }

    #[test]
    fn the_whole_program_is_sound() {
        tree().debug_assert();
    }

    #[test]
    fn every_shell_completes_every_command_and_flag() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let text = String::from_utf8(completions(&[shell.into()]).unwrap()).unwrap();
            for word in [
                "compare",
                "serve",
                "fail-if",
                "connections",
                "repetitions",
                "freeze",
            ] {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
        for words in [&[][..], &["csh".into()], &["zsh".into(), "bash".into()]] {
            assert!(
                completions(words)
                    .unwrap_err()
                    .to_string()
                    .contains("volley completions SHELL")
            );
        }
    }

    #[test]
    fn volley_and_each_command_have_a_manual_page() {
        let page = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            man(&words)
                .map(|text| String::from_utf8(text).unwrap())
                .map_err(|exit| exit.to_string())
        };
        let whole = page(&[]).unwrap();
        assert!(
            whole.contains(".TH volley 1")
                && whole.contains("fail\\-if")
                && whole.contains("volley\\-compare"),
            "{whole}"
        );
        for (name, ..) in COMMANDS {
            assert!(
                page(&[name])
                    .unwrap()
                    .contains(&format!(".TH volley-{name} 1")),
                "{name}"
            );
        }
        for words in [&["me"][..], &["blast", "serve"]] {
            assert!(page(words).unwrap_err().contains("`volley man`"));
        }
    }
}
