use std::net::TcpStream as StdStream;
use std::thread;

use tokio::net::TcpStream;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::Server;

use crate::service::{BenchmarkServiceServer, Sums};
use crate::stop_signal;

/// A thread with an event loop of its own. It keeps the connections it is sent: no call is ever
/// handed from one thread to another, which costs more than the call itself.
pub struct Worker {
    pub h2c: UnboundedSender<StdStream>,
    pub tls: UnboundedSender<StdStream>,
}

impl Worker {
    /// `running` is dropped when the worker has ended.
    pub fn start(h2c_server: Server, tls_server: Server, running: Sender<()>) -> Self {
        let (h2c, h2c_connections) = unbounded_channel();
        let (tls, tls_connections) = unbounded_channel();
        thread::spawn(move || {
            work(h2c_server, h2c_connections, tls_server, tls_connections);
            drop(running);
        });
        Self { h2c, tls }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn work(
    h2c_server: Server,
    h2c_connections: UnboundedReceiver<StdStream>,
    tls_server: Server,
    tls_connections: UnboundedReceiver<StdStream>,
) {
    tokio::join!(
        serve(h2c_server, h2c_connections),
        serve(tls_server, tls_connections),
    );
}

/// Takes no more connections after a stop signal, and returns when the open ones are done.
async fn serve(server: Server, connections: UnboundedReceiver<StdStream>) {
    let connections = UnboundedReceiverStream::new(connections).map(TcpStream::from_std);
    // The service itself, without the router that finds one service among many.
    let service = BenchmarkServiceServer::new(Sums);
    server
        .serve_with_incoming_shutdown(service, connections, stop_signal())
        .await
        .expect("only binding a port can fail, and it is bound");
}
