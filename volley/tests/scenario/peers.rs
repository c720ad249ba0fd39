//! What peers send that is not as strict as it could be: scenarios and programs of Lua make of it what others do.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use volley::http2::ErrorCode;
use volley::http2::frame::{
    Kind, write_data, write_go_away, write_rst_stream, write_settings, write_settings_ack,
    write_window_update,
};
use volley::serve::{Config, Reference};

use crate::common::scripted::{self, Peer};
use crate::common::{BlackHole, Scratch, command, outcome};

/// More than the sockets' buffers take.
const LARGE: u64 = 16 << 20;

/// What a run may say that went as it should: no status is a good one, and each request had a connection of its own.
const SAID: [&str; 3] = [
    "failed: no request succeeded",
    "iterations; the report says why",
    "waited for a connection",
];

/// The only row of the report of a run whose checks must hold.
fn ran(scratch: &Scratch, name: &str, text: &str) -> Value {
    fs::write(scratch.path(name), text).unwrap();
    let mut command = command(["run", name, "-O", "json"]);
    let (_, report, errors) = outcome(command.current_dir(scratch.path(".")));
    let report: Value = serde_json::from_str(&report).unwrap_or_default();
    let is_said = |line: &str| SAID.iter().any(|said| line.contains(said));
    assert!(errors.lines().all(is_said), "{errors}{report:#}");
    report["steps"][0].clone()
}

/// A scenario of one step, ten times.
fn scenario(server: SocketAddr, version: u8, step: &str) -> String {
    format!(
        "targets: {{api: 'http://{server}'}}
http: {{version: {version}, connections: 1}}
load: [{{iterations: 10}}]
scenarios: {{s: {{steps: [{{name: one, {step}}}]}}}}
"
    )
}

/// The same as a program; `rest` looks at `head`, `body` and `last`.
fn program(
    server: SocketAddr,
    version: u8,
    (kind, method, body): (&str, &str, &str),
    rest: &str,
) -> String {
    let protocol = if version == 1 { "http/1.1" } else { "h2c" };
    format!(
        "for i = 1, 10 do
  local asked = {{[':scheme']='http', [':authority']='{server}', [':method']='{method}', [':path']='/x.S/U',
                 ['x-protocol-to-use']='{protocol}', [':step']='one'}}
  local head, body, last = send_{kind}_request_and_await_response(asked, {body})
  {rest}
end
"
    )
}

/// Reads a little of each request, says all that it has to say, and closes: what is left unread resets the connection.
fn hasty(greeting: Vec<u8>, answer: Vec<u8>) -> SocketAddr {
    scripted::accept(move |_| {
        let (greeting, answer) = (greeting.clone(), answer.clone());
        move |mut socket: TcpStream| {
            socket.write_all(&greeting)?;
            socket.read_exact(&mut [0; 2000])?;
            socket.write_all(&answer)
        }
    })
}

#[test]
fn an_answer_that_comes_before_the_request_is_read_counts() {
    let until_close = "HTTP/1.1 413 \r\n\r\nno";
    let one = "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\nconnection: Close\r\n\r\nno";
    let (mut greeting, mut two) = (Vec::new(), Vec::new());
    // Windows that hold nothing back.
    write_settings(&mut greeting, &[(4, 1 << 30)]);
    write_window_update(&mut greeting, 0, 1 << 30);
    write_settings_ack(&mut greeting);
    let fields = [(":status", "413"), ("content-length", "2")];
    scripted::write_block(&mut two, 1, &fields, false);
    write_data(&mut two, 1, b"no", true);
    write_rst_stream(&mut two, 1, ErrorCode::NoError);
    write_go_away(&mut two, 1, ErrorCode::NoError, b"");
    let servers = [
        (1, hasty(Vec::new(), one.into())),
        (1, hasty(Vec::new(), until_close.into())),
        (2, hasty(greeting, two)),
    ];
    let scratch = Scratch::new();
    let large = File::create(scratch.path("large")).unwrap();
    large.set_len(LARGE).unwrap();
    for (version, server) in servers {
        let step = "put: '${api}/', body: {file: large}, expect: {status: 413, body: 'no'}";
        // The kernel may drop an answer with the reset behind it; a busy host shows that.
        let row = ran(&scratch, "a.yaml", &scenario(server, version, step));
        let answers = row["statuses"]["413"].as_u64().unwrap_or_default();
        assert!(answers >= 5, "HTTP/{version}: {row:#}");
        let asked = ("http", "PUT", "('x'):rep(16 * 1024 * 1024)");
        let check = "assert(not head[':status'] or head[':status'] == '413' and body == 'no')";
        let row = ran(&scratch, "a.lua", &program(server, version, asked, check));
        let answers = row["statuses"]["413"].as_u64().unwrap_or_default();
        assert!(answers >= 5, "HTTP/{version}: {row:#}");
    }
}

#[test]
fn frames_after_the_end_of_a_stream_lose_no_other_request() {
    let server = scripted::serve(|number| {
        assert!(number < 2, "one connection for each run");
        |header, peer| {
            if header.kind == Kind::Headers {
                let stream = header.stream;
                peer.headers(stream, &[(":status", "200")], false);
                write_data(&mut peer.out, stream, b"yes", true);
                write_data(&mut peer.out, stream, b"late", false);
                write_rst_stream(&mut peer.out, stream, ErrorCode::NoError);
                peer.headers(stream, &[(":status", "500")], true);
            }
            true
        }
    });
    let scratch = Scratch::new();
    let step = "get: '${api}/', expect: {body: 'yes'}";
    let row = ran(&scratch, "a.yaml", &scenario(server, 2, step));
    assert_eq!(row["statuses"]["200"], 10, "{row:#}");
    let check = "assert(body == 'yes')";
    let row = ran(
        &scratch,
        "a.lua",
        &program(server, 2, ("http", "GET", "''"), check),
    );
    assert_eq!(row["statuses"]["200"], 10, "{row:#}");
}

/// A server of gRPC that answers every call so.
fn calls(answer: fn(&mut Peer, u32)) -> SocketAddr {
    scripted::serve(move |_| {
        scripted::on_data(move |peer, stream| {
            answer(peer, stream);
            true
        })
    })
}

#[test]
fn a_program_reads_the_status_of_a_call_as_others_do() {
    let failed = calls(|peer, stream| {
        peer.begin(stream);
        let text = "100%25%20%E2%82%AC %zz ";
        let status = [("grpc-status", "+05 "), ("grpc-message", text)];
        peer.headers(stream, &status, true);
    });
    let only = calls(|peer, stream| {
        let fields = [(":status", "200"), ("content-type", "Application/gRPC")];
        let status = [
            ("grpc-status", "5"),
            ("grpc-message", "100%25%20%E2%82%AC %zz"),
        ];
        peer.headers(stream, &[fields, status].concat(), true);
    });
    let not_grpc = calls(|peer, stream| peer.headers(stream, &[(":status", "503")], true));
    let cut = calls(|peer, stream| {
        peer.begin(stream);
        peer.message(stream, 0, b"x");
        write_data(&mut peer.out, stream, b"", true);
    });
    // The same without any message, whatever its head says.
    let bare = calls(|peer, stream| {
        let fields = [(":status", "200"), ("content-type", "application/grpc")];
        peer.headers(
            stream,
            &[&fields[..], &[("grpc-status", "0")]].concat(),
            false,
        );
        write_data(&mut peer.out, stream, b"", true);
    });
    let is_text = "['grpc-message'] == '100% € %zz')";
    for (server, code, check) in [
        (failed, "5", format!("assert(last{is_text}")),
        (only, "5", format!("assert(head{is_text}")),
        (not_grpc, "14", String::new()),
        (cut, "13", String::new()),
        (bare, "13", String::new()),
    ] {
        // Its calls have failed: the program's own checks hold.
        let text = program(server, 2, ("grpc", "", "''"), &check);
        let row = ran(&Scratch::new(), "a.lua", &text);
        assert_eq!(row["statuses"][code], 10, "{row:#}");
    }
}

/// How many requests of the only row got a response, if each has so long.
fn answered(row: &Value) -> u64 {
    row["statuses"]["200"].as_u64().unwrap_or_default()
}

#[test]
fn a_connection_that_is_silent_after_a_timeout_is_replaced() {
    let scratch = Scratch::new();
    let step = "get: '${api}/', timeout: 200ms";
    let text = scenario(scripted::mute_first(), 2, step);
    let row = ran(&scratch, "a.yaml", &text);
    assert!((1..10).contains(&answered(&row)), "{row:#}");
    let text = program(scripted::mute_first(), 2, ("http", "GET", "'', 200"), "");
    let row = ran(&scratch, "a.lua", &text);
    assert!((1..10).contains(&answered(&row)), "{row:#}");
}

#[test]
fn an_address_that_takes_long_shares_its_time_with_the_next() {
    let (hole, server) = (BlackHole::default(), Reference::start(Config::default()));
    let server = server.unwrap();
    let text = format!(
        "targets: {{api: {{hosts: ['http://{}', 'http://{}']}}}}
http: {{connections: 1, connect_timeout: 1h}}
load: [{{iterations: 10}}]
scenarios: {{s: {{steps: [{{post: '${{api}}/v1/items', json: {{owner: ann}}}}]}}}}
",
        hole.address(),
        server.address()
    );
    let row = ran(&Scratch::new(), "a.yaml", &text);
    assert_eq!(row["statuses"]["201"], 10, "{row:#}");
}
