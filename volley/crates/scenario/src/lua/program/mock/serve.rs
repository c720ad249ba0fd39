//! A server's thread and its connections: HTTP/1.1 and HTTP/2, whichever a client speaks, with or without TLS.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio_rustls::TlsAcceptor;

use super::config::Config;
use super::rule::Asked;
use super::{Handler, Mock};
use crate::lua::program::answer::{Address, Received, Reply};
use crate::lua::program::open_request::{Fields, MOST_BODY};
use crate::lua::program::worker::Mail;
use volley_base::budget::{Budget, Buffer};
use volley_serve::{Identity, load_tls};

/// The maximum number of clients at a time; others wait.
const MOST_CLIENTS: usize = 10_000;

/// After a failure to accept a client: there may be too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Starts a server, in a thread of its own.
pub fn start(config: &Config, folder: &Path, mock: &Arc<Mock>) -> Result<JoinHandle<()>, String> {
    let listener = std::net::TcpListener::bind((config.address.as_str(), config.port));
    let listener = listener.map_err(|error| {
        format!(
            "cannot listen on {}:{}: {error}",
            config.address, config.port
        )
    })?;
    let tls = match (&config.cert_file, &config.private_key_file) {
        (Some(cert), Some(key)) => {
            let identity = Identity {
                cert: folder.join(cert),
                key: folder.join(key),
            };
            let alpn = ["h2", "http/1.1"].map(str::to_owned);
            Some(TlsAcceptor::from(
                load_tls(&identity, &alpn).map_err(|error| error.to_string())?,
            ))
        }
        (None, None) => None,
        _ => return Err("`cert-file` and `private-key-file` belong together".to_owned()),
    };
    let (mock, streams) = (Arc::clone(mock), config.max_concurrent_streams);
    let refused = |error: io::Error| format!("the host refuses a server: {error}");
    listener.set_nonblocking(true).map_err(refused)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(refused)?;
    let serve = move || {
        runtime.block_on(async {
            // It was bound before: this fails only where no poll is left.
            if let Ok(listener) = TcpListener::from_std(listener) {
                let stopping = Arc::clone(&mock);
                tokio::spawn(accept(listener, tls, streams, mock));
                stopping.stop.notified().await;
            }
        });
    };
    let started = thread::Builder::new().name("mock".to_owned()).spawn(serve);
    started.map_err(refused)
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, streams: u32, mock: Arc<Mock>) {
    let places = Arc::new(Semaphore::new(MOST_CLIENTS));
    // Nobody closes it.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Small answers are not held back.
        let _ = socket.set_nodelay(true);
        let (tls, mock) = (tls.clone(), Arc::clone(&mock));
        tokio::spawn(async move {
            match tls {
                None => serve(socket, streams, mock).await,
                Some(tls) => {
                    if let Ok(session) = tls.accept(socket).await {
                        serve(session, streams, mock).await;
                    }
                }
            }
            drop(place);
        });
    }
}

async fn serve(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    streams: u32,
    mock: Arc<Mock>,
) {
    let mut http = Builder::new(TokioExecutor::new());
    http.http2().max_concurrent_streams(streams);
    let service = service_fn(move |request| {
        let mock = Arc::clone(&mock);
        async move { answer(request, &mock).await }
    });
    // A client may leave at any time.
    let _ = http.serve_connection(TokioIo::new(socket), service).await;
}

async fn answer(request: Request<Incoming>, mock: &Mock) -> Result<Response<Whole>, Infallible> {
    let (head, incoming) = request.into_parts();
    let body = match whole(incoming, &mock.budget).await {
        Ok(body) => body,
        Err(response) => return Ok(response),
    };
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let host = head.headers.get("host").map(HeaderValue::as_bytes);
    let authority = head
        .uri
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    let pseudo: [(&[u8], &[u8]); 3] = [
        (b":method", head.method.as_str().as_bytes()),
        (b":path", target.as_bytes()),
        (b":authority", authority.or(host).unwrap_or_default()),
    ];
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
    let scheme = head.uri.scheme_str().unwrap_or("http");
    let all = pseudo
        .into_iter()
        .chain([(b":scheme".as_slice(), scheme.as_bytes())])
        .chain(headers.filter(|(name, _)| *name != b"host"));
    let fields: Fields = all
        .map(|(name, value)| (name.into(), value.to_vec()))
        .collect();
    let asked = Asked { fields, body };
    let Some(rule) = mock.rules.iter().find(|rule| rule.is_of(&asked)) else {
        return Ok(plain(
            StatusCode::NOT_FOUND,
            "no request of the file is like this\n",
        ));
    };
    if let Some(handler) = mock.handler(rule) {
        return Ok(ask(handler, asked).await);
    }
    match rule.response().map(|response| response.make(&asked)) {
        None => Ok(plain(
            StatusCode::NOT_FOUND,
            "the request has no response\n",
        )),
        Some(Some(reply)) => Ok(response(reply)),
        // The client waits until it gives up.
        Some(None) => std::future::pending().await,
    }
}

/// The body of a request, or what is wrong with it.
async fn whole(mut incoming: Incoming, budget: &Arc<Budget>) -> Result<Buffer, Response<Whole>> {
    let mut body = Buffer::default();
    while let Some(frame) = incoming.frame().await {
        let Ok(frame) = frame else {
            return Err(plain(StatusCode::BAD_REQUEST, "the body is cut\n"));
        };
        let data = frame.into_data().unwrap_or_default();
        if body.len() + data.len() > MOST_BODY {
            let words = "the body is too long\n";
            return Err(plain(StatusCode::PAYLOAD_TOO_LARGE, words));
        }
        if body.extend(&data, MOST_BODY, budget).is_err() {
            let words = "bodies take all of `--max-memory`\n";
            return Err(plain(StatusCode::SERVICE_UNAVAILABLE, words));
        }
    }
    Ok(body)
}

/// Lets a function of the program answer.
async fn ask(handler: Handler, asked: Asked) -> Response<Whole> {
    let (sender, reply) = oneshot::channel();
    let request = Received {
        fields: asked.fields,
        body: asked.body,
        address: Address::new(sender),
    };
    let mail = Mail::Request(handler.function, Box::new(request));
    match handler.postbox.send(mail) {
        true => match reply.await {
            Ok(reply) => response(reply),
            Err(_) => plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the program sent no response\n",
            ),
        },
        false => plain(StatusCode::SERVICE_UNAVAILABLE, "the program is over\n"),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Whole> {
    let mut response = Response::new(Whole::new(Bytes::from_static(text.as_bytes()), None));
    *response.status_mut() = status;
    response
}

fn response(reply: Reply) -> Response<Whole> {
    let trailers = (!reply.trailers.is_empty()).then(|| map(&reply.trailers));
    let mut response = Response::new(Whole::new(reply.body.into(), trailers));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    *response.headers_mut() = map(&reply.fields);
    response
}

fn map(fields: &Fields) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            map.append(name, value);
        }
    }
    map
}

/// A body that is there at once, and trailers behind it.
struct Whole {
    data: Option<Bytes>,
    trailers: Option<HeaderMap>,
}

impl Whole {
    fn new(data: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self {
            data: (!data.is_empty()).then_some(data),
            trailers,
        }
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = self.data.take().map(Frame::data);
        let frame = data.or_else(|| self.trailers.take().map(Frame::trailers));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && self.trailers.is_none()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match &self.trailers {
            Some(_) => hyper::body::SizeHint::default(),
            None => {
                hyper::body::SizeHint::with_exact(self.data.as_ref().map_or(0, Bytes::len) as u64)
            }
        }
    }
}
