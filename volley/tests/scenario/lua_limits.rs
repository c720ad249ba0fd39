//! Scripts that take all that they can get, as whole runs: memory stays below 256 MiB, and one line says what ended them.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use volley::serve::Faults;

use crate::common::{Scratch, command, own_address, quiet_listener, reference, table};

/// The most memory of a process whose scripts may have 64 MiB.
const MOST: u64 = 256 << 20;

/// What came of a run.
struct Ran {
    status: Option<i32>,
    report: Value,
    errors: String,
}

impl Ran {
    fn of(mut command: Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        Self {
            status: status.code(),
            report: serde_json::from_slice(&stdout).unwrap_or_default(),
            errors: String::from_utf8(stderr).unwrap(),
        }
    }

    /// The most memory that the process had, in bytes.
    fn peak(&self) -> u64 {
        let peak = self.report["peak_bytes"].as_u64();
        peak.unwrap_or_else(|| panic!("{}", self.errors))
    }

    /// What the script's step failed with.
    fn failures(&self) -> String {
        self.report["steps"][0]["failures"].to_string()
    }
}

/// Runs a script on a step, for three iterations.
fn step(script: &str) -> Ran {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    fs::write(scratch.path("x.lua"), script).unwrap();
    let text = format!(
        "targets: {{api: \"http://{}\"}}
scenarios:
  crud:
    steps:
      - name: create
        post: ${{api}}/v1/items
        json: {{owner: ann}}
        lua: {{file: x.lua}}
load: [{{users: 1, iterations: 3}}]
",
        server.address()
    );
    fs::write(scratch.path("shop.yaml"), text).unwrap();
    let mut command = command(["run", "-O", "json", "shop.yaml"]);
    command.current_dir(scratch.path("."));
    Ran::of(command)
}

/// Runs a program, in a folder with a server's file.
fn program(text: &str) -> Ran {
    let scratch = Scratch::new();
    let server = own_address();
    let (host, port) = (server.ip(), server.port());
    let mock = format!(
        r#"{{"address": "{host}", "port": {port}, "Service": [{{"Request": {{"name": "all"}}}}]}}"#
    );
    fs::write(scratch.path("mock.json"), mock).unwrap();
    let text = format!(
        "local function to(server)
  return {{[':scheme'] = 'http', [':authority'] = server, [':method'] = 'POST', [':path'] = '/'}}
end
local mock = '{server}'
{text}"
    );
    fs::write(scratch.path("x.lua"), text).unwrap();
    let mut command = command(["run", "-O", "json", "--duration", "60s", "x.lua"]);
    command.current_dir(scratch.path("."));
    Ran::of(command)
}

/// What ends the run, and words of its line.
const GREEDY: &str = "
    function request(req) while true do req:set_body(('x'):rep(1e6)) end end => (bodies, paths and headers) has more than 64 MiB in one thread
    function request(req) while true do req:set_path('/' .. ('x'):rep(1e6)) end end => (bodies, paths and headers) has more than 64 MiB in one thread
    function make_request(_, _, headers) return headers, ('x'):rep(8e7) end => has more than 64 MiB (`limits.lua_memory`)
";

#[test]
fn what_rust_keeps_for_scripts_is_counted() {
    for [script, words] in table(GREEDY) {
        let ran = step(script);
        assert_eq!(ran.status, Some(1), "{script}: {}", ran.errors);
        assert!(ran.errors.contains(words), "{script}: {}", ran.errors);
        assert!(ran.peak() < MOST, "{script}: {}", ran.peak());
    }
}

/// Scripts that fail, and words of why.
const BOUNDED: &str = "
    function make_request(_, _, all) for i = 1, 1e5 do all['x' .. i] = 'y' end return all, '' end => a script may change 1000 headers of a request
    function request(req) for i = 1, 1e5 do req:set_header('x' .. i, 'y') end end => a script may change 1000 headers of a request
    function response(res) for i = 1, 300 do res:json('/' .. ('a'):rep(4e6) .. i) end end => a JSON pointer has at most 1024 bytes
    function response(res) vars.a = ('x'):rep(2e7) end => a value has at most 1 MiB
    function response(res) local function f() return coroutine.wrap(f)() end f() end => C stack overflow
    function response(res) fail(('x'):rep(2e7)) end => xxxx
    function response(res) error(('x'):rep(1e7)) end => x.lua:1: xxxx
";

#[test]
fn what_has_no_place_fails_the_step_alone() {
    for [script, words] in table(BOUNDED) {
        let ran = step(script);
        assert_eq!(ran.status, Some(1), "{script}: {}", ran.errors);
        let failures = ran.failures();
        assert!(failures.contains(words), "{script}: {failures}");
        assert_eq!(ran.report["iterations"]["failed"], 3, "{script}");
        assert!(ran.peak() < MOST, "{script}: {}", ran.peak());
    }
}

#[test]
fn patterns_take_no_memory_that_is_not_lua_s() {
    let script = "function response(res)
  for i = 1, 300 do
    local x = ('x'):find(('[%w]'):rep(4e5) .. i)
  end
end";
    let ran = step(script);
    assert!(ran.peak() < MOST, "{}", ran.errors);
}

#[test]
fn a_function_that_never_returns_ends_the_process_with_a_line() {
    let words = "the script ran longer than 500 ms, in one function that could only be ended with volley: there is no report\n";
    let script = "function response(res) local x = ('a'):rep(9999):find('.-.-.-.-b') end";
    let line = format!("error: step `create` ended the run: x.lua: {words}");
    let ran = step(script);
    assert_eq!((ran.status, ran.errors), (Some(1), line));
    let line = format!("error: x.lua: {words}");
    for text in [
        "local x = ('a'):rep(3e7):find(('a'):rep(1e7) .. 'b', 1, true)",
        "register_service_handler(start_server('mock.json'), 'all', 'answer')
         function answer() return ('a'):rep(9999):find('.-.-.-.-b') end
         send_http_request_and_await_response(to(mock), '')",
    ] {
        let ran = program(text);
        assert_eq!((ran.status, &ran.errors), (Some(1), &line), "{text}");
    }
}

#[test]
fn a_handler_of_a_server_has_the_same_depth() {
    let ran = program(
        "register_service_handler(start_server('mock.json'), 'all', 'answer')
         function answer() return coroutine.wrap(answer)() end
         send_http_request_and_await_response(to(mock), '')",
    );
    assert_eq!(ran.status, Some(1), "{}", ran.errors);
    assert!(ran.errors.ends_with("C stack overflow\n"), "{}", ran.errors);
}

#[test]
fn requests_that_are_not_over_are_counted() {
    let silent = quiet_listener();
    let ran = program(&format!(
        "setup_parallel_test(1, 1, 1000)
         send_http_request_and_await_response(to('{}'), ('x'):rep(1e6), 600000)",
        silent.local_addr().unwrap()
    ));
    assert_eq!(ran.status, Some(1), "{}", ran.errors);
    let words = "x.lua: requests that are not over, and their responses, have more than 256 MiB\n";
    assert!(ran.errors.ends_with(words), "{}", ran.errors);
    // As much again may be in the state.
    assert!(ran.peak() < 3 * MOST, "{}", ran.peak());
}

#[test]
fn what_a_script_prints_reaches_no_terminal_unseen() {
    let ran = step("function response(res) print('\\27[31mred', 'a\\nb\\r') end");
    assert_eq!(ran.status, Some(0), "{}", ran.errors);
    assert_eq!(ran.errors, "\\u{1b}[31mred\ta\nb\\r\n".repeat(3));
}
