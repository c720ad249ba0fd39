//! The flags of a run, from the command line and from `--config`.

use std::ffi::OsString;
use std::io::Read;

use clap::{ArgMatches, Command, FromArgMatches};

use super::apply::apply;
use super::args::{self, RunArgs};
use super::config::Config;
use super::options::{Output, Watched};
use super::usage::CliExit;
use super::{argv, clap_error, config, payload, unused};
use crate::plain::StartAt;
use crate::spec::Spec;

/// What `volley [FLAGS] HOST` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What is run.
    pub spec: Spec,
    /// When its load starts.
    pub start_at: StartAt,
    /// Where results go.
    pub output: Output,
    /// What others see meanwhile.
    pub watched: Watched,
    /// The payload, the start or the opening comes on stdin.
    pub needs_stdin: bool,
    /// What has no effect, one line each.
    pub warnings: Vec<String>,
}

/// Reads the words after `volley`.
pub(super) fn parse(words: &[OsString], stdin: &mut impl Read) -> Result<Run, CliExit> {
    let command = args::command();
    let matches = argv::matches("volley", &command, args::help_command, words)?;
    let Config {
        mut spec,
        args: flags,
        mut warnings,
        ..
    } = with_config(&command, &matches)?;
    let output = Output::of(&flags.output);
    if spec.count.details == 0 {
        spec.count.details = output.details();
    }
    let start_at = flags.load.start_at.unwrap_or_default();
    let watched = Watched::new(&flags.watch);
    let watched = apply(&flags, &mut spec, stdin).and(watched);
    let watched = watched.map_err(|error| match &flags.target.config {
        // The flag to change may be in the file.
        Some(file) => {
            let file = file.display();
            CliExit::usage(format!("{error} (flags in `{file}` included)"))
        }
        None => error.into(),
    })?;
    warnings.extend(unused::warnings(&flags, &spec));
    let opens = spec.load.open_on_stdin || start_at == StartAt::Stdin;
    Ok(Run {
        needs_stdin: opens || payload::is_on_stdin(&flags.data),
        warnings,
        spec,
        start_at,
        output,
        watched,
    })
}

/// What the `--config` file holds, and its flags, overridden by those of the command line.
pub(super) fn with_config(command: &Command, matches: &ArgMatches) -> Result<Config, CliExit> {
    let wrong = |error| clap_error::exit("volley", &error);
    let flags = RunArgs::from_arg_matches(matches).map_err(wrong)?;
    let path = flags.target.config.as_deref();
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
        return Ok(Config {
            args: flags,
            ..Config::default()
        });
    };
    let mut config = config::read(command, path)?;
    make_way(&mut config.args, &flags);
    let updated = config.args.update_from_arg_matches(matches);
    updated.map_err(wrong)?;
    let is_given = payload::is_given(&config.args.data);
    match config.lacks_payload.take().filter(|_| !is_given) {
        Some(error) => Err(error.into()),
        None => Ok(config),
    }
}

/// Drops flags of the file that the command line replaces with a flag of another name.
fn make_way(file: &mut RunArgs, flags: &RunArgs) {
    let (target, data, load) = (&flags.target, &flags.data, &flags.load);
    if target.proto.is_some() || target.protoset.is_some() {
        file.target.proto = None;
        file.target.protoset = None;
    }
    if payload::is_given(data) {
        file.data.data = None;
        file.data.data_file = None;
        file.data.binary_file = None;
    }
    if data.metadata.is_some() || data.metadata_file.is_some() {
        file.data.metadata = None;
        file.data.metadata_file = None;
    }
    // Otherwise the file's `-z` would make `-n` on the command line ineffective.
    if load.total.is_some() {
        file.load.duration = None;
    }
}

impl From<config::ConfigError> for CliExit {
    fn from(error: config::ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;
    use crate::cli::testkit::parsed;
    use crate::spec::Data;

    fn data(flags: &str, stdin: &str) -> Result<Data, String> {
        let line = format!("--proto a.proto --call p.S/M l:1 {flags}");
        let run = parsed(|words| parse(words, &mut stdin.as_bytes()), &line);
        run.map(|run| run.spec.request.data)
    }

    fn json(text: &str) -> Result<Data, String> {
        Ok(Data::Json(text.to_owned()))
    }

    #[test]
    fn data_at_reads_stdin_in_every_spelling() {
        for flags in ["-d @", "-d@", "-d=@", "--data=@", "--data @"] {
            let text = "{\"a\": 1}\n";
            assert_eq!(data(flags, text), json(text), "{flags}");
        }
        let error = "error: `--data @`: stdin is empty".to_owned();
        assert_eq!(data("-d @", " \n"), Err(error));
    }

    #[test]
    fn binary_reads_stdin_as_it_is() {
        let expected = Data::Binary(b"\x08\x01".to_vec());
        for flags in ["-b", "--binary"] {
            assert_eq!(data(flags, "\x08\x01"), Ok(expected.clone()));
        }
    }

    #[test]
    fn stdin_is_left_alone_unless_a_flag_names_it() {
        assert_eq!(data("", "{\"a\": 1}"), json("{}"));
        assert_eq!(data("--no-binary", "{\"a\": 1}"), json("{}"));
    }

    fn word() -> impl Strategy<Value = OsString> {
        let known = "--proto a.proto --call p.S/M l:1 -d @ {} -c -n 5 -z 1s --rps=9 --load-schedule step --load-step -3 \
                     --load-start --load-step-duration=1s --connections --threads --insecure --no-insecure --no- -- - --= \
                     -b -m --cpus --config=/nowhere/x --expect";
        let known: Vec<_> = known.split_whitespace().collect();
        prop_oneof![
            4 => prop::sample::select(known).prop_map(OsString::from),
            1 => "-{0,2}\\PC{0,12}".prop_map(OsString::from),
            1 => any::<Vec<u8>>().prop_map(OsString::from_vec),
        ]
    }

    proptest! {
        #[test]
        fn any_command_line_is_answered_in_one_line(words in prop::collection::vec(word(), 0..12)) {
            if let Err(CliExit::Usage(line)) = parse(&words, &mut &b"{}"[..]) {
                prop_assert!(!line.is_empty() && !line.contains('\n'), "{line}");
            }
        }
    }
}
