//! `volley edit`: a scenario file in a form.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Command, CommandFactory, Parser};

use super::usage::CliExit;
use super::value::path;
use super::{argv, help};
use crate::spec::ListenAddress;

const PROGRAM: &str = "volley edit";
pub(super) const TITLE: &str = "Edit a scenario file in a form in the browser";

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
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "volley edit", about = ABOUT)]
pub struct Edit {
    /// The scenario file, YAML or JSON
    #[arg(value_name = "FILE", value_parser = path, default_value = "scenario.yaml")]
    pub file: PathBuf,

    /// Where to listen on this host, such as :4300; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", value_parser = loopback)]
    pub listen: SocketAddr,

    /// Let scripts of Lua use files, modules and programs
    #[arg(long)]
    pub allow_io: bool,

    /// Print the licences of what the page is made of
    #[arg(long)]
    pub licenses: bool,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<ListenAddress>() {
        Ok(ListenAddress::Tcp(address)) if address.ip().is_loopback() => Ok(address),
        _ => Err("a loopback address is needed, such as `127.0.0.1:4300` or `:4300`".to_owned()),
    }
}

/// Reads the words after `volley edit`.
pub(super) fn parse(words: &[OsString]) -> Result<Edit, CliExit> {
    argv::read(PROGRAM, command, words)
}

pub(super) fn command() -> Command {
    help::dress(Edit::command(), EXAMPLES).override_usage("volley edit [FLAGS] [FILE]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testkit::{parsed, refused};

    #[test]
    fn a_file_and_a_loopback_address_are_taken() {
        for (line, file, listen, allow_io) in [
            ("", "scenario.yaml", "127.0.0.1:0", false),
            ("--listen :43", "scenario.yaml", "127.0.0.1:43", false),
            (
                "a.json --listen [::1]:43 --allow-io",
                "a.json",
                "[::1]:43",
                true,
            ),
        ] {
            let expected = Edit {
                file: file.into(),
                listen: listen.parse().unwrap(),
                allow_io,
                licenses: false,
            };
            assert_eq!(parsed(parse, line), Ok(expected));
        }
        assert!(parsed(parse, "--licenses").unwrap().licenses);
        assert!(parsed(parse, "--listen localhost:4300").is_ok());
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        let addresses = ["0.0.0.0:80", "4300", "unix:/tmp/socket"];
        let addresses = addresses.map(|address| format!("--listen {address}"));
        refused(parse, &addresses);
        refused(parse, &["a.yaml b.yaml", "--once"]);
    }
}
