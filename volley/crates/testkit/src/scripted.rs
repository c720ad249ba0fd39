//! A scripted server: frames in, whatever the script sends out.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use volley_http::http2::frame::{self, FrameHeader, HEADER_LEN, Kind, flag};
use volley_http::http2::hpack::{Encoder, Field, Indexing};

/// A script's view of one connection, on the server's side.
pub struct Peer {
    socket: TcpStream,
    pub out: Vec<u8>,
    /// Of the present frame.
    pub payload: Vec<u8>,
}

impl Peer {
    /// Sends the output so far, in the middle of a script.
    pub fn send(&mut self) {
        // The client may be gone at any moment: the next read shows it.
        let _ = self.socket.write_all(&std::mem::take(&mut self.out));
    }

    /// A whole good answer to a unary call: one reply of these bytes.
    pub fn answer(&mut self, stream: u32, reply: &[u8]) {
        self.begin(stream);
        self.message(stream, 0, reply);
        self.headers(stream, &[("grpc-status", "0")], true);
    }

    /// The headers of a good answer.
    pub fn begin(&mut self, stream: u32) {
        let fields = [(":status", "200"), ("content-type", "application/grpc")];
        self.headers(stream, &fields, false);
    }

    /// A message in a frame of its own; flag 1 says that it is compressed.
    pub fn message(&mut self, stream: u32, flag: u8, message: &[u8]) {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let bytes = [&[flag], &length[..], message].concat();
        frame::write_data(&mut self.out, stream, &bytes, false);
    }

    /// A header block, with nothing in it that a later one depends on.
    pub fn headers(&mut self, stream: u32, fields: &[(&str, &str)], end: bool) {
        write_block(&mut self.out, stream, fields, end);
    }
}

/// Writes such a block.
pub fn write_block(out: &mut Vec<u8>, stream: u32, fields: &[(&str, &str)], end: bool) {
    let fields: Vec<Field> = fields
        .iter()
        .map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes(), Indexing::Without))
        .collect();
    let mut block = Vec::new();
    Encoder::new().encode(&fields, &mut block);
    frame::write_headers(out, stream, &block, end, 1 << 14);
}

/// Serves every connection by its own script. The script gets the connection's number, from 0, and
/// returns what is done with each frame; `false` ends the connection after the pending output.
pub fn serve<Script>(script: impl Fn(u32) -> Script + Send + 'static) -> SocketAddr
where
    Script: FnMut(&FrameHeader, &mut Peer) -> bool + Send + 'static,
{
    accept(move |number| {
        let script = script(number);
        move |socket| converse(socket, script)
    })
}

/// A script that does this about each frame of DATA, which has its stream, and nothing about others.
pub fn on_data(
    mut script: impl FnMut(&mut Peer, u32) -> bool,
) -> impl FnMut(&FrameHeader, &mut Peer) -> bool {
    move |header, peer| header.kind != Kind::Data || script(peer, header.stream)
}

/// Speaks HTTP/2 on a connection by such a script.
pub fn answer(socket: TcpStream, script: impl FnMut(&mut Peer, u32) -> bool) -> io::Result<()> {
    converse(socket, on_data(script))
}

/// Gives every connection, with its number from 0, to its own thread, which may do with it as it
/// likes.
pub fn accept<Work>(work: impl Fn(u32) -> Work + Send + 'static) -> SocketAddr
where
    Work: FnOnce(TcpStream) -> io::Result<()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, socket) in listener.incoming().enumerate() {
            let work = work(u32::try_from(number).unwrap());
            // The client may be gone at any moment: that ends this connection, and no test.
            thread::spawn(move || {
                let socket = socket?;
                socket.set_nodelay(true)?;
                work(socket)
            });
        }
    });
    address
}

/// Says this on every connection, whatever comes.
pub fn saying(words: &'static [u8]) -> SocketAddr {
    accept(move |_| {
        move |mut socket: TcpStream| {
            let _ = socket.read(&mut [0; 1024])?;
            socket.write_all(words)?;
            // What else comes is read: otherwise a reset would discard the words.
            io::copy(&mut socket, &mut io::sink()).map(drop)
        }
    })
}

/// Greets on the first connection, and says nothing more there; answers every request on the others.
pub fn mute_first() -> SocketAddr {
    serve(|number| {
        move |header, peer| {
            let is_whole = matches!(header.kind, Kind::Headers | Kind::Data);
            if number > 0 && is_whole && header.has(flag::END_STREAM) {
                peer.answer(header.stream, &[]);
            }
            true
        }
    })
}

/// An address at which nobody listens.
pub fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// Speaks HTTP/2 on a connection, by a script.
pub fn converse(
    mut socket: TcpStream,
    mut script: impl FnMut(&FrameHeader, &mut Peer) -> bool,
) -> io::Result<()> {
    let mut peer = Peer {
        socket: socket.try_clone()?,
        out: Vec::new(),
        payload: Vec::new(),
    };
    let mut preface = [0; frame::PREFACE.len()];
    socket.read_exact(&mut preface)?;
    frame::write_settings(&mut peer.out, &[]);
    loop {
        peer.send();
        let mut header = [0; HEADER_LEN];
        socket.read_exact(&mut header)?;
        let header = FrameHeader::parse(&header);
        peer.payload.resize(header.length as usize, 0);
        socket.read_exact(&mut peer.payload)?;
        if header.kind == Kind::Settings && !header.has(flag::ACK) {
            frame::write_settings_ack(&mut peer.out);
        }
        if !script(&header, &mut peer) {
            peer.send();
            return Ok(());
        }
    }
}
