//! A small HTTP server in a thread of its own, which sleeps while nobody asks.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;

use super::clients::{Clients, Patient};
use super::running::Server;
use crate::net::remove_stale;
use crate::report::json_line;
use crate::spec::ListenAddress;

/// A client must have sent the head of its request by then, then its body, and it must then have read the answer.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The longest head of a request, in bytes.
const MOST_HEAD: usize = 16 << 10;

/// At the program's end, answers that are on their way have so long: the one to an order to stop is among them.
const FAREWELL: Duration = Duration::from_secs(1);

/// How a token is given (RFC 6750, section 2.1); the scheme's case does not matter.
const BEARER: &[u8] = b"Bearer ";

/// After a failure to accept a client: there may be too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What a client gets.
pub type Answer = Response<Full<Bytes>>;

/// Listens, and answers from now on. A request whose client is gone is dropped. Clients that send `token` have places of
/// their own.
///
/// # Errors
///
/// If the address cannot be listened on.
pub fn host<F>(
    address: &ListenAddress,
    token: Option<Arc<str>>,
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
    let door = Door {
        address: address.clone(),
        token,
        clients: Arc::default(),
        answer,
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
            {
                let mut serving = pin!(async {
                    loop {
                        listener.accept(&door, graceful.watcher()).await;
                        // It may say who it is before the next one comes.
                        tokio::task::yield_now().await;
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
    async fn accept<A, F>(&self, door: &Door<A>, watcher: Watcher)
    where
        A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Answer> + Send + 'static,
    {
        match self {
            Self::Tcp(listener) => match listener.accept().await {
                Ok((socket, _)) => door.clone().converse(socket, watcher),
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Self::Unix(listener) => match listener.accept().await {
                Ok((socket, _)) => door.clone().converse(socket, watcher),
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
        }
    }
}

fn bind(address: &ListenAddress) -> io::Result<(Listener, ListenAddress)> {
    match address {
        ListenAddress::Tcp(address) => {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = ListenAddress::Tcp(listener.local_addr()?);
            let listener = Listener::Tcp(TcpListener::from_std(listener)?);
            Ok((listener, address))
        }
        ListenAddress::Unix(path) => {
            remove_stale(path)?;
            let listener = Listener::Unix(UnixListener::bind(path)?);
            let address = address.clone();
            Ok((listener, address))
        }
    }
}

/// Who comes in.
#[derive(Clone)]
struct Door<A> {
    /// Where it is.
    address: ListenAddress,
    token: Option<Arc<str>>,
    clients: Arc<Mutex<Clients>>,
    answer: A,
}

impl<A, F> Door<A>
where
    A: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    /// Answers a client's requests.
    fn converse(
        self,
        socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        watcher: Watcher,
    ) {
        let clients = Arc::clone(&self.clients);
        let answer = service_fn(move |request| {
            let answer = self.lets_in(&request).then(|| (self.answer)(request));
            async move {
                Ok::<_, Infallible>(match answer {
                    Some(answer) => answer.await,
                    None => misdirected(),
                })
            }
        });
        // One request each, so that nobody lines up thousands.
        let connection = http1::Builder::new()
            .keep_alive(false)
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(MOST_HEAD)
            .serve_connection(TokioIo::new(Patient::new(socket)), answer);
        let connection = watcher.watch(connection);
        // What a client does wrong ends its connection, and nothing else.
        let task = tokio::spawn(async move { drop(connection.await) });
        locked(&clients).add(task.abort_handle());
    }

    /// Not what was sent to another name: a web page can make a name of its own lead here, and then reads answers. It knows
    /// no token.
    fn lets_in(&self, request: &Request<Incoming>) -> bool {
        let token = self.token.as_deref();
        let has_token = token.is_some_and(|token| knows(request, token));
        locked(&self.clients).note(has_token);
        has_token || is_of(&self.address, request.headers().get(HOST))
    }
}

fn misdirected() -> Answer {
    let reason = "this name is not known here: use localhost, the address, or the token";
    error(StatusCode::MISDIRECTED_REQUEST, reason)
}

fn locked(clients: &Mutex<Clients>) -> MutexGuard<'_, Clients> {
    // They are whole at any moment.
    clients.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a `Host` leads to an address by itself, and not through a name that may lead anywhere. Its port does not
/// matter: a tunnel has one of its own. No web page comes through a Unix socket.
fn is_of(address: &ListenAddress, host: Option<&HeaderValue>) -> bool {
    if let ListenAddress::Unix(_) = address {
        return true;
    }
    let host = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let name = host.as_ref().map_or("", Authority::host);
    let ip = name.trim_matches(['[', ']']).parse();
    name.eq_ignore_ascii_case("localhost")
        || ip.is_ok_and(|ip: IpAddr| ip.is_loopback() || !address.is_local())
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
    match body.map_err(|_| NoBody::NoEnd)? {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(NoBody::TooLong),
        Err(_) => Err(NoBody::NoEnd),
    }
}

pub fn not_allowed(allowed: &'static str) -> Answer {
    let reason = format!("the method is {allowed}");
    let mut refusal = error(StatusCode::METHOD_NOT_ALLOWED, reason);
    let allowed = HeaderValue::from_static(allowed);
    refusal.headers_mut().insert(ALLOW, allowed);
    refusal
}

pub fn error(status: StatusCode, reason: impl Into<String>) -> Answer {
    in_json(status, &json!({ "error": reason.into() }))
}

pub fn in_json(status: StatusCode, body: &impl Serialize) -> Answer {
    of(status, "application/json", json_line(body))
}

pub fn of(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Write};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_client_that_does_not_read_its_answer_is_let_go() {
        let nowhere = ":0".parse().unwrap();
        let long = |_| async { of(StatusCode::OK, "text/plain", vec![b' '; 64 << 20]) };
        let server = host(&nowhere, None, long).unwrap();
        let ListenAddress::Tcp(address) = server.address else {
            unreachable!("it listens on TCP");
        };
        let mut client = TcpStream::connect(address).unwrap();
        client.set_write_timeout(Some(12 * PATIENCE)).unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        client.write_all(request).unwrap();
        // The server reads nothing more, so this waits until the connection is closed.
        let error = loop {
            if let Err(error) = client.write_all(&[b' '; 1 << 16]) {
                break error.kind();
            }
        };
        let closed = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
        assert!(closed.contains(&error), "{error}");
    }

    #[test]
    fn an_address_that_others_reach_has_any_ip_and_no_name() {
        let all: ListenAddress = "0.0.0.0:80".parse().unwrap();
        let socket: ListenAddress = "unix:/run/v.sock".parse().unwrap();
        for (host, is_there) in [
            ("10.0.0.1", true),
            ("[fe80::1]:9090", true),
            ("localhost", true),
            ("evil.example:80", false),
            ("10.0.0.1@evil.example", false),
            ("", false),
        ] {
            let host = HeaderValue::from_static(host);
            assert_eq!(is_of(&all, Some(&host)), is_there, "{host:?}");
            assert!(is_of(&socket, Some(&host)));
        }
        assert!(!is_of(&all, None));
    }
}
