//! A server on the `h2` crate whose answers a test chooses, message by message.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread;

use bytes::{BufMut, Bytes, BytesMut};
use h2::server::{self, SendResponse};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::net::{TcpListener, TcpStream};
use volley::protobuf::reflection::{Answer, Question};

/// What the server does with a message.
pub enum Does {
    Reply(Vec<u8>),
    /// As many as it takes, one after another.
    Replies(Vec<Vec<u8>>),
    /// Ends the call with this status.
    End(u32),
    Nothing,
}

impl From<Answer> for Does {
    fn from(answer: Answer) -> Self {
        Self::Reply(answer.encode())
    }
}

/// Serves until the test program ends. `answer` gets a call's path, its headers, and one message.
pub fn peer(answer: impl Fn(&str, &HeaderMap, &[u8]) -> Does + Send + Sync + 'static) -> String {
    let answer = Arc::new(answer);
    let (tell, told) = mpsc::channel::<SocketAddr>();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                // A client that hangs up ends its connection, and nothing else.
                let answer = Arc::clone(&answer);
                tokio::spawn(async { drop(serve(socket, answer).await) });
            }
        });
    });
    told.recv().unwrap().to_string()
}

/// The same for reflection of one version; other calls are unknown to it.
pub fn reflecting(
    version: &'static str,
    answer: impl Fn(&HeaderMap, Question) -> Does + Send + Sync + 'static,
) -> String {
    peer(move |path, headers, message| {
        if path != format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo") {
            return Does::End(12);
        }
        answer(headers, Question::decode(message).unwrap().unwrap())
    })
}

type Answers = dyn Fn(&str, &HeaderMap, &[u8]) -> Does + Send + Sync;

async fn serve(socket: TcpStream, answer: Arc<Answers>) -> Result<(), h2::Error> {
    let mut connection = server::handshake(socket).await?;
    while let Some(call) = connection.accept().await {
        let (request, respond) = call?;
        let answer = Arc::clone(&answer);
        tokio::spawn(async move { drop(converse(request, respond, &*answer).await) });
    }
    Ok(())
}

async fn converse(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    answer: &Answers,
) -> Result<(), h2::Error> {
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    let head = Response::builder().header("content-type", "application/grpc");
    let mut stream = respond.send_response(head.body(()).unwrap(), false)?;
    let mut body = request.into_body();
    let mut bytes = BytesMut::new();
    while let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        bytes.extend_from_slice(&data);
        while let Some(prefix) = bytes.first_chunk::<5>() {
            let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
            if bytes.len() < 5 + length {
                break;
            }
            let message = bytes.split_to(5 + length);
            match answer(&path, &headers, &message[5..]) {
                Does::Reply(reply) => send(&mut stream, &[reply]).await?,
                Does::Replies(replies) => send(&mut stream, &replies).await?,
                Does::End(code) => return end(&mut stream, code),
                Does::Nothing => {}
            }
        }
    }
    end(&mut stream, 0)
}

/// Sends as the client's windows allow: messages are cut wherever a window ends.
async fn send(stream: &mut SendStream<Bytes>, messages: &[Vec<u8>]) -> Result<(), h2::Error> {
    let mut framed = BytesMut::new();
    for message in messages {
        framed.put_u8(0);
        framed.put_u32(message.len().try_into().unwrap());
        framed.put_slice(message);
    }
    let mut bytes = framed.freeze();
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let Some(capacity) = poll_fn(|context| stream.poll_capacity(context)).await else {
            return Ok(());
        };
        let some = bytes.split_to(capacity?.min(bytes.len()));
        stream.send_data(some, false)?;
    }
    Ok(())
}

fn end(stream: &mut SendStream<Bytes>, code: u32) -> Result<(), h2::Error> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(code));
    stream.send_trailers(trailers)
}
