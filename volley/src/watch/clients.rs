//! The connections of a server's clients. None of them can keep another one away.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::{self, AbortHandle};
use tokio::time::{Sleep, sleep};

use super::server::PATIENCE;

/// The maximum number of clients with the token at a time, and of those without.
const MOST: usize = 64;

/// All connections; the one that was silent for the longest time is the first. A client that is one too many takes the
/// place of the first of its kind: those without the token cannot drive out those with it.
#[derive(Default)]
pub struct Clients(Vec<Client>);

struct Client {
    task: AbortHandle,
    has_token: bool,
}

impl Clients {
    /// A client has come. Its connection is a task.
    pub fn add(&mut self, task: AbortHandle) {
        self.seat(Client {
            task,
            has_token: false,
        });
    }

    /// The client whose task this is asks for something.
    pub fn note(&mut self, has_token: bool) {
        let task = task::id();
        if let Some(at) = self.0.iter().position(|client| client.task.id() == task) {
            let client = self.0.remove(at);
            self.seat(Client {
                has_token,
                ..client
            });
        }
    }

    fn seat(&mut self, client: Client) {
        self.0.retain(|other| !other.task.is_finished());
        let alike = |other: &Client| other.has_token == client.has_token;
        if self.0.iter().filter(|other| alike(other)).count() >= MOST
            && let Some(first) = self.0.iter().position(alike)
        {
            self.0.remove(first).task.abort();
        }
        self.0.push(client);
    }
}

/// A socket that fails if its client does not read an answer in time.
pub struct Patient<S> {
    socket: S,
    /// When the client must have read all, once it has let an answer wait.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub fn new(socket: S) -> Self {
        Self {
            socket,
            deadline: None,
        }
    }

    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            return written;
        }
        let begin = || Box::pin(sleep(PATIENCE));
        let deadline = self.deadline.get_or_insert_with(begin);
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.limit(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes what it has written to the end.
        self.deadline = None;
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
