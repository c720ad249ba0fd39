//! Turns flags into [`Options`]: adds defaults, and refuses combinations that make no sense.

mod blast;
mod error;
mod given;
mod load;
mod payload;
mod schedules;
mod security;
mod target;
mod told;

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

pub use blast::resolve as resolve_blast;
pub use error::UsageError;

use super::args::{Format, RunArgs};
use super::options::Options;

const MIB: u32 = 1 << 20;
/// ghz's own setting for its client.
const MAX_RECV_MESSAGE: u32 = i32::MAX as u32;
/// Large enough that flow control never delays a loopback stream.
const WINDOW: u32 = 16 * MIB;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of single calls that ghz keeps.
const CSV_DETAILS: u64 = 1_000_000;

/// Checks the flags and adds the defaults. Reads payloads and metadata; reads `stdin` only if a
/// flag names it.
pub fn resolve(args: RunArgs, stdin: &mut impl Read) -> Result<Options, UsageError> {
    let target = target::resolve(&args.target)?;
    let security = security::resolve(&args.connection)?;
    let load = load::resolve(&args.load)?;
    let schedules = schedules::resolve(&args.schedules, &load)?;
    schedules::check_connections(&load, &schedules)?;
    let metadata = payload::metadata(&args.data)?;
    let told_within = told::resolve(&args, &load, &schedules)?;
    let data = payload::data(&args.data, stdin)?;
    let (run, data_flags, connection, output) =
        (&args.load, &args.data, &args.connection, args.output);

    let skip_first = output.skip_first.unwrap_or_default();
    if let Some(total) = load.total.filter(|total| skip_first >= *total) {
        return Err(UsageError::SkipAll { skip_first, total });
    }
    let connect_timeout = match connection.connect_timeout {
        Some(Duration::ZERO) => return Err(UsageError::NoConnectTimeout),
        given => given.unwrap_or(CONNECT_TIMEOUT),
    };
    let format = output.format.unwrap_or_default();
    let templates_in_data = !on(data_flags.disable_template_data);
    let mut options = Options {
        host: target.host,
        port: target.port,
        authority: security.authority,
        schema: target.schema,
        call: target.call,
        data,
        metadata,
        drain_timeout: load.drain_timeout,
        total: load.total,
        duration: load.duration,
        max_duration: load.max_duration,
        duration_stop: run.duration_stop.unwrap_or_default(),
        timeout: load.timeout,
        concurrency: load.concurrency,
        connections: load.connections,
        threads: load.threads,
        rps: schedules.load.rps,
        is_async: on(run.is_async),
        load: schedules.load,
        concurrency_schedule: schedules.concurrency,
        skip_first,
        count_errors: on(output.count_errors),
        security: security.security,
        compress: on(connection.enable_compression),
        connect_timeout,
        keepalive: above_zero(connection.keepalive),
        max_recv_message: connection.max_recv_message_size.unwrap_or(MAX_RECV_MESSAGE) as usize,
        window: connection.window.unwrap_or(WINDOW),
        stream_interval: data_flags.stream_interval.unwrap_or_default(),
        stream_call_duration: above_zero(data_flags.stream_call_duration),
        stream_call_count: data_flags.stream_call_count.unwrap_or_default(),
        templates_in_data,
        template_functions: templates_in_data && !on(data_flags.disable_template_functions),
        output: filled_path(output.output),
        format,
        name: output.name.unwrap_or_default().trim().to_owned(),
        tags: output.tags.unwrap_or_default(),
        details: output.details.unwrap_or(match format {
            Format::Csv => CSV_DETAILS,
            _ => 0,
        }),
        quiet: on(output.quiet),
        warmup: run.warmup.unwrap_or_default(),
        told_within,
        expect: args.checks.expect.unwrap_or_default(),
        expect_replies: args.checks.expect_replies,
        given: Value::Null,
    };
    options.given = given::of(&options, target.written);
    Ok(options)
}

fn on(switch: Option<bool>) -> bool {
    switch.unwrap_or(false)
}

/// On the command line, zero means "none".
fn above_zero(time: Option<Duration>) -> Option<Duration> {
    time.filter(|time| !time.is_zero())
}

/// An empty value counts as not given, as in ghz.
fn filled(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn filled_path(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}
