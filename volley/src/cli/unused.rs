//! Flags without effect. Those of a run that another command does not use are hidden and refused, never ignored. A run
//! warns of those that others make useless: ghz takes them.

use std::net::IpAddr;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use super::apply::filled_path;
use super::args::{self, RunArgs};
use super::usage::CliExit;
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
    let has_proto = matches!(request.schema, SchemaSource::Proto { .. });
    let (target_args, watch) = (&args.target, &args.watch);
    let schemas = [&target_args.proto, &target_args.protoset];
    let has_both = schemas.map(filled_path).iter().all(Option::is_some);
    let mut folders = target_args.import_paths.iter().flatten();
    let lacks_proto = folders.any(|folder| !folder.as_os_str().is_empty()) && !has_proto;
    let is_asked = request.schema == SchemaSource::Reflection;
    let has_metadata = !request.reflect_metadata.is_empty();
    let deals_to_one = target.lb_strategy == LbStrategy::RoundRobin && has_one_address;
    let is_only_data = request.stream.dynamic && !has_templates;
    let has_no_functions = args.data.disable_template_functions == Some(true);
    let is_twice_off = has_no_functions && request.templates == Templates::Off;
    let waits = load.duration_stop == DurationStop::Wait;
    let drains_nothing = load.drain_timeout.is_some() && !waits;
    let is_closed = !load.is_open_loop();
    let has_sends = !load.coalesce_sends.is_zero();
    let token = watch.control_token.as_deref().unwrap_or_default();
    let is_served = watch.control.is_some() || watch.metrics.is_some();
    let is_for_nobody = !token.is_empty() && !is_served;
    let no_server = "beside `--proto` or `--protoset`: no server is asked";
    let no_data = "beside `--disable-template-data`";
    let all_end = "without `-z` or `-x`: all calls are waited for";
    let (no_rate, no_wait) = ("without `--rps`", "without `--duration-stop wait`");
    let nobody = "without `--control` or `--metrics`";
    let no_template = "on data without templates";
    let useless = [
        ("protoset", has_both, "beside `--proto`"),
        ("import-paths", lacks_proto, "without `--proto`"),
        ("reflect-metadata", has_metadata && !is_asked, no_server),
        ("lb-strategy", deals_to_one, "on one address"),
        ("stream-dynamic-messages", is_only_data, no_template),
        ("disable-template-functions", is_twice_off, no_data),
        ("duration-stop", waits && load.length().is_none(), all_end),
        ("coalesce-sends", has_sends && is_closed, no_rate),
        ("drain-timeout", drains_nothing, no_wait),
        ("control-token", is_for_nobody, nobody),
    ];
    let useless = useless.into_iter().filter(|(_, is_useless, _)| *is_useless);
    useless
        .map(|(flag, _, why)| format!("`--{flag}` has no effect {why}"))
        .collect()
}
