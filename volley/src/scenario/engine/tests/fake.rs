//! An HTTP/1.1 server that answers as a test wants, and runs against it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::super::{Finished, Options, RunError, run};
use super::plan;

/// Answers until it is dropped.
pub struct Fake {
    pub address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

/// A request's path and its header `name`, empty without one.
pub struct Asked {
    pub path: String,
    headers: Vec<(String, String)>,
}

impl Asked {
    pub fn header(&self, name: &str) -> &str {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map_or("", |(_, value)| value)
    }
}

impl Fake {
    /// `answer` gives status and body; `None`: the request is never answered.
    pub fn start(answer: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (answer, is_over) = (Arc::new(answer), Arc::new(AtomicBool::new(false)));
        let ends = Arc::clone(&is_over);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let (stream, answer) = (stream.unwrap(), Arc::clone(&answer));
                thread::spawn(move || serve(&stream, &*answer));
            }
        });
        Self { address, is_over }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves one connection until its end.
fn serve(mut stream: &TcpStream, answer: &dyn Fn(&Asked) -> Option<(u16, String)>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let line = line(&mut reader)?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut headers = Vec::new();
        loop {
            let line = self::line(&mut reader)?;
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let asked = Asked { path, headers };
        let length = asked.header("content-length").parse().unwrap_or(0);
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).ok()?;
        let Some((status, body)) = answer(&asked) else {
            // The connection stays open until the other side closes it.
            std::io::copy(&mut reader, &mut std::io::sink()).ok()?;
            return None;
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    match reader.read_line(&mut line) {
        Ok(1..) => Some(line.trim_end().to_owned()),
        _ => None,
    }
}

/// Runs a file whose target `api` is a server.
pub fn finish(server: &Fake, threads: u32, file: &str) -> Result<Finished, RunError> {
    finish_by(server, threads, &Arc::default(), file)
}

/// The same, until a signal.
pub fn finish_by(
    server: &Fake,
    threads: u32,
    signal: &Arc<AtomicBool>,
    file: &str,
) -> Result<Finished, RunError> {
    let target = format!("targets: {{api: 'http://{}'}}\n", server.address);
    let options = Options {
        threads: Some(threads),
        ..Options::default()
    };
    run(&plan(&(target + file)), &options, signal, &mut |_, _| ())
}

/// Why a run failed.
pub fn failure(finished: Result<Finished, RunError>) -> String {
    let failure = match finished {
        Ok(finished) => finished.failure.unwrap(),
        Err(error) => error,
    };
    failure.to_string()
}
