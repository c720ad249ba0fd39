//! The HTTP interface of a run, in a thread of its own that sleeps while nobody asks.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
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
use super::stats::Stats;
use super::text;
use crate::engine::{Handle, Refusal};
use crate::report::write_json;
use crate::spec::Command;

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
    /// What is known of the run.
    pub stats: Arc<Mutex<Stats>>,
    /// How to change it; `None`: it is only shown.
    pub control: Option<Handle>,
    /// What a client must know, if any.
    pub token: Option<Arc<str>>,
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
        match (path.as_str(), &self.control) {
            ("/metrics", _) => refusal(&method, "GET").unwrap_or_else(|| self.metrics()),
            ("/v1/stats", _) => refusal(&method, "GET").unwrap_or_else(|| self.stats()),
            ("/v1/load", Some(control)) => match refusal(&method, "PATCH") {
                Some(refusal) => refusal,
                None => match asked(request).await {
                    Ok(command) => ask(control, command).await,
                    Err(reason) => error(StatusCode::BAD_REQUEST, reason),
                },
            },
            ("/v1/pause" | "/v1/resume" | "/v1/stop", Some(control)) => {
                match refusal(&method, "POST") {
                    Some(refusal) => refusal,
                    None => ask(control, verb(&path)).await,
                }
            }
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
        if self.control.is_some() {
            "there are GET /v1/stats, GET /metrics, PATCH /v1/load, POST /v1/pause, /v1/resume and /v1/stop"
        } else {
            "there are GET /metrics and GET /v1/stats"
        }
    }

    fn metrics(&self) -> Answer {
        let text = text::metrics(&self.now());
        of(StatusCode::OK, "text/plain; version=0.0.4", text)
    }

    fn stats(&self) -> Answer {
        in_json(StatusCode::OK, &self.now())
    }

    fn now(&self) -> Stats {
        // They are whole at any moment.
        self.stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Compares without telling by its time where the first difference is.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let pairs = given.iter().zip(token);
    given.len() == token.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

fn verb(path: &str) -> Command {
    match path {
        "/v1/pause" => Command::Pause,
        "/v1/resume" => Command::Resume,
        _ => Command::Stop,
    }
}

/// The change that a `PATCH /v1/load` asks for.
async fn asked(request: Request<Incoming>) -> Result<Command, String> {
    let needed = "a JSON object with `rps` or `concurrency` is needed, such as {\"rps\": 1000}";
    let body = Limited::new(request.into_body(), MOST_BODY).collect();
    let body = tokio::time::timeout(PATIENCE, body).await;
    let body = body.map_err(|_| "the request has no end".to_owned())?;
    let body = body.map_err(|_| needed.to_owned())?;
    let body: Value = serde_json::from_slice(&body.to_bytes()).map_err(|_| needed.to_owned())?;
    if body.get("rps").is_some() && body.get("concurrency").is_some() {
        return Err("give one of `rps` and `concurrency`, not both".to_owned());
    }
    let members = body.as_object().filter(|members| members.len() == 1);
    let (key, value) = members
        .and_then(|members| members.iter().next())
        .ok_or_else(|| needed.to_owned())?;
    let number = value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| format!("`{key}` must be a whole number from 1 to {}", u32::MAX))?;
    match key.as_str() {
        "rps" => Ok(Command::Rate(number)),
        "concurrency" => Ok(Command::Workers(number)),
        _ => Err(needed.to_owned()),
    }
}

async fn ask(control: &Handle, command: Command) -> Answer {
    let control = control.clone();
    // The answer takes a moment, and others may ask meanwhile.
    let asked = tokio::task::spawn_blocking(move || control.ask(command)).await;
    match asked {
        Ok(Ok(())) => in_json(StatusCode::OK, &json!({ "ok": true })),
        Ok(Err(refusal)) => {
            let status = match refusal {
                Refusal::Rate | Refusal::Workers { .. } => StatusCode::BAD_REQUEST,
                _ => StatusCode::CONFLICT,
            };
            error(status, refusal.to_string())
        }
        Err(_) => error(StatusCode::CONFLICT, Refusal::Over.to_string()),
    }
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
