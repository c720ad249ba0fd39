//! `volley serve` as a program: its output, its signals, its end.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{block_on, call, connect, message};

/// The program, killed at the end of a test that fails.
struct Server {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_volley"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let stdout = child.stdout.take().expect("its stdout");
        Self {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("a line").expect("text")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a running program");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // In a test that passes, it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_says_where_it_listens_and_counts_on_sigusr1_and_at_its_end() {
    let mut server = Server::start();
    let first = server.line();
    let address = first.strip_prefix("listening on ").expect("the first line");
    let address = address.parse().expect("an address");
    block_on(async move {
        let sender = connect(address, 1 << 20, 1 << 20).await;
        let answer = call(&sender, "StreamSum", &[message(1, 2, 10)]).await;
        assert_eq!(answer.expect("an answer").results.len(), 10);
    });
    let counts = concat!(
        r#"{"connections":1,"calls_started":1,"calls_ok":1,"calls_failed":0,"calls_reset":0,"#,
        r#""messages_received":1,"messages_sent":10,"created":0,"read":0,"patched":0,"deleted":0,"duplicates":0,"#,
        r#""patch_hash":0,"tokens":0,"calls_open":0,"live":0}"#
    );
    server.signal(Signal::USR1);
    assert_eq!(server.line(), counts);
    server.signal(Signal::TERM);
    assert_eq!(server.line(), counts);
    assert!(server.lines.next().is_none());
    assert_eq!(server.child.wait().expect("its end").code(), Some(0));
}

#[test]
fn sigint_is_a_clean_end_too() {
    let mut server = Server::start();
    server.line();
    server.signal(Signal::INT);
    assert!(server.line().starts_with(r#"{"connections":0,"#));
    assert_eq!(server.child.wait().expect("its end").code(), Some(0));
}
