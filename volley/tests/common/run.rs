//! The real program as a child process, bounded in time.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use super::{LONGEST, Report};

/// A command line of volley.
pub struct Volley {
    command: Command,
    format: &'static str,
}

/// The result of a child that has ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A running child; it is killed if nobody waits for its end.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    /// The first line of stderr.
    words: Receiver<String>,
}

/// The program with these arguments.
pub fn command(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_volley"));
    command.args(args);
    command
}

/// What comes of a program that is run to its end: its exit status, stdout and stderr.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// What comes of the program with these arguments.
pub fn volley(args: &[&str]) -> (i32, String, String) {
    outcome(&mut command(args))
}

impl Volley {
    /// A call of one of the benchmark service's methods in plaintext, reported as JSON.
    pub fn call(method: &str) -> Self {
        Self::secure(method).arg("--insecure")
    }

    /// The same under TLS.
    pub fn secure(method: &str) -> Self {
        Self::words(&[], method)
    }

    /// A sweep of blasts of such calls, with TLS by default.
    pub fn blast(method: &str) -> Self {
        Self::words(&["blast"], method)
    }

    /// A search with such calls, with TLS by default.
    pub fn find(method: &str) -> Self {
        Self::words(&["find"], method)
    }

    fn words(first: &[&str], method: &str) -> Self {
        let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../requests/benchmark.proto");
        let method = format!("benchmark.BenchmarkService/{method}");
        Self::with(first, proto.as_ref(), &method)
    }

    /// A call of a method of another file, in plaintext.
    pub fn of(proto: &Path, method: &str) -> Self {
        Self::with(&[], proto, method).arg("--insecure")
    }

    fn with(first: &[&str], proto: &Path, method: &str) -> Self {
        let mut command = command(first);
        command.arg("--proto").arg(proto).args(["--call", method]);
        Self {
            command,
            format: "json",
        }
    }

    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.command.arg(word);
        self
    }

    /// A variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it where this file takes the place of /etc/hosts.
    pub fn with_hosts(mut self, hosts: &Path) -> Self {
        let mount = r#"mount --bind "$1" /etc/hosts && shift && exec "$@""#;
        let mut command = Command::new("unshare");
        command
            .args(["--map-root-user", "--mount", "sh", "-c", mount, "sh"])
            .arg(hosts)
            .arg(self.command.get_program())
            .args(self.command.get_args());
        self.command = command;
        self
    }

    /// Flags that contain no blanks, separated by blanks.
    pub fn flags(mut self, words: &str) -> Self {
        self.command.args(words.split_whitespace());
        self
    }

    /// Report in another format than JSON.
    pub fn format(mut self, format: &'static str) -> Self {
        self.format = format;
        self
    }

    /// The payload.
    pub fn data(self, json: &str) -> Self {
        self.arg("-d").arg(json)
    }

    /// A rule for the replies.
    pub fn expect(self, rule: &str) -> Self {
        self.arg("--expect").arg(rule)
    }

    /// Runs it to its end.
    pub fn run(self, server: impl Display) -> Finished {
        self.start(server).wait()
    }

    /// Runs it to its end, and reads the report that it must have printed.
    pub fn report(self, server: impl Display) -> Report {
        self.run(server).report()
    }

    /// Runs it to its end with a stderr that nothing can be written to.
    pub fn run_unheard(mut self, server: impl Display) -> Finished {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = self
            .command
            .args(["-O", self.format, &server.to_string()])
            .stdin(Stdio::null())
            .stderr(full)
            .output()
            .unwrap();
        Finished {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::new(),
        }
    }

    pub fn start(mut self, server: impl Display) -> Running {
        let words = ["-O", self.format, &server.to_string()];
        Running::start(self.command.args(words))
    }
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (say, words) = mpsc::channel();
        let stdout = gather(child.stdout.take().unwrap(), |_| ());
        let stderr = gather(child.stderr.take().unwrap(), move |line| {
            let _ = say.send(line.to_owned());
        });
        Self {
            stdin: child.stdin.take(),
            child,
            stdout,
            stderr,
            words,
        }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// Waits for the first line on its stderr.
    pub fn first_words(&self) -> String {
        self.words.recv_timeout(LONGEST).unwrap()
    }

    /// Where it takes orders, which its first line on stderr says.
    pub fn control(&self) -> String {
        let words = self.first_words();
        let address = words.strip_prefix("volley: control at ");
        address.unwrap_or_else(|| panic!("{words}")).to_owned()
    }

    /// Writes to its stdin.
    pub fn tell(&mut self, words: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(words.as_bytes()).unwrap();
    }

    /// Ends its stdin.
    pub fn hush(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end, without an end of its stdin; panics if that does not come.
    pub fn wait(mut self) -> Finished {
        let Ok(stdout) = self.stdout.recv_timeout(LONGEST) else {
            panic!("volley did not end within {LONGEST:?}");
        };
        Finished {
            stdout,
            stderr: self.stderr.recv().unwrap(),
            status: self.child.wait().unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only for a child that has ended, as intended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Finished {
    pub fn code(&self) -> i32 {
        self.status
            .code()
            .unwrap_or_else(|| panic!("ended by a signal: {self:?}"))
    }

    /// Its stderr has this.
    #[track_caller]
    pub fn said(&self, words: &str) {
        assert!(self.stderr.contains(words), "{words}: {self:?}");
    }

    /// Its only line on stderr has this.
    #[track_caller]
    pub fn failed_with(&self, words: &str) {
        assert!(self.error().contains(words), "{words}: {self:?}");
    }

    pub fn report(&self) -> Report {
        Report::parse(&self.stdout, self.code(), &self.stderr)
    }

    /// The only line on stderr of a run that could not be made, without "error: ".
    pub fn error(&self) -> &str {
        assert_eq!((self.code(), self.stdout.as_str()), (1, ""), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        self.stderr
            .strip_prefix("error: ")
            .unwrap_or_else(|| panic!("{self:?}"))
            .trim_end()
    }
}

/// Reads a pipe to its end, which comes when the child ends; `first` gets its first line.
fn gather(
    pipe: impl Read + Send + 'static,
    first: impl FnOnce(&str) + Send + 'static,
) -> Receiver<String> {
    let (sender, text) = mpsc::channel();
    thread::spawn(move || {
        let (mut pipe, mut bytes) = (BufReader::new(pipe), Vec::new());
        pipe.read_until(b'\n', &mut bytes).unwrap();
        first(String::from_utf8_lossy(&bytes).trim_end());
        pipe.read_to_end(&mut bytes).unwrap();
        // Fails only if the test has given up.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    text
}
