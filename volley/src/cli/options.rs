//! What the command line asks for beside the run itself.

use std::path::PathBuf;

use super::apply::{filled, filled_file, filled_path};
use super::args::{OutputArgs, ReportArgs, WatchArgs};
use super::usage::UsageError;
use crate::features::need;
use crate::report::Report;
use crate::spec::ListenAddress;

pub use super::args::Format;

/// Where results go, and in which form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Where the report goes; `None`: stdout.
    pub file: Option<PathBuf>,
    /// Its form.
    pub format: Format,
    /// Print the report alone.
    pub quiet: bool,
}

impl Output {
    pub(super) fn new(report: &ReportArgs, quiet: bool) -> Self {
        Self {
            file: filled_file(&report.output),
            format: report.format.unwrap_or_default(),
            quiet,
        }
    }

    pub(super) fn of(args: &OutputArgs) -> Self {
        Self::new(&args.report, args.quiet.unwrap_or(false))
    }

    /// How many single calls a report keeps if no number is given.
    pub(super) fn details(&self) -> u64 {
        match self.format {
            Format::Csv | Format::InfluxDetails => Report::DETAILS_MOST as u64,
            _ => 0,
        }
    }
}

/// What others see of a run while it goes on, and how they change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The log goes there; `-` is stdout.
    pub debug: Option<PathBuf>,
    /// A line of JSON for each second goes there, as above.
    pub live_json: Option<PathBuf>,
    /// Where the run is shown.
    pub metrics: Option<ListenAddress>,
    /// Where the run is shown and changed.
    pub control: Option<ListenAddress>,
    /// How many replies are printed.
    pub print_replies: u64,
    /// Where all replies are saved, as above.
    pub save_replies: Option<PathBuf>,
    /// What clients must know.
    pub token: Option<String>,
}

impl Watched {
    /// Whether anybody is told of each second.
    #[must_use]
    pub fn tells_seconds(&self) -> bool {
        let files = self.debug.is_some() || self.live_json.is_some();
        files || self.metrics.is_some() || self.control.is_some()
    }

    pub(super) fn new(args: &WatchArgs) -> Result<Self, UsageError> {
        let watched = Self {
            debug: filled_path(&args.debug),
            live_json: filled_path(&args.live_json),
            metrics: args.metrics.clone(),
            control: args.control.clone(),
            print_replies: args.print_replies.unwrap_or(0),
            save_replies: filled_path(&args.save_replies),
            token: token(args.control_token.as_deref()),
        };
        let (control, metrics) = (&watched.control, &watched.metrics);
        for (flag, address) in [("--control", control), ("--metrics", metrics)] {
            need_token(flag, address.as_ref(), watched.token.as_deref())?;
        }
        Ok(watched)
    }
}

/// What clients must know: as a flag gives it, or the environment.
pub(super) fn token(flag: Option<&str>) -> Option<String> {
    filled(flag).or_else(|| filled(std::env::var(TOKEN).ok().as_deref()))
}

/// Where other hosts can reach an address, they must know something. `flag` names the address.
///
/// # Errors
///
/// If there is no token, or this volley cannot listen.
pub fn need_token(
    flag: &'static str,
    address: Option<&ListenAddress>,
    token: Option<&str>,
) -> Result<(), UsageError> {
    let Some(address) = address else {
        return Ok(());
    };
    need("control")?;
    match token.is_none() && !address.is_local() {
        true => Err(UsageError::NoToken { flag }),
        false => Ok(()),
    }
}

/// The name of stdout.
pub const STDOUT: &str = "-";

/// The variable that holds what clients must know.
const TOKEN: &str = "VOLLEY_TOKEN";
