//! The look of help: headings, colours, examples.

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Style};
use clap::{Arg, ArgAction, Command};

use crate::request::function_groups;

/// Lines of help are no longer.
const WIDTH: usize = 100;

pub(super) const OTHER: &str = "Other";

const STYLES: Styles = Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(Style::new().dimmed());

const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}\n\n{all-args}{after-help}\n";

pub(super) const ABOUT: &str = "\
Send gRPC calls at full speed or at a fixed rate. Count and check every message that comes back.

The command line is ghz's: same names, shorthands, defaults and meanings. A + marks flags that only
volley has. A TIME is a number with a unit: 500ms, 5s, 1m30s. A SIZE is a number of bytes: 65535,
64KiB, 4 MB. The prefix no- turns off a flag that takes no value, as in --no-insecure.";

const EXAMPLES: &str = "\
Examples:
  10,000 unary calls over one connection, 50 at a time:
    volley --insecure --proto greeter.proto --call helloworld.Greeter/SayHello \\
           -d '{\"name\": \"Joe\"}' -n 10000 localhost:50051

  Five seconds of streams over 64 connections; every reply is checked against its request:
    volley --insecure --proto benchmark.proto --call benchmark.BenchmarkService/StreamSum \\
           -d '{\"a\": 1, \"b\": 2, \"count\": 5000}' --connections 64 -c 256 -z 5s \\
           --expect-replies 5000 --expect 'result = a + b + i' localhost:8080

  1,000 calls/s for a minute over TLS; latency starts when a call was due:
    volley --cacert ca.pem --proto greeter.proto --call helloworld.Greeter/SayHello \\
           --rps 1000 -z 1m --warmup 5s -O html -o report.html greeter.example.com:443

  Flags from a file; -c overrides one of them:
    volley --config bench.toml -c 20

`volley list` and `volley describe` show what a server offers, and `volley try` makes one call.
`volley blast` sends many calls at the same moment: see `volley blast --help`.
`volley find` finds the highest rate that keeps a limit: see `volley find --help`.
`volley merge` makes one report of those of several processes: see `volley merge --help`.
`volley compare` reports what changed from one run to another: see `volley compare --help`.
`volley run` runs scenarios, requests that depend on each other: see `volley run --help`.
`volley check` reports what such a file would do: see `volley check --help`.
`volley import` makes such a file of one of h2loadrunner: see `volley import --help`.
`volley edit` edits such a file in a form in the browser: see `volley edit --help`.
`volley schema` prints the JSON Schema of a file for --config.
`volley schema scenario` prints that of a scenario file.
`volley completions SHELL` prints completions for bash, elvish, fish, powershell or zsh.
`volley man` prints the manual page: `volley man > volley.1`.
`volley serve` starts a server to try these commands on: see `volley serve --help`.";

pub(super) const BLAST_ABOUT: &str = "\
Send N unary calls at the same moment, and measure how many per second are answered. Repeat this for
many values of N, over one connection, a few, and many.

Before each blast, all connections are open and all calls are encoded. The throughput of a blast is
its number of OK calls, divided by the time from the first send to the last OK response. Latency
starts when the calls are released, so it includes any wait for the server's limits.

A TIME is a number with a unit: 500ms, 5s, 1m30s. A SIZE is a number of bytes: 65535, 64KiB, 4 MB.
The prefix no- turns off a flag that takes no value, as in --no-insecure.";

pub(super) const BLAST_EXAMPLES: &str = "\
Examples:
  The whole sweep; every reply is checked:
    volley blast --insecure --proto benchmark.proto --call benchmark.BenchmarkService/GetSum \\
           -d '{\"a\": 1, \"b\": 2}' --expect 'result = a + b' localhost:8080

  A quick look, as JSON:
    volley blast --insecure --proto benchmark.proto --call benchmark.BenchmarkService/GetSum \\
           --requests 10,100,1000 --connections 1,100 --repetitions 3 -O json localhost:8080";

pub(super) const FIND_ABOUT: &str = "\
Find the highest rate, in calls/s, at which 99 % of the calls take no longer than --p99, and no more
than --failed of them fail; with its 95 % interval.

Calls come at random (Poisson arrivals), and do not wait for workers. A response time starts when a
call was due; a call that never ended is over the limit. The rate doubles from 100/s on until the
limits are not kept, and is then searched for by windows of a few seconds. Each window is shown.

If even 100/s does not keep the limits, that is the answer; if volley itself sends late where they
are not kept, a lower bound is. Exit status: 0 for each of these answers.

A TIME is a number with a unit: 500ms, 5s, 1m30s. A SIZE is a number of bytes: 65535, 64KiB, 4 MB.
The prefix no- turns off a flag that takes no value, as in --no-insecure.";

pub(super) const FIND_EXAMPLES: &str = "\
Examples:
  The rate at which 99 % of the calls take at most 10 ms:
    volley find --p99 10ms --insecure --call benchmark.BenchmarkService/GetSum \\
           -d '{\"a\": 1, \"b\": 2}' --connections 16 localhost:8080

  A longer search, for a narrower interval, as JSON:
    volley find --p99 10ms --failed 1% --budget 5m -O json --proto greeter.proto \\
           --call helloworld.Greeter/SayHello greeter.example.com:443";

pub(super) const TRY_ABOUT: &str = "\
Make one call, and print all that is seen of it as JSON: request, headers, replies, trailers, status
and times.

The flags are those of a run. Times are milliseconds; those of headers, replies and the end count
from when the call was sent. Secret metadata is masked. Exit status: 0 if the status is OK, 1 if not.";

pub(super) const TRY_EXAMPLES: &str = "\
Examples:
  A server that describes itself, by reflection:
    volley try --insecure --call grpc.health.v1.Health/Check localhost:50051

  The call of a run:
    volley try --config bench.toml";

pub(super) const LIST_ABOUT: &str = "\
List the services of a server and their methods, as the server describes them (reflection). With
--proto or --protoset, list those of a file; no server is asked then.";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  volley list --insecure localhost:50051
  volley list greeter.example.com:443 helloworld.Greeter
  volley list --proto greeter.proto";

pub(super) const DESCRIBE_ABOUT: &str = "\
Show how a service, a method, a message or an enum is declared, as the text of a .proto file. The
server is asked (reflection); with --proto or --protoset, a file is read instead.";

pub(super) const DESCRIBE_EXAMPLES: &str = "\
Examples:
  volley describe --insecure localhost:50051 helloworld.Greeter
  volley describe --insecure localhost:50051 helloworld.Greeter/SayHello
  volley describe --proto greeter.proto helloworld.HelloRequest";

pub(super) const SERVE_EXAMPLES: &str = "\
Examples:
  volley serve --threads 1
  volley serve --listen 127.0.0.1:0 --tls-cert server.crt --tls-key server.key
  volley serve --service exp:1ms --servers 4 --seed 7
  volley serve --freeze 2s:1s --reset-every 100
  volley serve --status-every 503:100 --no-location-every 1000";

/// The functions of templates by group, and examples of a run.
pub(super) fn of_run() -> String {
    let mut text = "Functions of templates, beside Go's own:".to_owned();
    for (group, names) in function_groups() {
        let mut line = format!("\n  {group}:");
        let mut names = names.into_iter().peekable();
        while let Some(name) = names.next() {
            let mark = if names.peek().is_some() { "," } else { "" };
            if line.len() + name.len() + 2 > WIDTH {
                text += &line;
                line = "\n   ".to_owned();
            }
            line += &format!(" {name}{mark}");
        }
        text += &line;
    }
    format!("{text}\n\n{EXAMPLES}")
}

/// What all commands have in common.
pub(super) fn dress(command: Command, examples: &'static str) -> Command {
    let help = Arg::new("help").short('h').long("help");
    let help = help.action(ArgAction::HelpShort).help_heading(OTHER);
    command
        .bin_name("volley")
        .help_template(TEMPLATE)
        .styles(STYLES)
        .max_term_width(WIDTH)
        .after_help(examples)
        .disable_help_flag(true)
        .arg(help.help("Print this help"))
}
