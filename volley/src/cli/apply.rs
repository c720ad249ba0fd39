//! Flags become parts of a [`Spec`]; whatever they leave out stays as it is.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::{
    CheckArgs, ConnectionArgs, DataArgs, LoadArgs, OutputArgs, RunArgs, ScheduleArgs, TargetArgs,
};
use super::options::STDOUT;
use super::usage::UsageError;
use super::{files, payload};
use crate::plain::StartAt;
use crate::spec::{
    CheckSpec, CountSpec, LoadSpec, RequestSpec, SchemaSource, Spec, StreamSpec, TIMEOUT,
    TargetSpec, Templates,
};

/// Sets what the flags give, and checks the whole. Reads payloads and metadata; reads `stdin` only if a flag names it.
///
/// # Errors
///
/// If the flags do not make a run.
pub fn apply(args: &RunArgs, spec: &mut Spec, stdin: &mut impl Read) -> Result<(), UsageError> {
    set_target(&args.target, &args.connection, &mut spec.target);
    set_request(args, &mut spec.request)?;
    set_load(&args.load, &args.schedules, &mut spec.load);
    set_checks(&args.checks, &mut spec.checks);
    set_count(&args.output, &mut spec.count);
    set(&mut spec.tags, args.output.tags.clone());
    let name = args.output.name.as_deref();
    set(&mut spec.name, name.map(|name| name.trim().to_owned()));
    spec.check()?;
    files::check_run(args, spec)?;
    let waits = spec.load.open_on_stdin.then_some("--open-on-stdin");
    let starts = (args.load.start_at == Some(StartAt::Stdin)).then_some("--start-at stdin");
    if let Some(flag) = waits.or(starts)
        && payload::is_on_stdin(&args.data)
    {
        return Err(UsageError::StdinTwice { flag });
    }
    set(&mut spec.request.data, payload::data(&args.data, stdin)?);
    let file = filled_path(&args.data.data_file).or_else(|| filled_path(&args.data.binary_file));
    set_some(&mut spec.request.data_file, file);
    Ok(())
}

/// Sets what leads to a server and to its schema, and checks it.
///
/// # Errors
///
/// If the flags name no server.
pub fn apply_target(args: &RunArgs, spec: &mut Spec) -> Result<(), UsageError> {
    set_target(&args.target, &args.connection, &mut spec.target);
    set_schema(&args.target, &mut spec.request);
    spec.target.check()?;
    Ok(spec.request.check()?)
}

fn set_target(target: &TargetArgs, args: &ConnectionArgs, to: &mut TargetSpec) {
    set(&mut to.host, filled(target.host.as_deref()));
    set_some(&mut to.authority, filled(args.authority.as_deref()));
    set(&mut to.insecure, args.insecure);
    set(&mut to.tls.skip_verify, args.skip_tls);
    set_some(&mut to.tls.cacert, filled_path(&args.cacert));
    set_some(&mut to.tls.cert, filled_path(&args.cert));
    set_some(&mut to.tls.key, filled_path(&args.key));
    set_some(&mut to.tls.cname, filled(args.cname.as_deref()));
    set(&mut to.lb_strategy, args.lb_strategy);
    set(&mut to.resolve_every, args.resolve_every);
    set(&mut to.reconnect_every, args.reconnect_every);
    set(&mut to.connect_timeout, args.connect_timeout);
    set(&mut to.keepalive, args.keepalive);
    set(&mut to.window, args.window);
}

fn set_request(args: &RunArgs, to: &mut RequestSpec) -> Result<(), UsageError> {
    set_schema(&args.target, to);
    set(&mut to.call, filled(args.target.call.as_deref()));
    set(&mut to.metadata, payload::metadata(&args.data)?);
    set(&mut to.compress, args.connection.enable_compression);
    set(&mut to.timeout, args.load.limits.timeout);
    set(&mut to.max_reply, args.connection.max_recv_message_size);
    set(&mut to.max_memory, args.connection.max_memory);
    set(&mut to.max_send, args.connection.max_send_message_size);
    set_templates(&args.data, &mut to.templates);
    set_stream(&args.data, &mut to.stream);
    // Streams that live have no limit unless one is asked for, which is refused.
    if to.stream.rate > 0 && to.timeout == TIMEOUT {
        to.timeout = Duration::ZERO;
    }
    set(&mut to.show_secrets, args.output.show_secrets);
    Ok(())
}

fn set_schema(args: &TargetArgs, to: &mut RequestSpec) {
    set(&mut to.reflect_metadata, args.reflect_metadata.clone());
    let schema = &mut to.schema;
    if let Some(file) = filled_path(&args.proto) {
        let import_paths = Vec::new();
        *schema = SchemaSource::Proto { file, import_paths };
    } else if let Some(file) = filled_path(&args.protoset) {
        *schema = SchemaSource::Protoset(file);
    }
    if let (SchemaSource::Proto { import_paths, .. }, Some(given)) = (schema, &args.import_paths) {
        import_paths.clone_from(given);
    }
}

fn set_templates(args: &DataArgs, to: &mut Templates) {
    *to = match (args.disable_template_data, args.disable_template_functions) {
        (Some(true), _) => Templates::Off,
        (_, Some(true)) => Templates::NoFunctions,
        (Some(false), _) | (_, Some(false)) => Templates::All,
        (None, None) => return,
    };
}

fn set_stream(args: &DataArgs, to: &mut StreamSpec) {
    set(&mut to.interval, args.stream_interval);
    set(&mut to.rate, args.stream_rate);
    set(&mut to.duration, args.stream_call_duration);
    set(&mut to.count, args.stream_call_count);
    set(&mut to.dynamic, args.stream_dynamic_messages);
}

fn set_load(args: &LoadArgs, schedules: &ScheduleArgs, to: &mut LoadSpec) {
    set(&mut to.total, args.total);
    match args.duration {
        Some(duration) => to.duration = duration,
        // A number of calls replaces the duration of a file.
        None if args.total.is_some() => to.duration = Duration::ZERO,
        None => {}
    }
    set(&mut to.max_duration, args.max_duration);
    set(&mut to.duration_stop, args.duration_stop);
    set_some(&mut to.drain_timeout, args.drain_timeout);
    set(&mut to.is_async, args.is_async);
    set(&mut to.connections, args.connections);
    set(&mut to.share, args.share);
    match (args.limits.threads, args.limits.cpus) {
        // A limit, not an order: a thread without a connection would be refused.
        (None, Some(cpus @ 1..)) => {
            let own = to.share.lane().count(to.connections.into());
            let own = u32::try_from(own.max(1)).unwrap_or(u32::MAX);
            to.threads = Some(to.threads.unwrap_or(own).min(cpus));
        }
        (threads, _) => set_some(&mut to.threads, threads),
    }
    set(&mut to.coalesce_sends, args.coalesce_sends);
    set(&mut to.spin, args.spin);
    set(&mut to.warmup, args.warmup);
    set(&mut to.open_on_stdin, args.open_on_stdin);
    set_some(&mut to.warmup_at_most, args.warmup_at_most);

    let rate = &mut to.rate;
    set(&mut rate.rps, args.rps);
    set(&mut rate.schedule, schedules.load_schedule);
    set(&mut rate.start, schedules.load_start);
    set(&mut rate.step, schedules.load_step);
    set_some(&mut rate.end, schedules.load_end);
    set(&mut rate.step_duration, schedules.load_step_duration);
    set(&mut rate.max_duration, schedules.load_max_duration);

    let workers = &mut to.concurrency;
    set(&mut workers.workers, args.concurrency);
    set(&mut workers.schedule, schedules.concurrency_schedule);
    set(&mut workers.start, schedules.concurrency_start);
    set(&mut workers.step, schedules.concurrency_step);
    set_some(&mut workers.end, schedules.concurrency_end);
    let step_duration = schedules.concurrency_step_duration;
    set(&mut workers.step_duration, step_duration);
    let max_duration = schedules.concurrency_max_duration;
    set(&mut workers.max_duration, max_duration);
}

fn set_checks(args: &CheckArgs, to: &mut CheckSpec) {
    set(&mut to.expect, args.expect.clone());
    set_some(&mut to.replies, args.expect_replies);
    set(&mut to.fail_if, args.fail_if.clone());
}

fn set_count(args: &OutputArgs, to: &mut CountSpec) {
    set(&mut to.skip_first, args.skip_first);
    set(&mut to.count_errors, args.count_errors);
    set(&mut to.details, args.details);
}

fn set<T>(to: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *to = given;
    }
}

fn set_some<T>(to: &mut Option<T>, given: Option<T>) {
    if given.is_some() {
        *to = given;
    }
}

/// An empty value counts as not given, as in ghz.
pub fn filled(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The same for the file of a report; `-` is stdout.
pub fn filled_file(path: &Option<PathBuf>) -> Option<PathBuf> {
    filled_path(path).filter(|path| path != Path::new(STDOUT))
}

/// The same for a path.
pub fn filled_path(path: &Option<PathBuf>) -> Option<PathBuf> {
    path.clone().filter(|path| !path.as_os_str().is_empty())
}
