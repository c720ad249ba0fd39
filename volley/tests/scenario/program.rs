//! Programs of Lua, as whole runs against the reference server, and against servers of their own.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::Value;
use volley::http2::ErrorCode;
use volley::http2::frame::{Kind, write_go_away, write_rst_stream, write_settings};
use volley::serve::{Faults, Identity};

use crate::common::scratch::Certificate;
use crate::common::scripted::{self, Peer};
use crate::common::{
    self, BlackHole, Scratch, has, outcome, own_address, quiet_listener, reference, served,
    settled, table,
};

/// What came of a run.
struct Ran {
    status: i32,
    report: Value,
    /// What it printed, a line each.
    errors: Vec<String>,
}

impl Ran {
    fn number(&self, pointer: &str) -> u64 {
        let value = self.report.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("{pointer}: {:#}", self.report))
    }

    /// The row of a name.
    fn row(&self, name: &str) -> &Value {
        let rows = self.report["steps"].as_array();
        let row = rows.into_iter().flatten().find(|row| row["name"] == name);
        row.unwrap_or_else(|| panic!("{name}: {:#}", self.report))
    }
}

fn command(scratch: &Scratch, text: &str, words: &[&str]) -> Command {
    fs::write(scratch.path("x.lua"), text).unwrap();
    let mut command = common::command(["run", "x.lua"]);
    command.args(words).current_dir(scratch.path("."));
    command
}

fn ran_in(scratch: &Scratch, text: &str, words: &[&str]) -> Ran {
    let words = [&["-O", "json"], words].concat();
    let (status, report, errors) = outcome(&mut command(scratch, text, &words));
    Ran {
        status,
        report: serde_json::from_str(&report).unwrap_or_default(),
        errors: errors.lines().map(str::to_owned).collect(),
    }
}

fn ran(text: &str, words: &[&str]) -> Ran {
    ran_in(&Scratch::new(), text, words)
}

/// A program that begins with the headers of a request to a server.
fn to(server: impl std::fmt::Display, rest: &str) -> String {
    format!(
        "local function to(method, path)
  return {{[':scheme']='http', [':authority']='{server}', [':method']=method, [':path']=path}}
end
{rest}"
    )
}

const ITEMS: &str = "
for i = 1, 3 do
  local head, body = send_http_request_and_await_response(to('POST', '/v1/items'), '{\"owner\":\"ann\"}')
  assert(head[':status'] == '201', body)
  local change = to('PATCH', head.location)
  change[':step'] = 'change'
  assert(send_http_request_and_await_response(change, '{\"state\":\"paid\"}')[':status'] == '204')
  assert(send_http_request_and_await_response(to('DELETE', head.location))[':status'] == '204')
end
";

#[test]
fn each_coroutine_makes_its_requests_and_the_server_counts_the_same() {
    let server = reference(Faults::default());
    let text = to(
        server.address(),
        &format!("setup_parallel_test(2, 3, 20)\n{ITEMS}"),
    );
    let ran = ran(&text, &[]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    let counts = settled(&server);
    assert_eq!(
        (counts.created, counts.patched, counts.deleted),
        (60, 60, 60)
    );
    assert!(counts.connections <= 6, "{}", counts.connections);
    assert_eq!(
        (ran.number("/requests/ok"), ran.number("/iterations/ok")),
        (180, 20)
    );
    assert_eq!(ran.row("change")["statuses"]["204"], 60);
    let target = format!("http://{}", server.address());
    assert_eq!(ran.report["targets"], Value::from(vec![target]));
    let posted = format!("POST {}", server.address());
    assert_eq!(ran.row(&posted)["statuses"]["201"], 60);
}

#[test]
fn a_single_coroutine_may_be_asked_for_too() {
    let server = reference(Faults::default());
    let text = format!("setup_parallel_test(1, 1, 1)\n{ITEMS}");
    let ran = ran(&to(server.address(), &text), &[]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    assert_eq!(
        (settled(&server).created, ran.number("/iterations/ok")),
        (3, 1)
    );
}

#[test]
fn thousands_of_coroutines_wait_at_the_same_time() {
    let ran = ran("setup_parallel_test(1, 1, 9000) sleep_for_ms(1)", &[]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[IDLE.to_owned()][..]));
    assert_eq!(ran.number("/iterations/ok"), 9000);
}

#[test]
fn http_1_is_spoken_if_the_program_says_so() {
    let server = reference(Faults::default());
    let items = ITEMS.replace("to(", "to1(");
    let text = to(
        server.address(),
        &format!(
            "function to1(...) local t = to(...) t['x-protocol-to-use'] = 'http/1.1' return t end
setup_parallel_test(1, 2, 4)
{items}"
        ),
    );
    let ran = ran(&text, &[]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    let counts = settled(&server);
    assert_eq!(
        (counts.created, counts.deleted, counts.connections),
        (12, 12, 2)
    );
}

#[test]
fn a_response_can_be_awaited_later_and_nonsense_has_an_empty_one() {
    let server = reference(Faults::default());
    let text = to(
        server.address(),
        &format!(
            "
local client = make_connection('http://{0}')
local a, b = send_http_request(to('GET', '/v1/items/none'))
local c, d = send_http_request(to('POST', '/v1/items'), '{{\"owner\":\"ann\"}}')
print(client == a, a == c, b ~= d)
print(await_response(c, d)[':status'], await_response(a, b)[':status'])
print(next((await_response(a, b))), select(2, await_response(-1, -1)) == '')
print(make_connection(1), send_http_request(1, 2), send_http_request({{[':path']='/'}}))
local head, body, last = send_http_request_and_await_response('x')
print(next(head), body, next(last))
print(parse_uri('http://a:1/b?c')[':path'], parse_uri('/b')[':scheme'], parse_uri('x'))
print(#generate_uuid_v4(), resolve_hostname('127.0.0.1')[1], #resolve_hostname('no such name'))
local began = time_since_epoch()
sleep_for_ms(20)
print(time_since_epoch() - began >= 20)
",
            server.address()
        ),
    );
    let ran = ran(&text, &[]);
    let lines = [
        "true\ttrue\ttrue",
        "201\t404",
        "nil\ttrue",
        "-1\t-1\t-1\t-1",
        "nil\t\tnil",
        "/b?c\tnil\tnil",
        "36\t127.0.0.1\t0",
        "true",
    ];
    assert_eq!(ran.errors, lines);
    assert_eq!(ran.status, 0);
    assert_eq!(
        ran.row("requests that cannot be sent")["requests"]["unsent"],
        3
    );
}

#[test]
fn a_call_of_grpc_has_trailers() {
    let server = reference(Faults::default());
    let text = to(
        server.address(),
        "
local head, body, last = send_grpc_request_and_await_response(to('', '/no.Service/Method'), '')
local status = last['grpc-status'] or head['grpc-status']
print(head[':status'], status)
local head, body, last = send_grpc_request_and_await_response(to('', '/grpc.health.v1.Health/Check'), '')
print(#body, body:byte(1), body:sub(6) == '\\8\\1', last['grpc-status'])
",
    );
    let ran = ran(&text, &[]);
    assert_eq!(ran.errors, ["200\t12", "7\t0\ttrue\t0"]);
    assert_eq!(ran.row("/grpc.health.v1.Health/Check")["requests"]["ok"], 1);
    assert_eq!(ran.row("/no.Service/Method")["requests"]["failed"], 1);
}

#[test]
fn a_request_without_an_answer_ends_at_its_timeout_and_a_dead_port_at_once() {
    let quiet = quiet_listener();
    let dead = scripted::nobody();
    let text = to(
        quiet.local_addr().unwrap(),
        &format!(
            "
local headers = to('GET', '/')
headers['x-protocol-to-use'] = 'http/1.1'
print(next((send_http_request_and_await_response(headers, '', 50))))
headers[':authority'] = '{dead}'
print(next((send_http_request_and_await_response(headers))), make_connection('http://{dead}'))
"
        ),
    );
    let ran = ran(&text, &[]);
    let last = "failed: no request succeeded; the report says why";
    assert_eq!(
        (ran.status, &ran.errors[..]),
        (1, &["nil", "nil\t-1", last].map(str::to_owned)[..])
    );
    let row = ran.row(&format!("GET {}", quiet.local_addr().unwrap()));
    assert_eq!(row["failures"][0]["reason"], "timeout");
    assert_eq!(
        ran.row(&format!("GET {dead}"))["failures"][0]["reason"],
        "connect"
    );
}

/// A good response without a body.
fn respond(peer: &mut Peer, stream: u32) {
    peer.headers(stream, &[(":status", "204")], true);
}

#[test]
fn a_request_that_is_sent_again_is_awaited_by_its_first_stream() {
    let server = scripted::serve(|_| {
        let mut later = Vec::new();
        move |header, peer| {
            if header.kind == Kind::Headers && header.stream == 1 {
                write_rst_stream(&mut peer.out, 1, ErrorCode::RefusedStream);
            } else if header.kind == Kind::Headers {
                later.push(header.stream);
            }
            // The first one is over when the second one's response is there.
            if later.len() == 2 {
                later.drain(..).for_each(|stream| respond(peer, stream));
            }
            true
        }
    });
    let text = "
local connection, stream = send_http_request(to('GET', '/'))
send_http_request_and_await_response(to('GET', '/'))
print(await_response(connection, stream)[':status'])
";
    let ran = ran(&to(server, text), &[]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &["204".to_owned()][..]));
}

#[test]
fn a_request_is_not_sent_again_once_its_response_has_begun() {
    let server = scripted::serve(|_| {
        |header, peer| {
            if header.kind == Kind::Headers {
                peer.headers(header.stream, &[(":status", "200")], false);
                write_rst_stream(&mut peer.out, header.stream, ErrorCode::RefusedStream);
            }
            true
        }
    });
    let text = "send_http_request_and_await_response(to('GET', '/'))";
    let ran = ran(&to(server, text), &[]);
    let row = ran.row(&format!("GET {server}"));
    assert_eq!(row["failures"][0]["reason"], "reset", "{row:#}");
}

/// SETTINGS_MAX_CONCURRENT_STREAMS.
const MOST_STREAMS: u16 = 3;

/// The first connection over HTTP/2 takes no request; each has room for one. The next one answers once there was a
/// request over HTTP/1.1.
fn with_little_room() -> SocketAddr {
    let (tell, told) = mpsc::channel();
    let told = Arc::new(Mutex::new(told));
    let is_later = Arc::new(AtomicBool::new(false));
    scripted::accept(move |_| {
        let (tell, told, is_later) = (tell.clone(), Arc::clone(&told), Arc::clone(&is_later));
        move |mut socket: TcpStream| {
            let (mut first, mut out) = ([0], Vec::new());
            socket.peek(&mut first)?;
            if &first == b"G" {
                tell.send(()).unwrap();
                socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
                // What comes is read: otherwise a reset would discard the answer.
                return socket.read_to_end(&mut Vec::new()).map(drop);
            }
            let is_later = is_later.swap(true, Ordering::Relaxed);
            write_settings(&mut out, &[(MOST_STREAMS, 1)]);
            socket.write_all(&out)?;
            scripted::converse(socket, move |header, peer| {
                if header.kind == Kind::Headers && !is_later {
                    write_go_away(&mut peer.out, 0, ErrorCode::NoError, &[]);
                } else if header.kind == Kind::Headers {
                    told.lock().unwrap().recv().unwrap();
                    respond(peer, header.stream);
                }
                true
            })
        }
    })
}

#[test]
fn a_request_that_waits_to_be_sent_again_cancels_no_other_one_at_its_timeout() {
    let text = "
if setup_parallel_test(1, 1, 2) == 1 then
  print(send_http_request_and_await_response(to('GET', '/'))[':status'])
else
  send_http_request_and_await_response(to('GET', '/refused'), '', 100)
  local tell = to('GET', '/')
  tell['x-protocol-to-use'] = 'http/1.1'
  send_http_request_and_await_response(tell)
end
";
    let ran = ran(&to(with_little_room(), text), &[]);
    assert_eq!(ran.errors, ["204"]);
}

#[test]
fn what_helps_against_another_protocol_is_in_the_words_of_programs() {
    let server = scripted::saying(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    let text = "send_http_request_and_await_response(to('GET', '/'))";
    let ran = ran(&to(server, text), &[]);
    let failure = &ran.row(&format!("GET {server}"))["failures"][0];
    let words = failure["samples"][0].as_str().unwrap();
    let remedy = r#"write `["x-protocol-to-use"] = "http/1.1"`"#;
    assert!(words.contains(remedy), "{words}");
}

/// A server's file, and its address.
fn mock(scratch: &Scratch, services: &str) -> SocketAddr {
    let address = own_address();
    let (host, port) = (address.ip(), address.port());
    let text = format!(r#"{{"address": "{host}", "port": {port}, "Service": [{services}]}}"#);
    fs::write(scratch.path("mock.json"), text).unwrap();
    address
}

const SERVICES: &str = r#"
{"Request": {"name": "hello", "headers": [{"header-name": ":path", "matchType": "StartsWith", "input": "/hello/"}]}, "Responses": []},
{"Request": {"name": "fixed", "headers": [{"header-name": ":path", "matchType": "RegexMatch", "input": "/fixed/\\d+"},
                                          {"header-name": ":method", "matchType": "EqualsTo", "input": "PUT"}],
             "payload": [{"JsonPointer": "/a/b", "matchType": "Contains", "input": "x"}]},
 "Responses": [{"status-code": 203, "payload": {"msg-payload": "<$V|$V>", "placeholder": "$V", "arguments":
                  [{"type-of-value": "JsonPointer", "value-identifier": "/a/b"},
                   {"type-of-value": "Header", "value-identifier": ":path", "regex": "\\d+", "sub-string-start": 1, "sub-string-length": 2}]},
                "additonalHeaders": [{"header": "x-id: $V", "placeholder": "$V", "arguments": [{"type-of-value": "Pseudo-UUID"}]}]}]}
"#;

#[test]
fn a_program_answers_requests_itself_over_both_protocols() {
    let scratch = Scratch::new();
    let server = mock(&scratch, SERVICES);
    let text = to(
        server,
        "
local number = setup_parallel_test(2, 2, 4)
local server = start_server('mock.json')
register_service_handler(server, 'hello', 'answer', 1)
function answer(address, headers, body)
  sleep_for_ms(1)
  store_value('last', body)
  local last = headers['x-last'] and {['grpc-status'] = '0'}
  send_response(address, {[':status'] = '207', ['x-path'] = headers[':path']}, body .. '!', last)
end
for i = 1, 5 do
  local headers = to('POST', '/hello/' .. i)
  headers['x-protocol-to-use'] = i % 2 == 1 and 'http/1.1' or nil
  local head, body = send_http_request_and_await_response(headers, 'x' .. i)
  assert(head[':status'] == '207' and head['x-path'] == '/hello/' .. i and body == 'x' .. i .. '!', body)
end
local headers = to('POST', '/hello/')
headers['x-last'] = 'yes'
local head, body, last = send_http_request_and_await_response(headers, 'y')
assert(body == '\\0\\0\\0\\0\\2y!' and last['grpc-status'] == '0', body)
local head, body = send_http_request_and_await_response(to('PUT', '/fixed/1234'), '{\"a\": {\"b\": \"axb\"}}')
assert(head[':status'] == '203' and body == '<axb|23>' and #head['x-id'] == 36, body)
assert(send_http_request_and_await_response(to('PUT', '/fixed/1'), '{}')[':status'] == '404')
assert(get_value('last') ~= nil and get_value('none') == nil)
store_value('own' .. number, 'x')
assert(get_value('own' .. number) == 'x' and delete_value('own' .. number) == 'x')
assert(get_value('own' .. number) == nil and delete_value('own' .. number) == nil)
store_value(number, 'over')
while number == 0 do
  local all = true
  for i = 0, 3 do all = all and get_value(i) end
  if all then break end
  sleep_for_ms(5)
end
if number == 0 then stop_server(server) end
",
    );
    let ran = ran_in(&scratch, &text, &["--duration", "60s"]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    assert_eq!(ran.number("/requests/ok"), 28);
    assert_eq!(ran.report["ended_by"], "finished");
}

#[test]
fn functions_that_were_registered_before_the_threads_began_answer_nothing() {
    let scratch = Scratch::new();
    let server = mock(&scratch, SERVICES);
    let text = to(
        server,
        "
local server = start_server('mock.json')
register_service_handler(server, 'hello', 'answer')
function answer(address) send_response(address, {[':status'] = '207'}) end
setup_parallel_test(1, 1, 2)
for _ = 1, 4 do
  local head = send_http_request_and_await_response(to('GET', '/hello/'))
  assert(head[':status'] == '207', head[':status'])
end
done = (done or 0) + 1
if done == 2 then stop_server(server) end
",
    );
    let ran = ran_in(&scratch, &text, &["--duration", "60s"]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    assert_eq!(ran.number("/requests/ok"), 8);
}

#[test]
fn a_server_that_was_stopped_can_be_started_again_at_once() {
    let scratch = Scratch::new();
    mock(&scratch, SERVICES);
    let text = "for _ = 1, 50 do stop_server(start_server('mock.json')) end";
    let ran = ran_in(&scratch, text, &[]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
}

#[test]
fn why_a_handler_has_failed_is_shown() {
    let scratch = Scratch::new();
    let server = mock(&scratch, SERVICES);
    let text = to(
        server,
        "
local server = start_server('mock.json')
register_service_handler(server, 'hello', 'answer')
function answer(address)
  send_response(address, {})
  fail('no, ' .. 'never')
end
send_http_request_and_await_response(to('GET', '/hello/'))
stop_server(server)
",
    );
    let ran = ran_in(&scratch, &text, &["--duration", "60s"]);
    let failure = &ran.report["scenarios"][0]["failures"][0];
    assert_eq!(failure["samples"][0], "x.lua:9: no, never");
}

#[test]
fn a_handler_that_sends_nothing_is_an_error_of_the_server() {
    let scratch = Scratch::new();
    let server = mock(&scratch, SERVICES);
    let text = to(
        server,
        "
local server = start_server('mock.json')
register_service_handler(server, 'hello', 'answer')
function answer() is_over = true end
local connection, stream = send_http_request(to('GET', '/hello/'))
while not is_over do sleep_for_ms(1) end
-- The address is garbage, and there is so much more that it is collected.
for i = 1, 100 do
  for _ = 1, 5000 do last = {} end
  sleep_for_ms(0)
end
print(await_response(connection, stream)[':status'])
stop_server(server)
",
    );
    let ran = ran_in(&scratch, &text, &["--duration", "60s"]);
    assert_eq!(ran.errors[0], "500");
}

#[test]
fn a_handler_that_does_not_exist_is_named_with_the_line_that_registers_it() {
    let scratch = Scratch::new();
    let server = mock(&scratch, SERVICES);
    let text = "
local server = start_server('mock.json')
register_service_handler(server, 'hello', 'answer')
send_http_request_and_await_response(to('GET', '/hello/'))
";
    let text = to(server, text);
    let ran = ran_in(&scratch, &text, &["--duration", "60s"]);
    let line = "error: x.lua:6: register_service_handler: there is no function `answer`";
    assert_eq!(ran.errors, [line]);
}

#[test]
fn a_key_of_a_server_that_means_nothing_is_a_warning() {
    let scratch = Scratch::new();
    mock(&scratch, r#"{"Request": {"name": "a"}, "responses": []}"#);
    let ran = ran_in(&scratch, "stop_server(start_server('mock.json'))", &[]);
    assert_eq!(ran.errors.len(), 1, "{:?}", ran.errors);
    let words = "mock.json: the key `Service[0].responses` means nothing";
    assert!(ran.errors[0].ends_with(words), "{:?}", ran.errors);
}

#[test]
fn what_is_wrong_with_a_server_is_named_with_its_line() {
    let scratch = Scratch::new();
    for [text, words] in table(
        r"
        ⏎start_server('none.json') => x.lua:2: start_server: `none.json`: No such file
        register_service_handler('9', 'a', 'b') => x.lua:1: register_service_handler: no server `9`
        start_server('../mock.json') => x.lua:1: start_server: `../mock.json`: a file outside of the program's folder needs `--allow-io`
        start_server('/mock.json') => x.lua:1: start_server: `/mock.json`: a file outside of the program's folder needs `--allow-io`
    ",
    ) {
        let ran = ran_in(&scratch, text, &[]);
        assert_eq!((ran.status, ran.errors.len()), (1, 1), "{:?}", ran.errors);
        assert!(
            ran.errors[0].starts_with(&format!("error: {words}")),
            "{:?}",
            ran.errors
        );
    }
}

#[test]
fn a_program_that_is_no_good_ends_with_one_line() {
    // At once: to fill all memory step by step takes a busy host too long.
    for [text, status, line] in table(
        r"
        x = = 1 => 2 => x.lua:1: unexpected symbol near '='
        ⏎while true do end => 1 => x.lua:2: the script ran longer than 500 ms
        local s = ('x'):rep(1e9) => 1 => x.lua: the state of Lua has more than 256 MiB
        ⏎⏎local x = nil + 1 => 1 => x.lua:3: attempt to perform arithmetic on a nil value
        io.open('x') => 1 => x.lua:1: attempt to index global 'io' (a nil value): `io` needs `--allow-io`
        os.execute('x') => 1 => x.lua:1: attempt to call field 'execute' (a nil value): `os.execute` needs `--allow-io`
        if io then error('io') end⏎require('x') => 1 => x.lua:2: attempt to call global 'require' (a nil value): `require` needs `--allow-io`
        ⏎local function f() return 1 + f() end f() => 1 => x.lua:2: stack overflow
        ⏎error({}) => 1 => x.lua:2: the error is a table, and no text
        ⏎sleep_for_ms('x') => 1 => x.lua:2: sleep_for_ms needs a number of ms, and not `x`
        setup_parallel_test(1, 1, 1)⏎setup_parallel_test(1, 1, 1) => 1 => x.lua:2: setup_parallel_test: this coroutine has called it before
        setup_parallel_test(0, 1, 1) => 1 => x.lua:1: setup_parallel_test: 1 to 256 threads
        local s = ('x'):rep(2^24) for i = 1, 16 do store_value(i, s) sleep_for_ms(0) end => 1 => x.lua:1: store_value: the store has more than 256 MiB
        coroutine.yield(1) => 1 => x.lua:1: coroutine.yield: only a coroutine that the program makes itself can yield
        coroutine.yield() => 1 => x.lua:1: coroutine.yield: only a coroutine that the program makes itself can yield
        error(select(2, coroutine.resume(coroutine.create(function() sleep_for_ms(1) end))), 0) => 1 => x.lua:1: sleep_for_ms waits, which a coroutine that the program makes itself cannot do
    ",
    ) {
        let ran = ran(text, &[]);
        assert_eq!(
            (ran.status, &ran.errors[..]),
            (status.parse().unwrap(), &[format!("error: {line}")][..]),
            "{text}"
        );
    }
}

#[test]
fn a_coroutine_that_says_that_it_failed_does_not_end_the_others() {
    let text = "local number = setup_parallel_test(2, 1, 6)
if number == 2 then fail() end
if number % 2 == 0 then
  fail('even')
end";
    let ran = ran(text, &["--quiet"]);
    assert_eq!(
        (
            ran.number("/iterations/failed"),
            ran.number("/iterations/ok")
        ),
        (3, 3)
    );
    let failure = &ran.report["scenarios"][0]["failures"][0];
    assert_eq!(
        (&failure["reason"], &failure["count"]),
        (&"Lua check".into(), &3.into())
    );
    let mut samples: Vec<&str> = failure["samples"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(Value::as_str)
        .collect();
    samples.sort_unstable();
    assert_eq!(
        samples,
        ["x.lua:2: fail() gives no reason", "x.lua:4: even"]
    );
    assert_eq!(ran.status, 1);
}

#[test]
fn what_failed_is_a_row_of_the_report() {
    let scratch = Scratch::new();
    let output = command(&scratch, "fail('no')", &[]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    has(&text, "\n  x.lua   1   Lua check   x.lua:1: no\n");
    let load = "1 coroutine of a program, each an iteration; 1 thread, with up to 1 connection each to a host";
    assert!(text.contains(load), "{text}");
}

/// The warning about a program that does nothing.
const IDLE: &str = "warning: the program has sent no request, and started no server";

#[test]
fn files_need_a_flag() {
    let text = "local f = io.open('y', 'w') f:write('z') f:close()";
    let scratch = Scratch::new();
    let ran = ran_in(&scratch, text, &["--allow-io"]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[IDLE.to_owned()][..]));
    assert_eq!(fs::read_to_string(scratch.path("y")).unwrap(), "z");
}

#[test]
fn its_time_or_a_signal_ends_it() {
    let ended = ran("wait_for_message()", &["--duration", "100ms"]);
    assert_eq!(
        (ended.status, &ended.report["ended_by"]),
        (0, &Value::from("time"))
    );
    assert_eq!(ended.number("/iterations/open"), 1);

    let scratch = Scratch::new();
    let mut command = command(
        &scratch,
        "print('begun') wait_for_message()",
        &["-O", "json"],
    );
    let mut child: Child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "begun\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &report["ended_by"]),
        (Some(0), &Value::from("stopped"))
    );
}

#[test]
fn requests_that_wait_for_a_connection_at_the_end_have_ages() {
    let hole = BlackHole::default();
    let text = to(
        hole.address(),
        "send_http_request_and_await_response(to('GET', '/'), '', 600000)",
    );
    let ended = ran(&text, &["--duration", "100ms"]);
    let row = ended.row(&format!("GET {}", hole.address()));
    assert_eq!(
        [&row["requests"]["open"], &row["latency_ns"]["open"]],
        [0, 1],
        "{row:#}"
    );
    assert_eq!(row["blocked_ns"]["open"], 1, "{row:#}");
}

#[test]
fn conditions_and_the_check_of_syntax_work_as_for_scenarios() {
    let server = reference(Faults::default());
    let text = to(server.address(), ITEMS);
    let conditions = ["--fail-if", "ok > 1", "--fail-if", "p99(x) > 1h"];
    let ran = ran(&text, &conditions);
    assert_eq!(ran.status, 99, "{:?}", ran.errors);
    let warning = "warning: `--fail-if`: no row of the report is named `x`; ";
    assert!(ran.errors[0].starts_with(warning), "{:?}", ran.errors);
    let scratch = Scratch::new();
    let once =
        "error: --once: `x.lua` is a program of Lua, no scenario file: `volley run` runs it\n";
    for (text, words, line) in [
        (
            "x = = 1",
            &["x.lua"][..],
            "error: x.lua:1: unexpected symbol near '='\n",
        ),
        ("x = 1", &["--once", "x.lua"], once),
    ] {
        fs::write(scratch.path("x.lua"), text).unwrap();
        let mut check = common::command(["check"]);
        let checked = outcome(check.args(words).current_dir(scratch.path(".")));
        assert_eq!(checked, (2, String::new(), line.to_owned()));
    }
}

#[test]
fn a_certificate_needs_trust_or_a_flag() {
    let scratch = Scratch::new();
    let Certificate { cert, key, .. } = scratch.certificate("localhost");
    let tls = Some(Identity { cert, key });
    let server = served(|config| config.tls = tls);
    let port = server.address().port();
    let text = to(format!("localhost:{port}"), ITEMS).replace("='http'", "='https'");
    for words in [&["--skipTLS"][..], &["--cacert", "cert.pem"]] {
        let ran = ran_in(&scratch, &text, words);
        assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]), "{words:?}");
    }
    let ran = ran_in(&scratch, &text, &[]);
    assert_eq!(ran.status, 1);
    let failure = &ran.report["steps"][0]["failures"][0];
    assert_eq!(failure["reason"], "TLS");
    assert!(
        failure["samples"][0]
            .as_str()
            .unwrap()
            .contains("`--cacert`"),
        "{failure}"
    );
}

/// The program of the documentation that follows a text.
fn documented(after: &str) -> (String, String) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let docs = fs::read_to_string(docs).unwrap();
    let (_, rest) = docs.split_once(after).unwrap();
    let (before, rest) = rest.split_once("```lua\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    (before.to_owned(), text.to_owned())
}

#[test]
fn the_server_of_the_documentation_answers() {
    let scratch = Scratch::new();
    let server = mock(&scratch, "");
    let (file, text) = documented("`mock.json`:\n");
    let (file, _) = file.rsplit_once("A function").unwrap();
    let (host, port) = (server.ip(), server.port());
    let file = file.replace(
        r#""port": 8081"#,
        &format!(r#""address": "{host}", "port": {port}"#),
    );
    let text = text.replace("127.0.0.1:8081", &server.to_string());
    fs::write(scratch.path("mock.json"), file).unwrap();
    let ran = ran_in(&scratch, &text, &["--duration", "60s"]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    assert_eq!(ran.row(&format!("POST {server}"))["requests"]["ok"], 100);
    assert!(ran.number("/requests/ok") > 100);
}

#[test]
fn the_example_of_the_documentation_runs() {
    let (_, text) = documented("## A program in place of a file\n");
    let server = reference(Faults::default());
    let text = text.replace("127.0.0.1:8080", &server.address().to_string());
    let text = text.replace("_ = 1, 1000", "_ = 1, 2");
    let ran = ran(&text, &["--fail-if", "p90 > 50m"]);
    assert_eq!((ran.status, &ran.errors[..]), (0, &[][..]));
    let counts = settled(&server);
    assert_eq!((counts.created, counts.deleted), (200, 200));
}
