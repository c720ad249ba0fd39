//! What volley shows of servers, calls and replies: reflection, `list`, `describe`, `try`, saved and printed replies.

#[path = "../common/mod.rs"]
mod common;

mod look;
mod reflection;
mod replies;
mod secrets;
mod terminal;
mod trial;
mod types;

use std::io::Write as _;

use common::{scripted, volley, words};
use volley::http2::frame::write_settings;

/// The only line on stderr of a command that failed without output, without "error: ".
fn error(words: &[&str], wanted: i32) -> String {
    let (status, out, errors) = volley(words);
    assert_eq!((status, out.as_str()), (wanted, ""), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    let line = errors.strip_prefix("error: ").unwrap();
    line.trim_end().to_owned()
}

const GET_SUM: &str = "benchmark.BenchmarkService/GetSum";

/// A number of unary calls, without a schema.
fn unary<'a>(host: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let load = words("--insecure|-n|10|-c|2|-O|json|-d");
    let call = [r#"{"a": 20, "b": 22}"#, "--call", GET_SUM, host];
    [&load[..], &call, more].concat()
}

/// A server that greets each client, and then sends frames of no known type for ever.
fn flood(greeted: impl Fn() + Clone + Send + 'static) -> String {
    let address = scripted::accept(move |_| {
        let greeted = greeted.clone();
        move |mut socket| {
            let mut hello = Vec::new();
            write_settings(&mut hello, &[]);
            socket.write_all(&hello)?;
            greeted();
            let frames = [0, 0, 0, 0xfa, 0, 0, 0, 0, 0].repeat(100_000);
            loop {
                socket.write_all(&frames)?;
            }
        }
    });
    address.to_string()
}
