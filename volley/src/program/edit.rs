//! `volley edit`: a scenario file in a form, in the browser.

mod document;
mod page;
mod site;
mod trial;

use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::check::refuse;
use super::status::NOT_BUILT;
use super::{Failure, text};
use crate::cli::Edit;
use crate::report::visible;
use crate::scenario::file;
use crate::scenario::lua::is_program;
use crate::spec::ListenAddress;
use crate::watch::{Server, server};
use document::Document;
use page::Page;
use site::Site;

/// Serves the page of a file until SIGINT or SIGTERM.
///
/// # Errors
///
/// There is no page, the file cannot be edited, or the address cannot be listened on.
pub fn edit(edit: &Edit) -> Result<ExitCode, Failure> {
    let page = Page::embedded().ok_or_else(|| {
        let problem = "this volley was built without the page of `volley edit`: run \
                       ./scripts/volley-page.sh (it needs npm), and build volley again";
        Failure::new(NOT_BUILT, problem)
    })?;
    match edit.licenses {
        true => text(page.licenses),
        false => serve(page, edit),
    }
}

fn serve(page: Page, edit: &Edit) -> Result<ExitCode, Failure> {
    let path = edit.file.as_path();
    let shown = path.display();
    let unusable = |reason: &str| Failure::usage(format!("{shown}: {reason}"));
    if is_program(path) {
        return Err(unusable("a program of Lua has no form: edit it as text"));
    }
    let document = Document::new(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => unusable("its folder is missing: make it"),
        _ => unusable(&format!("cannot edit the file: {error}")),
    })?;
    if document.path().exists() {
        if !document.path().is_file() {
            return Err(unusable("it is not a file"));
        }
        match file::text(path) {
            Err(mistakes) => return Ok(refuse(&mistakes)),
            Ok(text) if file::is_foreign(&text) => {
                return Err(unusable(&format!(
                    "this is a file of h2loadrunner: write `volley import h2loadrunner {shown} -o new.yaml`, then `volley edit new.yaml`"
                )));
            }
            Ok(_) => {}
        }
    }
    // First, so that no signal after the address is missed.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let token = token()?;
    let site = Site::new(page, document, token.clone(), edit.allow_io);
    let server = listened(site, edit.listen)?;
    let address = format!("{}/#{token}\n", server.address);
    text(&address)?;
    let _ = writeln!(
        io::stderr(),
        "volley: open this address in a browser to edit {}; Ctrl-C ends it",
        visible(&shown.to_string())
    );
    signals.forever().next();
    Ok(ExitCode::SUCCESS)
}

fn listened(site: Site, listen: SocketAddr) -> io::Result<Server> {
    let address = ListenAddress::Tcp(listen);
    let token = Some(site.token());
    let server = server::host(&address, token, move |request| site.clone().answer(request));
    let wrong = |error| format!("`--listen`: cannot listen on {listen}: {error}");
    server.map_err(|error| io::Error::other(wrong(error)))
}

/// What only the user of this page knows: 128 random bits.
fn token() -> io::Result<String> {
    let mut bits = [0; 16];
    let filled = SystemRandom::new().fill(&mut bits);
    filled.map_err(|_| io::Error::other("the host has no random numbers"))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bits))
}
