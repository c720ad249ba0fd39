//! One HTTP/1.1 request at a time, over a connection of its own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

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

/// Asks at an address as volley prints it: `http://127.0.0.1:1` or `unix:/path`.
pub fn ask(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: volley\r\nconnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n{body}", body.len());
    match address.strip_prefix("unix:") {
        Some(path) => converse(UnixStream::connect(path).unwrap(), &text),
        None => {
            let address = address.strip_prefix("http://").unwrap();
            converse(TcpStream::connect(address).unwrap(), &text)
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
