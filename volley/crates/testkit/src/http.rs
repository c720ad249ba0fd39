//! One HTTP/1.1 request at a time, over a connection of its own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// An answer that takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to an address as volley prints it: `http://127.0.0.1:1`.
pub fn connect(address: &str) -> TcpStream {
    TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap()
}

/// Asks at an address as volley prints it: `http://127.0.0.1:1` or `unix:/path`.
pub fn ask(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    let has_host = headers.iter().any(|(name, _)| *name == "host");
    let own = [("host", "localhost")];
    for (name, value) in own.iter().filter(|_| !has_host).chain(headers) {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n{body}", body.len());
    match address.strip_prefix("unix:") {
        Some(path) => converse(UnixStream::connect(path).unwrap(), &text),
        None => {
            let socket = connect(address);
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            converse(socket, &text)
        }
    }
}

fn converse(mut socket: impl Read + Write, request: &str) -> Answer {
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer {
        status,
        body: body.to_owned(),
    }
}
