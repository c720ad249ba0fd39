//! A small HTTP server in a thread of its own, which sleeps while nobody asks.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::address::{Address, Server, remove_stale};
use crate::report::write_json;

/// The maximum number of clients at a time; others wait.
const MOST_CLIENTS: usize = 16;

/// A client must have sent the head of its request by then, and then its body.
const PATIENCE: Duration = Duration::from_secs(10);

/// At the program's end, answers that are on their way have so long: the one to an order to stop is among them.
const FAREWELL: Duration = Duration::from_secs(1);

/// How a token is given (RFC 6750, section 2.1); the scheme's case does not matter.
const BEARER: &[u8] = b"Bearer ";

/// After a failure to accept a client: there may be too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What a client gets.
pub type Answer = Response<Full<Bytes>>;

/// Listens, and answers from now on. A request whose client is gone is dropped.
///
/// # Errors
///
/// If the address cannot be listened on.
pub fn host<F>(
    address: &Address,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) -> io::Result<Server>
where
    F: Future<Output = Answer> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (listener, address) = {
        let _inside = runtime.enter();
        bind(address)?
    };
    let (leave, mut leaves) = oneshot::channel::<()>();
    let (left, has_left) = mpsc::channel();
    let farewell = move || {
        // If the thread is gone, nobody waits for an answer.
        let _ = leave.send(());
        let _ = has_left.recv_timeout(FAREWELL);
    };
    thread::spawn(move || {
        runtime.block_on(async move {
            let graceful = GracefulShutdown::new();
            let places = Arc::new(Semaphore::new(MOST_CLIENTS));
            {
                let mut serving = pin!(async {
                    // Nobody closes it.
                    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
                        listener.accept(&answer, place, graceful.watcher()).await;
                    }
                });
                poll_fn(|context| match pin!(&mut leaves).poll(context) {
                    Poll::Ready(_) => Poll::Ready(()),
                    Poll::Pending => serving.as_mut().poll(context),
                })
                .await;
            }
            graceful.shutdown().await;
            let _ = left.send(());
        });
    });
    Ok(Server {
        address,
        farewell: Some(Box::new(farewell)),
    })
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Takes a client. One that is gone already, or for which there is no room, is let go.
    async fn accept<F>(
        &self,
        answer: &(impl Fn(Request<Incoming>) -> F + Clone + Send + 'static),
        place: OwnedSemaphorePermit,
        watcher: Watcher,
    ) where
        F: Future<Output = Answer> + Send + 'static,
    {
        match self {
            Self::Tcp(listener) => match listener.accept().await {
                Ok((socket, _)) => converse(socket, answer.clone(), place, watcher),
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Self::Unix(listener) => match listener.accept().await {
                Ok((socket, _)) => converse(socket, answer.clone(), place, watcher),
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
        }
    }
}

fn bind(address: &Address) -> io::Result<(Listener, Address)> {
    match address {
        Address::Tcp(address) => {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = Address::Tcp(listener.local_addr()?);
            let listener = Listener::Tcp(TcpListener::from_std(listener)?);
            Ok((listener, address))
        }
        Address::Unix(path) => {
            remove_stale(path)?;
            let listener = Listener::Unix(UnixListener::bind(path)?);
            let address = address.clone();
            Ok((listener, address))
        }
    }
}

/// Answers a client's requests; its place is free once it is gone.
fn converse<F>(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    answer: impl Fn(Request<Incoming>) -> F + Send + 'static,
    place: OwnedSemaphorePermit,
    watcher: Watcher,
) where
    F: Future<Output = Answer> + Send + 'static,
{
    let answer = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(socket), answer);
    let connection = watcher.watch(connection);
    // What a client does wrong ends its connection, and nothing else.
    tokio::spawn(async move {
        drop(connection.await);
        drop(place);
    });
}

/// Whether a client knows the token.
pub fn knows<T>(request: &Request<T>, token: &str) -> bool {
    let given = request.headers().get(AUTHORIZATION);
    let given = given.and_then(|value| value.as_bytes().split_at_checked(BEARER.len()));
    given.is_some_and(|(scheme, given)| {
        scheme.eq_ignore_ascii_case(BEARER) && is_same(given, token.as_bytes())
    })
}

/// Compares without telling by its time where the first difference is.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let pairs = given.iter().zip(token);
    given.len() == token.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Why a body is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBody {
    TooLong,
    /// It was cut short, or takes too long.
    NoEnd,
}

/// The body of a request, of at most so many bytes.
///
/// # Errors
///
/// It is too long, or has no end.
pub async fn body(request: Request<Incoming>, most: usize) -> Result<Bytes, NoBody> {
    let body = Limited::new(request.into_body(), most).collect();
    let body = tokio::time::timeout(PATIENCE, body).await;
    let body = body.map_err(|_| NoBody::NoEnd)?;
    body.map(|body| body.to_bytes())
        .map_err(|error| match error.is::<LengthLimitError>() {
            true => NoBody::TooLong,
            false => NoBody::NoEnd,
        })
}

pub fn not_allowed(allowed: &'static str) -> Answer {
    let mut refusal = error(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("the method is {allowed}"),
    );
    let allowed = HeaderValue::from_static(allowed);
    refusal.headers_mut().insert(ALLOW, allowed);
    refusal
}

pub fn error(status: StatusCode, reason: impl Into<String>) -> Answer {
    in_json(status, &json!({ "error": reason.into() }))
}

pub fn in_json(status: StatusCode, body: &impl Serialize) -> Answer {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json(body, &mut text);
    of(status, "application/json", text)
}

pub fn of(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
