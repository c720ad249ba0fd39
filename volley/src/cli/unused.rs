//! Flags without effect. Those of a run that another command does not use are hidden and refused, never ignored. A run
//! warns of those that others make useless: ghz takes them.

use std::net::IpAddr;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use super::apply::filled_path;
use super::args::{self, RunArgs};
use super::exit::CliExit;
use crate::spec::{Data, DurationStop, Endpoint, LbStrategy, SchemaSource, Spec, Templates};

/// Leaves flags out of help, by clap's ids.
pub(super) fn hide(command: Command, unused: &[impl AsRef<str>]) -> Command {
    unused.iter().fold(command, |command, id| {
        command.mut_arg(id.as_ref(), |arg| arg.hide(true))
    })
}

/// The flags as help shows them. The `+` marks are removed: they matter only where ghz's flags stand beside them.
pub(super) fn shown(plain: Command) -> Command {
    args::shown(plain).mut_args(|arg| {
        let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
        match text.strip_prefix("+ ") {
            Some(text) => arg.help(text.to_owned()),
            None => arg,
        }
    })
}

/// Refuses the first of these flags that is given.
pub(super) fn refuse(
    program: &str,
    command: &Command,
    matches: &ArgMatches,
    unused: &[impl AsRef<str>],
) -> Result<(), CliExit> {
    let given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let Some(id) = unused.iter().map(AsRef::as_ref).find(given) else {
        return Ok(());
    };
    let arg = command.get_arguments().find(|arg| arg.get_id() == id);
    let flag = arg.and_then(|arg| arg.get_long()).unwrap_or(id);
    Err(CliExit::usage(format!(
        "`--{flag}` has no effect in `{program}`: drop it"
    )))
}

/// What has no effect in this run because of other flags, one line each.
pub(super) fn warnings(args: &RunArgs, spec: &Spec) -> Vec<String> {
    let Spec {
        target,
        request,
        load,
        ..
    } = spec;
    let has_templates = match &request.data {
        Data::Json(text) | Data::JsonLines(text) | Data::Csv(text) => text.contains("{{"),
        Data::Binary(_) => false,
    } && request.templates != Templates::Off;
    let has_one_address = target
        .target()
        .is_ok_and(|target| match &*target.endpoints {
            [Endpoint::Name(address)] => address.host.parse::<IpAddr>().is_ok(),
            endpoints => endpoints.len() == 1,
        });
    let asks = request.schema == SchemaSource::Reflection;
    let has_imports = matches!(&request.schema, SchemaSource::Proto { .. });
    let (target_args, watch) = (&args.target, &args.watch);
    let is_served = watch.control.is_some() || watch.metrics.is_some();
    let useless = [
        (
            "protoset",
            filled_path(&target_args.protoset).is_some()
                && filled_path(&target_args.proto).is_some(),
            "beside `--proto`",
        ),
        (
            "import-paths",
            target_args
                .import_paths
                .as_ref()
                .is_some_and(|paths| paths.iter().any(|path| !path.as_os_str().is_empty()))
                && !has_imports,
            "without `--proto`",
        ),
        (
            "reflect-metadata",
            !request.reflect_metadata.is_empty() && !asks,
            "beside `--proto` or `--protoset`: no server is asked",
        ),
        (
            "lb-strategy",
            target.lb_strategy == LbStrategy::RoundRobin && has_one_address,
            "on one address",
        ),
        (
            "stream-dynamic-messages",
            request.stream.dynamic && !has_templates,
            "on data without templates",
        ),
        (
            "disable-template-functions",
            args.data.disable_template_functions == Some(true)
                && request.templates == Templates::Off,
            "beside `--disable-template-data`",
        ),
        (
            "duration-stop",
            load.duration_stop == DurationStop::Wait && load.length().is_none(),
            "without `-z` or `-x`: all calls are waited for",
        ),
        (
            "coalesce",
            !load.coalesce.is_zero() && !load.is_open_loop(),
            "without `--rps`",
        ),
        (
            "coalesce-sends",
            !load.coalesce_sends.is_zero() && !load.is_open_loop(),
            "without `--rps`",
        ),
        (
            "drain-timeout",
            load.drain_timeout.is_some() && load.duration_stop != DurationStop::Wait,
            "without `--duration-stop wait`",
        ),
        (
            "control-token",
            watch
                .control_token
                .as_ref()
                .is_some_and(|token| !token.is_empty())
                && !is_served,
            "without `--control` or `--metrics`",
        ),
    ];
    let useless = useless.into_iter().filter(|(_, is_useless, _)| *is_useless);
    useless
        .map(|(flag, _, why)| format!("`--{flag}` has no effect {why}"))
        .collect()
}
