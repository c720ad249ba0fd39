//! volley against a server on the `h2` crate: an independent HTTP/2 implementation.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use bytes::{BufMut, Bytes, BytesMut};
use h2::server::{self, SendResponse};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::net::{TcpListener, TcpStream};

use crate::common::Volley;

/// Replies to a call of `StreamSum`; any other method has one.
const REPLIES: u32 = 3000;

/// Serves any number of connections from now on, until the test program ends.
fn h2_server() -> SocketAddr {
    let (tell, told) = mpsc::channel();
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
                tokio::spawn(async { drop(serve(socket).await) });
            }
        });
    });
    told.recv().unwrap()
}

async fn serve(socket: TcpStream) -> Result<(), h2::Error> {
    let mut connection = server::handshake(socket).await?;
    while let Some(call) = connection.accept().await {
        let (request, respond) = call?;
        tokio::spawn(async move { drop(answer(request, respond).await) });
    }
    Ok(())
}

/// Answers as if a + b were 3, whatever was sent.
async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let replies = if request.uri().path().ends_with("/StreamSum") {
        REPLIES
    } else {
        1
    };
    let mut body = request.into_body();
    while let Some(data) = body.data().await {
        let _ = body.flow_control().release_capacity(data?.len());
    }
    let head = Response::builder().header("content-type", "application/grpc");
    let mut stream = respond.send_response(head.body(()).unwrap(), false)?;
    let mut messages = BytesMut::new();
    for i in 0..replies {
        put_reply(&mut messages, 3 + i);
    }
    send(&mut stream, messages.freeze()).await?;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    stream.send_trailers(trailers)
}

/// A length-prefixed SumReply.
fn put_reply(out: &mut BytesMut, mut result: u32) {
    let mut message = vec![0x08];
    while result >= 0x80 {
        message.push(0x80 | (result & 0x7f) as u8);
        result >>= 7;
    }
    message.push(result as u8);
    out.put_u8(0);
    out.put_u32(message.len() as u32);
    out.put_slice(&message);
}

/// Sends as the client's windows allow: messages are cut wherever a window ends.
async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes) -> Result<(), h2::Error> {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let Some(capacity) = std::future::poll_fn(|context| stream.poll_capacity(context)).await
        else {
            return Ok(());
        };
        let some = bytes.split_to(capacity?.min(bytes.len()));
        stream.send_data(some, false)?;
    }
    Ok(())
}

#[test]
fn unary_calls_and_streams_of_the_h2_crate_are_read_to_the_last_message() {
    let address = h2_server();
    let unary = Volley::call("GetSum")
        .data(r#"{"a": 1, "b": 2}"#)
        .expect("result = a + b")
        .flags("-n 300 -c 12 --connections 3")
        .report(address);
    assert_eq!(unary.all_ok(), 300);
    let streams = Volley::call("StreamSum")
        .data(r#"{"a": 1, "b": 2, "count": 3000}"#)
        .expect("result = a + b + i")
        .flags("--expect-replies 3000 -n 20 -c 6 --connections 2")
        .report(address);
    assert_eq!(streams.all_ok(), 20);
    assert_eq!(streams.messages(), 20 * u64::from(REPLIES));
}
