//! A server that answers as a test says, over HTTP/1.1 or HTTP/2, whichever it is asked in.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::testkit::scripted::{self, write_block};
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{
    DEFAULT_MAX_FRAME_SIZE, HEADER_LEN, Kind, flag, write_data, write_go_away, write_rst_stream,
};
use volley_http::http2::hpack::{Decoder, HeaderList};

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Which of all requests it is, from 0.
    pub number: usize,
    /// Which of all connections brought it, from 0.
    pub connection: usize,
    pub method: String,
    pub path: String,
    /// Names in lower case; `host` is `:authority`, too.
    pub fields: Vec<(String, String)>,
    /// Bytes of HTTP.
    pub bytes: u64,
}

/// What is done about a request.
pub enum Does {
    Replies(Reply),
    /// Ends the stream; of HTTP/1.1, the connection.
    Resets,
    /// Sends GOAWAY, as if it answered this request and none after it, and closes the connection.
    GoesAway,
    Closes,
    /// Never answers; of HTTP/1.1, takes no more of the connection.
    Waits,
    /// Stops listening, and then closes the connection.
    Dies,
}

#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub status: u16,
    pub fields: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub trailers: Vec<(&'static str, &'static str)>,
}

pub struct Peer {
    pub address: SocketAddr,
    pub accepted: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

type Answer = dyn Fn(&Asked) -> Does + Send + Sync;

impl Asked {
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Method and path.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl Does {
    pub fn says(status: u16, fields: &[(&'static str, &str)], body: &str) -> Self {
        Self::Replies(Reply {
            status,
            fields: fields
                .iter()
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            body: body.into(),
            trailers: Vec::new(),
        })
    }
}

impl Peer {
    /// Its threads end with the process.
    pub fn start(answer: impl Fn(&Asked) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Self {
            address: listener.local_addr().unwrap(),
            accepted: Arc::default(),
            asked: Arc::default(),
        };
        let (accepted, asked) = (Arc::clone(&peer.accepted), Arc::clone(&peer.asked));
        let answer: Arc<Answer> = Arc::new(answer);
        let (address, is_dead) = (peer.address, Arc::new(AtomicBool::new(false)));
        thread::spawn(move || {
            for socket in listener.incoming() {
                if is_dead.load(Ordering::Acquire) {
                    return;
                }
                let die = Death(address, Arc::clone(&is_dead));
                let number = accepted.fetch_add(1, Ordering::Relaxed);
                let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                let socket = socket.unwrap();
                // The client may leave at any moment.
                thread::spawn(move || {
                    Conversation::new(socket, &asked, &*answer, (number, die)).hold()
                });
            }
        });
        peer
    }

    /// One that answers with a status and a body, or never.
    pub fn plain(answer: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static) -> Self {
        Self::start(move |asked| match answer(asked) {
            Some((status, body)) => Does::says(status, &[], &body),
            None => Does::Waits,
        })
    }

    /// The paths of the requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }

    /// How often a path was asked for.
    pub fn times(&self, path: &str) -> usize {
        self.paths().iter().filter(|asked| *asked == path).count()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// What ends the listener.
struct Death(SocketAddr, Arc<AtomicBool>);

impl Death {
    fn come(&self) {
        self.1.store(true, Ordering::Release);
        while TcpStream::connect(self.0).is_ok() {
            thread::yield_now();
        }
    }
}

struct Conversation<'a> {
    number: usize,
    death: Death,
    socket: TcpStream,
    bytes: Vec<u8>,
    asked: &'a Mutex<Vec<Asked>>,
    answer: &'a Answer,
}

impl<'a> Conversation<'a> {
    fn new(
        socket: TcpStream,
        asked: &'a Mutex<Vec<Asked>>,
        answer: &'a Answer,
        (number, death): (usize, Death),
    ) -> Self {
        Self {
            number,
            death,
            socket,
            bytes: Vec::new(),
            asked,
            answer,
        }
    }

    fn hold(self) -> Option<()> {
        let mut first = [0; 3];
        while self.socket.peek(&mut first).ok().filter(|n| *n > 0)? < 3 {
            thread::yield_now();
        }
        match &first {
            b"PRI" => self.hold_two(),
            _ => self.hold_one(),
        }
    }

    /// Reads until there are so many bytes.
    fn read(&mut self, least: usize) -> Option<()> {
        while self.bytes.len() < least {
            let mut room = [0; 4096];
            let length = self.socket.read(&mut room).ok().filter(|n| *n > 0)?;
            self.bytes.extend_from_slice(&room[..length]);
        }
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        self.read(length)?;
        Some(self.bytes.drain(..length).collect())
    }

    fn does(&self, mut asked: Asked) -> Does {
        let mut all = self.asked.lock().unwrap();
        (asked.number, asked.connection) = (all.len(), self.number);
        all.push(asked.clone());
        drop(all);
        let does = (self.answer)(&asked);
        if matches!(does, Does::Dies) {
            self.death.come();
        }
        does
    }

    fn hold_one(mut self) -> Option<()> {
        loop {
            let end = loop {
                if let Some(at) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    break at + 4;
                }
                self.read(self.bytes.len() + 1)?;
            };
            let head = String::from_utf8(self.take(end)?).unwrap();
            let mut lines = head.lines();
            let mut first = lines.next()?.split(' ').map(str::to_owned);
            let fields = lines.filter_map(|line| line.split_once(": "));
            let mut asked = Asked {
                method: first.next()?,
                path: first.next()?,
                fields: fields
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
                ..Asked::default()
            };
            let length = asked.field("content-length").unwrap_or("0");
            let body = self.take(length.parse().unwrap())?;
            asked.bytes = (end + body.len()) as u64;
            let is_head = asked.method == "HEAD";
            let reply = match self.does(asked) {
                Does::Replies(reply) => reply,
                Does::Waits => loop {
                    self.bytes.clear();
                    self.read(1)?;
                },
                Does::Resets | Does::GoesAway | Does::Closes | Does::Dies => return None,
            };
            let mut out = format!("HTTP/1.1 {} x\r\n", reply.status).into_bytes();
            for (name, value) in &reply.fields {
                out.extend(format!("{name}: {value}\r\n").bytes());
            }
            if !reply.trailers.is_empty() {
                let length = reply.body.len();
                out.extend(format!("transfer-encoding: chunked\r\n\r\n{length:x}\r\n").bytes());
                out.extend(&reply.body);
                out.extend(b"\r\n0\r\n");
                for (name, value) in &reply.trailers {
                    out.extend(format!("{name}: {value}\r\n").bytes());
                }
                out.extend(b"\r\n");
            } else {
                out.extend(format!("content-length: {}\r\n\r\n", reply.body.len()).bytes());
                out.extend(if is_head { &[][..] } else { &reply.body[..] });
            }
            self.socket.write_all(&out).ok()?;
        }
    }

    fn hold_two(self) -> Option<()> {
        let mut decoder = Decoder::new(4096, 1 << 20);
        let mut open: Vec<(u32, Asked)> = Vec::new();
        let held = scripted::converse(self.socket.try_clone().ok()?, |header, peer| {
            if header.kind == Kind::Headers {
                let mut list = HeaderList::default();
                decoder.decode(&peer.payload, &mut list).unwrap();
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                let get = |name: &str| list.get(name.as_bytes()).map(text).unwrap_or_default();
                let fields = list.iter().map(|(name, value)| (text(name), text(value)));
                let host = ("host".to_owned(), get(":authority"));
                let asked = Asked {
                    method: get(":method"),
                    path: get(":path"),
                    fields: fields.chain([host]).collect(),
                    ..Asked::default()
                };
                open.push((header.stream, asked));
            }
            if !matches!(header.kind, Kind::Headers | Kind::Data) {
                return true;
            }
            let mut streams = open.iter().map(|(stream, _)| *stream);
            let Some(at) = streams.position(|stream| stream == header.stream) else {
                return false;
            };
            open[at].1.bytes += (HEADER_LEN + peer.payload.len()) as u64;
            if !header.has(flag::END_STREAM) {
                return true;
            }
            let (stream, asked) = open.remove(at);
            let is_head = asked.method == "HEAD";
            match self.does(asked) {
                Does::Replies(reply) => write_reply(&reply, stream, is_head, &mut peer.out),
                Does::Resets => write_rst_stream(&mut peer.out, stream, ErrorCode::InternalError),
                Does::GoesAway => {
                    write_go_away(&mut peer.out, stream, ErrorCode::InternalError, b"bye");
                    return false;
                }
                Does::Closes | Does::Dies => return false,
                Does::Waits => {}
            }
            true
        });
        held.ok()
    }
}

fn write_reply(reply: &Reply, stream: u32, is_head: bool, out: &mut Vec<u8>) {
    let status = reply.status.to_string();
    let length = reply.body.len().to_string();
    let own = reply.fields.iter();
    let own = own.map(|(name, value)| (*name, value.as_str()));
    let mut fields: Vec<_> = [(":status", status.as_str())]
        .into_iter()
        .chain(own)
        .collect();
    if reply.trailers.is_empty() {
        fields.push(("content-length", &length));
    }
    write_block(out, stream, &fields, is_head);
    if is_head {
        return;
    }
    let ends = reply.trailers.is_empty();
    let mut rest = &reply.body[..];
    while let Some((piece, after)) = rest.split_at_checked(DEFAULT_MAX_FRAME_SIZE) {
        write_data(out, stream, piece, false);
        rest = after;
    }
    write_data(out, stream, rest, ends);
    if !reply.trailers.is_empty() {
        write_block(out, stream, &reply.trailers, true);
    }
}
