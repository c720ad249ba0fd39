//! An independent client for the reference server: the `h2` crate, on one thread.

use std::future::Future;
use std::net::SocketAddr;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::{self, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Method, Request};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use volley::serve::{Config, Reference};

/// The contents of an answer.
#[derive(Debug, Default)]
pub struct Answer {
    /// The `result` of each reply, in order.
    pub results: Vec<i32>,
    /// Bytes of DATA frames after the last whole message.
    pub rest: usize,
    /// `grpc-status`, from the trailers or from the headers.
    pub status: Option<String>,
    pub message: Option<String>,
}

/// Runs a test against its own server.
pub fn with_server<F: Future<Output = ()>>(config: Config, test: impl FnOnce(Reference) -> F) {
    let server = Reference::start(config).expect("a server");
    block_on(test(server));
}

pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

/// A connection with the given windows, in bytes.
pub async fn connect(
    address: SocketAddr,
    stream_window: u32,
    connection_window: u32,
) -> SendRequest<Bytes> {
    connect_to_the_end(address, stream_window, connection_window)
        .await
        .0
}

/// A connection, and a task that ends with it.
pub async fn connect_to_the_end(
    address: SocketAddr,
    stream_window: u32,
    connection_window: u32,
) -> (SendRequest<Bytes>, JoinHandle<Result<(), h2::Error>>) {
    let tcp = TcpStream::connect(address).await.expect("a connection");
    let (sender, connection) = client::Builder::new()
        .initial_window_size(stream_window)
        .initial_connection_window_size(connection_window)
        // By default, h2 considers a hundred small unread frames an attack.
        .data_frame_budget(usize::MAX)
        .handshake(tcp)
        .await
        .expect("a handshake");
    (sender, tokio::spawn(connection))
}

/// Starts a call.
pub async fn begin(
    sender: &SendRequest<Bytes>,
    method: &str,
) -> (ResponseFuture, SendStream<Bytes>) {
    let request = Request::builder()
        .method(Method::POST)
        .uri(format!(
            "http://localhost/benchmark.BenchmarkService/{method}"
        ))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .expect("a request");
    let mut sender = sender.clone().ready().await.expect("room for a stream");
    sender
        .send_request(request, false)
        .expect("an open connection")
}

/// A whole call with these request messages.
pub async fn call(
    sender: &SendRequest<Bytes>,
    method: &str,
    messages: &[Bytes],
) -> Result<Answer, h2::Error> {
    let (response, mut request) = begin(sender, method).await;
    request.send_data(messages.concat().into(), true)?;
    answer(response).await
}

/// A whole call that is answered.
pub async fn answered(sender: &SendRequest<Bytes>, method: &str, messages: &[Bytes]) -> Answer {
    call(sender, method, messages).await.expect("an answer")
}

/// Sends a message of a call.
pub fn send(request: &mut SendStream<Bytes>, message: Bytes, is_last: bool) {
    let sent = request.send_data(message, is_last);
    sent.expect("an open stream");
}

pub async fn answer(response: ResponseFuture) -> Result<Answer, h2::Error> {
    let response = response.await?;
    let headers = response.headers().clone();
    let (bytes, trailers) = read_all(response.into_body()).await?;
    let trailers = trailers.unwrap_or(headers);
    let field = |name| {
        trailers
            .get(name)
            .map(|value| value.to_str().expect("text").to_owned())
    };
    let mut answer = Answer {
        status: field("grpc-status"),
        message: field("grpc-message"),
        ..Answer::default()
    };
    let mut rest = &bytes[..];
    while let Some((prefix, after)) = rest.split_first_chunk::<5>() {
        let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
        let Some((message, after)) = after.split_at_checked(length) else {
            break;
        };
        answer.results.push(result(message));
        rest = after;
    }
    answer.rest = rest.len();
    Ok(answer)
}

/// The body (returning the window frame by frame), and the trailers.
async fn read_all(mut body: RecvStream) -> Result<(Vec<u8>, Option<HeaderMap>), h2::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.data().await {
        let frame = frame?;
        body.flow_control().release_capacity(frame.len())?;
        bytes.extend_from_slice(&frame);
    }
    Ok((bytes, body.trailers().await?))
}

/// `SumReply.result` of a message that has no other field.
pub fn result(message: &[u8]) -> i32 {
    let Some((&tag, varint)) = message.split_first() else {
        return 0;
    };
    assert_eq!(tag, 8);
    let bits = varint
        .iter()
        .rev()
        .fold(0u64, |bits, byte| bits << 7 | u64::from(byte & 0x7f));
    bits as i32
}

/// A request message with its prefix; fields of 0 are left out.
pub fn message(a: i32, b: i32, count: i32) -> Bytes {
    let mut fields = BytesMut::new();
    for (tag, value) in [(0x08, a), (0x10, b), (0x18, count)] {
        if value != 0 {
            fields.put_u8(tag);
            let mut bits = i64::from(value) as u64;
            while bits >= 0x80 {
                fields.put_u8(bits as u8 | 0x80);
                bits >>= 7;
            }
            fields.put_u8(bits as u8);
        }
    }
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(fields.len() as u32);
    framed.put(fields);
    framed.freeze()
}
