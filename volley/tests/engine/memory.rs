//! What servers can do to volley's memory.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;

use volley::http2::frame::{Kind, flag, write_data};

use crate::common::Report;
use crate::common::scripted::{self, Peer};
use crate::common::shape::UNARY;

/// What the process may have at default flags, in bytes.
const MOST: u64 = 256 << 20;

const FRAME: usize = 1 << 14;

/// What is sent at first, and for each WINDOW_UPDATE: the client returns its window of 16 MiB when half of it is used.
const FIRST: usize = 14 << 20;
const MORE: usize = 8 << 20;

/// About 1 MiB that becomes 1 GiB.
fn bomb() -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&[0; 1 << 20]).unwrap();
    gzip.finish().unwrap().repeat(1024)
}

/// A reply on its way.
struct Sent {
    at: usize,
    /// What is sent over and over again.
    part: Vec<u8>,
    length: usize,
}

impl Sent {
    fn send(&mut self, most: usize, stream: u32, peer: &mut Peer) {
        let end = self.length.min(self.at + most);
        while self.at < end {
            let from = self.at % self.part.len();
            let length = (self.part.len() - from).min(FRAME).min(end - self.at);
            write_data(&mut peer.out, stream, &self.part[from..][..length], false);
            self.at += length;
        }
        if self.at == self.length {
            peer.headers(stream, &[("grpc-status", "0")], true);
        }
    }
}

/// A server that answers each call with the prefix of a message, and then with the message: `part`, repeated up to
/// `length` bytes. It keeps to the windows.
fn serve(flag_byte: u8, part: Vec<u8>, length: usize) -> SocketAddr {
    scripted::serve(move |_| {
        let part = part.clone();
        let mut open = HashMap::new();
        move |header, peer| {
            let stream = header.stream;
            let most = match header.kind {
                Kind::Data if header.has(flag::END_STREAM) => {
                    let mut fields = vec![(":status", "200"), ("content-type", "application/grpc")];
                    fields.extend((flag_byte == 1).then_some(("grpc-encoding", "gzip")));
                    peer.headers(stream, &fields, false);
                    let [a, b, c, d] = u32::try_from(length).unwrap().to_be_bytes();
                    write_data(&mut peer.out, stream, &[flag_byte, a, b, c, d], false);
                    let part = part.clone();
                    let at = 0;
                    open.insert(stream, Sent { at, part, length });
                    FIRST
                }
                Kind::WindowUpdate => MORE,
                Kind::RstStream => {
                    open.remove(&stream);
                    return true;
                }
                _ => return true,
            };
            let sent = open.get_mut(&stream);
            if let Some(sent) = sent.filter(|sent| sent.at < sent.length) {
                sent.send(most, stream, peer);
            }
            true
        }
    })
}

#[track_caller]
fn all_over_budget(report: &Report, calls: u64) {
    assert_eq!(report.all_failed("ResourceExhausted"), calls);
    let (text, count) = &report.errors()[0];
    assert!(text.contains("`--max-memory`") && *count == calls, "{text}");
}

#[test]
fn a_bomb_on_sixteen_threads_takes_no_more_than_the_budget() {
    let bomb = bomb();
    let length = bomb.len();
    let address = serve(1, bomb, length);
    let report = UNARY
        .run("-n 64 -c 32 --connections 16 --threads 16 -t 10m")
        .report(address);
    all_over_budget(&report, 64);
    assert!(report.number("/peak_bytes") < MOST);
}

#[test]
fn messages_of_two_gigabytes_take_no_more_than_the_budget() {
    let address = serve(0, vec![0; FRAME], i32::MAX as usize);
    let report = UNARY
        .run("-n 6 -c 4 --connections 4 --threads 4 -t 10m")
        .report(address);
    all_over_budget(&report, 6);
    assert!(report.number("/peak_bytes") < MOST);
}

#[test]
fn the_budget_is_what_is_given_or_what_a_reply_needs() {
    let serve = || serve(0, vec![0; FRAME], 3 << 20);
    let run = |flags: &str| UNARY.run("-n 2 -c 1 -t 10m").flags(flags);
    all_over_budget(&run("--max-memory 2MiB").report(serve()), 2);
    // It is no protobuf, but it has been read.
    let finished = run("--max-memory 2MiB --max-recv-message-size 4MiB").run(serve());
    assert_eq!(finished.report().all_failed("Internal"), 2);
    let note = "warning: `--max-memory` is raised to 8388624 bytes";
    finished.said(note);
}
