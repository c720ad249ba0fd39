//! The answers of a page's server, over real sockets.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::spec::ListenAddress;
use crate::watch::Server;
use volley_testkit::scripted;
use volley_testkit::texts::has;

const TOKEN: &str = "t0ken";

/// A page, its file, and the server.
struct Served {
    folder: TempDir,
    _server: Server,
    address: SocketAddr,
}

struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn version(&self) -> &str {
        let line = self.head.lines().find(|line| line.starts_with("etag: "));
        line.unwrap().strip_prefix("etag: ").unwrap()
    }
}

impl Served {
    fn new(name: &str, text: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let page = Page {
            html: "<!doctype html>",
            css: "",
            js: "",
            licenses: "",
        };
        let site = Site::new(page, Document::new(&path).unwrap(), TOKEN.to_owned(), false);
        let listen = ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let token = Some(site.token());
        let server =
            server::host(&listen, token, move |request| site.clone().answer(request)).unwrap();
        let ListenAddress::Tcp(address) = server.address else {
            unreachable!("it listens on TCP");
        };
        Self {
            folder,
            _server: server,
            address,
        }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        let host = self.address.to_string();
        let has_host = headers.iter().any(|(name, _)| *name == "host");
        let own = [("host", host.as_str())];
        for (name, value) in own.iter().filter(|_| !has_host).chain(headers) {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.write_all(head.as_bytes()).unwrap();
        // A body that is too long is refused before its end.
        let _ = socket.write_all(body);
        socket
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
        let mut socket = self.send(method, path, headers, body);
        let mut answer = Vec::new();
        // The rest of such a body may have reset the connection.
        let _ = socket.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Got {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// The same with the token.
    fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
        let authorization = format!("Bearer {TOKEN}");
        let own = [("authorization", authorization.as_str())];
        self.ask(method, path, &[&own[..], headers].concat(), body)
    }

    fn check(&self, text: &str) -> Value {
        let found = self.call("POST", "/v1/check", &[], text.as_bytes());
        found.json()
    }

    fn on_disk(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

#[test]
fn only_the_page_itself_needs_no_token() {
    let served = Served::new("a.yaml", Some("secret: 1\n"));
    for path in ["/", "/page.css", "/page.js", "/licenses.txt"] {
        let got = served.ask("GET", path, &[], b"");
        assert_eq!(got.status, 200, "{path}");
        assert!(got.head.contains("script-src 'self'"), "{}", got.head);
        assert_eq!(served.ask("POST", path, &[], b"").status, 405);
    }
    for (method, path) in [
        ("GET", "/v1/schema"),
        ("GET", "/v1/file"),
        ("PUT", "/v1/file"),
        ("POST", "/v1/check"),
        ("POST", "/v1/once"),
        ("GET", "/else"),
    ] {
        for token in [&[][..], &[("authorization", "Bearer t0keN")]] {
            let got = served.ask(method, path, token, b"");
            assert_eq!(got.status, 401, "{path}");
            assert!(!got.body.contains("secret"));
        }
    }
    assert_eq!(served.call("GET", "/else", &[], b"").status, 404);
    assert_eq!(served.call("DELETE", "/v1/file", &[], b"").status, 405);
}

#[test]
fn other_names_of_this_host_and_other_pages_are_refused() {
    let served = Served::new("a.yaml", None);
    let own = format!("http://{}", served.address);
    for (name, value, status) in [
        ("host", "evil.example", 421),
        ("host", "127.0.0.1.evil.example:80", 421),
        ("host", "", 421),
        ("host", "localhost:4300", 200),
        ("host", "LOCALHOST", 200),
        ("host", "[::1]:4300", 200),
        ("host", "127.0.0.2:4300", 200),
        ("host", "10.0.0.1:4300", 421),
        ("origin", "http://evil.example", 403),
        ("origin", "null", 403),
        ("origin", &own, 200),
    ] {
        let got = served.ask("GET", "/", &[(name, value)], b"");
        assert_eq!(got.status, status, "{name}: {value}");
        // The token is known to this page alone, whatever the name that leads to it.
        let status = if name == "host" { 200 } else { status };
        let got = served.call("GET", "/v1/file", &[(name, value)], b"");
        assert_eq!(got.status, status, "{name}: {value}");
    }
}

#[test]
fn a_file_is_read_changed_and_saved_once() {
    let served = Served::new("a.yaml", Some("# old\n"));
    let got = served.call("GET", "/v1/file", &[], b"");
    assert_eq!(got.json()["text"], "# old\n");
    assert_eq!(got.json()["exists"], true);
    let seen = [("if-match", got.version())];
    let saved = served.call("PUT", "/v1/file", &seen, "# ä\n".as_bytes());
    assert_eq!(saved.status, 200);
    assert_eq!(served.on_disk("a.yaml"), "# ä\n");
    // That version is gone.
    let stale = served.call("PUT", "/v1/file", &seen, b"# new\n");
    assert_eq!(stale.status, 412, "{}", stale.body);
    assert!(stale.body.contains("has changed since it was opened"));
    assert_eq!(served.on_disk("a.yaml"), "# ä\n");
    let seen = [("if-match", saved.version())];
    let again = served.call("PUT", "/v1/file", &seen, b"# new\n");
    assert_eq!(again.status, 200);
    assert_eq!(served.call("PUT", "/v1/file", &[], b"").status, 428);
}

#[test]
fn a_file_that_is_missing_begins_with_a_scenario_that_is_whole() {
    for name in ["a.yaml", "a.json"] {
        let served = Served::new(name, None);
        let got = served.call("GET", "/v1/file", &[], b"");
        let file = got.json();
        assert_eq!(file["exists"], false);
        let text = file["text"].as_str().unwrap();
        let found = served.check(text);
        assert_eq!(found["mistakes"], json!([]), "{text}");
        has(found["outline"].as_str().unwrap(), "1 user for 10s");
        let seen = [("if-match", got.version())];
        assert_eq!(served.call("PUT", "/v1/file", &seen, b"{}").status, 200);
        assert_eq!(served.on_disk(name), "{}");
    }
}

#[test]
fn mistakes_have_their_line_and_place() {
    let served = Served::new("a.yaml", None);
    let text = "targets: {a: http://h:1}\nscenarios:\n  s:\n    steps:\n      - {gett: x}\n";
    let first = &served.check(text)["mistakes"][0];
    assert_eq!(first["line"], 5);
    let place = json!(["scenarios", "s", "steps", 0, "gett"]);
    assert_eq!(first["place"], place);
    has(first["problem"].as_str().unwrap(), "did you mean `get`?");
    assert_eq!(served.check("a: [")["mistakes"][0]["place"], json!([]));
    let text = "targets: {a: http://h:1}\ndata: {d: {csv: no.csv}}\n\
                scenarios: {s: {steps: [{get: \"${a}/${d.x}\"}]}}\n";
    let problem = served.check(text)["mistakes"][0]["problem"].to_string();
    assert!(problem.contains("no.csv"), "{problem}");
}

#[test]
fn a_body_that_is_too_long_or_no_text_is_refused() {
    let served = Served::new("a.yaml", None);
    assert_eq!(served.call("POST", "/v1/check", &[], b"\xff").status, 400);
    let long = vec![b'#'; LARGEST as usize + 1];
    assert_eq!(served.call("POST", "/v1/check", &[], &long).status, 413);
}

fn scenario(target: SocketAddr) -> String {
    format!(
        "targets: {{a: \"http://{target}\"}}\nscenarios: {{s: {{steps: [{{name: read, get: \"${{a}}/x\"}}]}}}}\n"
    )
}

#[test]
fn an_iteration_shows_its_requests() {
    let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone";
    let target = scripted::saying(answer);
    let served = Served::new("a.yaml", None);
    let text = scenario(target);
    let shown = served.call("POST", "/v1/once", &[], text.as_bytes()).json();
    assert_eq!(shown["ok"], false);
    let page = shown["pages"][0].as_str().unwrap();
    assert!(page.contains("/x\n") && page.contains("< 404"), "{page}");
    let got = served.call("POST", "/v1/once", &[], b"targets: 1");
    assert_eq!(got.status, 422);
    assert!(!got.json()["mistakes"].as_array().unwrap().is_empty());
}

#[test]
fn an_iteration_ends_when_its_client_leaves_and_there_is_one_at_a_time() {
    let (tell, told) = mpsc::channel();
    // A server that never answers, and notes when a client comes and when it leaves.
    let target = scripted::accept(move |_| {
        let tell = tell.clone();
        move |mut socket| {
            socket.read_exact(&mut [0])?;
            tell.send("came").unwrap();
            let _ = io::copy(&mut socket, &mut io::sink());
            tell.send("left").unwrap();
            Ok(())
        }
    });
    let served = Served::new("a.yaml", None);
    let text = scenario(target);
    let authorization = format!("Bearer {TOKEN}");
    let token = [("authorization", authorization.as_str())];
    let client = served.send("POST", "/v1/once", &token, text.as_bytes());
    assert_eq!(told.recv(), Ok("came"));
    let second = served.call("POST", "/v1/once", &[], text.as_bytes());
    assert_eq!(second.status, 409);
    drop(client);
    assert_eq!(told.recv(), Ok("left"));
}

#[test]
fn an_iteration_has_a_limit() {
    let peer = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = scenario(peer.local_addr().unwrap());
    let plan = file::compile(&text, "a.yaml".as_ref(), &|_| None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let limit = std::time::Duration::from_millis(50);
    let shown = runtime
        .block_on(Trial::default().run(plan, false, limit))
        .unwrap();
    assert_eq!(shown["reason"], "stopped after 0 s");
}
