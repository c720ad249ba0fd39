//! `volley edit`: a scenario file in a form.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Command, CommandFactory, FromArgMatches, Parser};

use super::exit::CliExit;
use super::value::path;
use super::{argv, help, usage};
use crate::spec::ListenAddress;

const PROGRAM: &str = "volley edit";

const ABOUT: &str = "\
Edit a scenario file, YAML or JSON, in the browser: in a form, which is made from the file's JSON
Schema, or as text. The page shows each mistake at its field, and what the file would do. It can run
one iteration of each scenario. A file that does not exist yet begins as a small scenario.

Print the address of the page, and serve it until Ctrl-C. Only this host can reach it, and only with
the token in the address. The page needs no network.

A save keeps comments, and replaces the file in one step. If something else has changed the file in
the meantime, nothing is saved, and the page says so.

Exit status: 0 after Ctrl-C, 2 if the file cannot be edited, 3 if volley was built without
this command or its page.";

const EXAMPLES: &str = "\
Examples:
  volley edit shop.yaml
  volley edit --listen 127.0.0.1:4300 shop.yaml

  On another host, through SSH: ssh -L 4300:127.0.0.1:4300 HOST";

/// What `volley edit` is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    File {
        file: PathBuf,
        /// A loopback address.
        listen: SocketAddr,
        /// Scripts may use files.
        allow_io: bool,
    },
    /// The licences of what the page is made of.
    Licenses,
}

/// The words of `volley edit`, as they are written.
#[derive(Clone, Debug, Parser)]
#[command(name = "volley edit", about = ABOUT)]
struct EditWords {
    /// The scenario file, YAML or JSON
    #[arg(value_name = "FILE", value_parser = path, default_value = "scenario.yaml")]
    file: PathBuf,

    /// Where to listen on this host, such as :4300; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", value_parser = loopback)]
    listen: SocketAddr,

    /// Let scripts of Lua use files, modules and programs
    #[arg(long)]
    allow_io: bool,

    /// Print the licences of what the page is made of
    #[arg(long)]
    licenses: bool,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<ListenAddress>() {
        Ok(ListenAddress::Tcp(address)) if address.ip().is_loopback() => Ok(address),
        _ => Err("a loopback address is needed, such as `127.0.0.1:4300` or `:4300`".to_owned()),
    }
}

/// Reads the words after `volley edit`.
pub(super) fn parse(words: &[OsString]) -> Result<Edit, CliExit> {
    let matches = argv::matches(PROGRAM, &command(), command, words)?;
    let args =
        EditWords::from_arg_matches(&matches).map_err(|error| usage::exit(PROGRAM, &error))?;
    Ok(match args.licenses {
        true => Edit::Licenses,
        false => Edit::File {
            file: args.file,
            listen: args.listen,
            allow_io: args.allow_io,
        },
    })
}

pub(super) fn command() -> Command {
    help::dress(EditWords::command(), EXAMPLES).override_usage("volley edit [FLAGS] [FILE]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(words: &[&str]) -> Result<Edit, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map_err(|exit| exit.to_string())
    }

    #[test]
    fn a_file_and_a_loopback_address_are_taken() {
        for (words, file, listen, allow_io) in [
            (&[][..], "scenario.yaml", "127.0.0.1:0", false),
            (
                &["--listen", ":4300"],
                "scenario.yaml",
                "127.0.0.1:4300",
                false,
            ),
            (
                &["a.json", "--listen", "[::1]:4300", "--allow-io"],
                "a.json",
                "[::1]:4300",
                true,
            ),
        ] {
            let expected = Edit::File {
                file: file.into(),
                listen: listen.parse().unwrap(),
                allow_io,
            };
            assert_eq!(edit(words), Ok(expected));
        }
        assert_eq!(edit(&["--licenses"]), Ok(Edit::Licenses));
        assert!(edit(&["--listen", "localhost:4300"]).is_ok());
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for words in [
            &["a.yaml", "b.yaml"][..],
            &["--listen", "0.0.0.0:80"],
            &["--listen", "4300"],
            &["--listen", "unix:/tmp/socket"],
            &["--once"],
        ] {
            let line = edit(words).unwrap_err();
            assert!(
                line.starts_with("error: ") && !line.contains('\n'),
                "{line}"
            );
        }
    }

    #[test]
    fn help_says_what_it_does() {
        let help = command().term_width(100).render_help().to_string();
        assert_eq!(help, include_str!("../../tests/expected/edit-help.txt"));
    }
}
