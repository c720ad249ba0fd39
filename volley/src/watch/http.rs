//! The HTTP interface of a run, in a thread of its own that sleeps while nobody asks.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, ORIGIN, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::address::Address;
use crate::report::write_json;

/// The longest body of a request.
const MOST_BODY: usize = 4096;

/// The maximum number of clients at a time; others wait.
const MOST_CLIENTS: usize = 16;

/// A client must have sent the head of its request by then, and then its body.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a token is given (RFC 6750, section 2.1); the scheme's case does not matter.
const BEARER: &[u8] = b"Bearer ";

/// After a failure to accept a client: there may be too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What an address offers.
#[derive(Clone)]
pub struct Shows {
    pub run: Arc<dyn Shown>,
    /// It can be changed, and not only be seen.
    pub takes_orders: bool,
    /// What a client must know, if any.
    pub token: Option<Arc<str>>,
}

/// A run that others see, and may change.
pub trait Shown: Send + Sync {
    /// What is known of it, as JSON.
    fn stats(&self) -> Vec<u8>;

    /// The same in Prometheus' text format.
    fn metrics(&self) -> String;

    /// Obeys. This may take a moment.
    ///
    /// # Errors
    ///
    /// Why it does not.
    fn obey(&self, order: Asked) -> Result<(), Refused>;
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// `PATCH /v1/load` with this body; `Null`: no JSON.
    Load(Value),
    Pause,
    Resume,
    Stop,
}

/// Why a run does not do what a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is wrong.
    Wrong(String),
    /// The run is not one that could.
    Conflict(String),
}

/// A server that ends with the program.
#[derive(Debug)]
pub struct Server {
    /// Where it listens. A socket is removed at the end.
    pub address: Address,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Address::Unix(path) = &self.address {
            // Somebody may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}

/// Listens, and answers from now on.
///
/// # Errors
///
/// If the address cannot be listened on.
pub fn serve(address: &Address, shows: Shows) -> io::Result<Server> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (listener, server) = {
        let _inside = runtime.enter();
        bind(address)?
    };
    thread::spawn(move || {
        runtime.block_on(async move {
            let places = Arc::new(Semaphore::new(MOST_CLIENTS));
            // Nobody closes it.
            while let Ok(place) = Arc::clone(&places).acquire_owned().await {
                listener.accept(&shows, place).await;
            }
        })
    });
    Ok(server)
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Takes a client. One that is gone already, or for which there is no room, is let go.
    async fn accept(&self, shows: &Shows, place: OwnedSemaphorePermit) {
        match self {
            Self::Tcp(listener) => match listener.accept().await {
                Ok((socket, _)) => converse(socket, shows.clone(), place),
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Self::Unix(listener) => match listener.accept().await {
                Ok((socket, _)) => converse(socket, shows.clone(), place),
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
        }
    }
}

fn bind(address: &Address) -> io::Result<(Listener, Server)> {
    match address {
        Address::Tcp(address) => {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = Address::Tcp(listener.local_addr()?);
            let listener = Listener::Tcp(TcpListener::from_std(listener)?);
            Ok((listener, Server { address }))
        }
        Address::Unix(path) => {
            remove_stale(path)?;
            let listener = Listener::Unix(UnixListener::bind(path)?);
            let address = address.clone();
            Ok((listener, Server { address }))
        }
    }
}

/// Removes the socket of a program that is gone: nobody listens on it.
pub(crate) fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    match is_socket.then(|| UnixStream::connect(path)) {
        Some(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

/// Answers a client's requests; its place is free once it is gone.
fn converse(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    shows: Shows,
    place: OwnedSemaphorePermit,
) {
    let answer = service_fn(move |request| {
        let shows = shows.clone();
        async move { Ok::<_, Infallible>(shows.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(socket), answer);
    // What a client does wrong ends its connection, and nothing else.
    tokio::spawn(async move {
        drop(connection.await);
        drop(place);
    });
}

type Answer = Response<Full<Bytes>>;

impl Shows {
    async fn answer(self, request: Request<Incoming>) -> Answer {
        if let Some(refusal) = self.refuse(&request) {
            return refusal;
        }
        let path = request.uri().path().to_owned();
        let refusal = |method: &Method, allowed: &'static str| {
            (method.as_str() != allowed).then(|| not_allowed(allowed))
        };
        let method = request.method().clone();
        match (path.as_str(), self.takes_orders) {
            ("/metrics", _) => refusal(&method, "GET").unwrap_or_else(|| {
                let text = self.run.metrics();
                of(StatusCode::OK, "text/plain; version=0.0.4", text)
            }),
            ("/v1/stats", _) => refusal(&method, "GET")
                .unwrap_or_else(|| of(StatusCode::OK, "application/json", self.run.stats())),
            ("/v1/load", true) => match refusal(&method, "PATCH") {
                Some(refusal) => refusal,
                None => match body(request).await {
                    Ok(body) => self.ask(Asked::Load(body)).await,
                    Err(reason) => error(StatusCode::BAD_REQUEST, reason),
                },
            },
            ("/v1/pause" | "/v1/resume" | "/v1/stop", true) => match refusal(&method, "POST") {
                Some(refusal) => refusal,
                None => self.ask(verb(&path)).await,
            },
            _ => error(StatusCode::NOT_FOUND, self.offers()),
        }
    }

    /// Refuses strangers, and pages in a browser: those send an `Origin`.
    fn refuse(&self, request: &Request<Incoming>) -> Option<Answer> {
        if request.headers().contains_key(ORIGIN) {
            return Some(error(StatusCode::FORBIDDEN, "web pages have no access"));
        }
        let token = self.token.as_deref()?;
        let given = request.headers().get(AUTHORIZATION);
        let given = given.and_then(|value| value.as_bytes().split_at_checked(BEARER.len()));
        if given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case(BEARER) && is_same(given, token.as_bytes())
        }) {
            return None;
        }
        let mut refusal = error(
            StatusCode::UNAUTHORIZED,
            "give the token of `--control-token` as `Authorization: Bearer TOKEN`",
        );
        let challenge = hyper::header::HeaderValue::from_static("Bearer");
        refusal.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Some(refusal)
    }

    fn offers(&self) -> &'static str {
        if self.takes_orders {
            "there are GET /v1/stats, GET /metrics, PATCH /v1/load, POST /v1/pause, /v1/resume and /v1/stop"
        } else {
            "there are GET /metrics and GET /v1/stats"
        }
    }

    async fn ask(self, order: Asked) -> Answer {
        // The answer takes a moment, and others may ask meanwhile.
        let done = tokio::task::spawn_blocking(move || self.run.obey(order)).await;
        match done {
            Ok(Ok(())) => in_json(StatusCode::OK, &json!({ "ok": true })),
            Ok(Err(Refused::Wrong(reason))) => error(StatusCode::BAD_REQUEST, reason),
            Ok(Err(Refused::Conflict(reason))) => error(StatusCode::CONFLICT, reason),
            Err(_) => error(StatusCode::CONFLICT, "the run is over"),
        }
    }
}

/// Compares without telling by its time where the first difference is.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let pairs = given.iter().zip(token);
    given.len() == token.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

fn verb(path: &str) -> Asked {
    match path {
        "/v1/pause" => Asked::Pause,
        "/v1/resume" => Asked::Resume,
        _ => Asked::Stop,
    }
}

/// The body of a request; `Null` if it is too long, or no JSON.
async fn body(request: Request<Incoming>) -> Result<Value, &'static str> {
    let body = Limited::new(request.into_body(), MOST_BODY).collect();
    let body = tokio::time::timeout(PATIENCE, body).await;
    let body = body.map_err(|_| "the request has no end")?;
    let body = body.ok().map(|body| body.to_bytes());
    let body = body.and_then(|body| serde_json::from_slice(&body).ok());
    Ok(body.unwrap_or(Value::Null))
}

fn not_allowed(allowed: &'static str) -> Answer {
    let mut refusal = error(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("the method is {allowed}"),
    );
    let allowed = hyper::header::HeaderValue::from_static(allowed);
    refusal.headers_mut().insert(ALLOW, allowed);
    refusal
}

fn error(status: StatusCode, reason: impl Into<String>) -> Answer {
    in_json(status, &json!({ "error": reason.into() }))
}

fn in_json(status: StatusCode, body: &impl Serialize) -> Answer {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json(body, &mut text);
    of(status, "application/json", text)
}

fn of(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
