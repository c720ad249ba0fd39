//! Scripts that are no good, as whole runs: one line each.

use std::fs;

use volley::serve::Faults;

use crate::common::{Scratch, command, has, outcome, reference};

/// What comes before the error of a run that had a report.
const FAILED: &str = "failed: no request succeeded; the report says why\n";

/// Runs a file with a script beside it: the exit status and stderr.
fn volley(words: &[&str], script: &str, limits: &str) -> (i32, String) {
    let (status, _, errors) = shown(words, script, limits);
    (status, errors)
}

/// The same, with stdout between them.
fn shown(words: &[&str], script: &str, limits: &str) -> (i32, String, String) {
    let server = reference(Faults::default());
    let scratch = Scratch::new();
    fs::write(scratch.path("x.lua"), script).unwrap();
    let text = format!(
        "targets: {{api: \"http://{}\"}}
limits: {{{limits}}}
scenarios:
  crud:
    steps:
      - name: create
        post: ${{api}}/v1/items
        json: {{owner: ann}}
        lua: {{file: x.lua}}
load: [{{users: 1, for: 1h}}]
",
        server.address()
    );
    fs::write(scratch.path("shop.yaml"), text).unwrap();
    let mut program = command(words);
    outcome(program.arg("shop.yaml").current_dir(scratch.path(".")))
}

#[test]
fn an_endless_loop_is_named_with_its_line() {
    let script = "function response(res)\n  while true do end\nend";
    let line = format!(
        "{FAILED}error: step `create` ended the run: x.lua:2: the script ran longer than 500 ms\n"
    );
    assert_eq!(volley(&["run"], script, ""), (1, line));
    let line = "error: x.lua:1: the script ran longer than 500 ms\n";
    let script = "while true do end function request(req) end";
    assert_eq!(volley(&["run"], script, ""), (2, line.to_owned()));
}

#[test]
fn a_mistake_of_syntax_is_named_with_its_line() {
    let script = "function response(res)\n  if res.status then\nend";
    let line = "shop.yaml:9: scenarios.crud.steps[0].lua: x.lua:3: 'end' expected (to close 'function' at line 1) near '<eof>'\n";
    for command in [&["run"][..], &["check"]] {
        assert_eq!(volley(command, script, ""), (2, line.to_owned()));
    }
}

#[test]
fn what_eats_memory_is_named_with_its_limit() {
    let script = "local all = {}\nfunction response(res)\n  for i = 1, 1e9 do all[i] = res:body():rep(10000) .. i end\nend";
    let (status, line) = volley(&["run"], script, "lua_memory: 8MiB");
    // The line that was last seen, or else that where the function begins.
    let line = line.replace("x.lua:3: ", "x.lua:2: ");
    let words = "error: step `create` ended the run: x.lua:2: the state of Lua has more than 8 MiB (`limits.lua_memory`)\n";
    assert_eq!((status, line), (1, format!("{FAILED}{words}")));
}

#[test]
fn what_a_script_made_of_a_request_is_shown() {
    let script = "function request(req)
  req:set_header('content-type', nil)
  req:set_header('x-made', 'by Lua')
  req:set_body('{\"owner\": \"bob\"}')
end";
    let (status, out, _) = shown(&["check", "--once"], script, "");
    assert_eq!(status, 0, "{out}");
    has(&out, "> x-made: by Lua\n");
    has(&out, "\"bob\"");
    assert!(
        !out.contains("> content-type") && !out.contains("ann"),
        "{out}"
    );
}

#[test]
fn a_value_that_a_script_sets_is_shown_as_saved() {
    let script = "function response(res) vars.rev = res:json('/item/rev') end";
    let (status, out, _) = shown(&["check", "--once"], script, "");
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("  saved ${rev} = 1\n"), "{out}");
}

#[test]
fn files_are_there_with_allow_io_only() {
    let script =
        "local own = io.open('x.lua'):read('*a')\nfunction response(res) fail(own:sub(1, 9)) end";
    let (status, line) = volley(&["run"], script, "");
    assert_eq!(status, 2);
    let words =
        "error: x.lua:1: attempt to index global 'io' (a nil value): `io` needs `--allow-io`\n";
    assert_eq!(line, words);
    let (status, line) = volley(&["check", "--once", "--allow-io"], script, "");
    assert_eq!((status, line.as_str()), (1, ""));
}
