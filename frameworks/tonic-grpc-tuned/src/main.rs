//! Answers benchmark.BenchmarkService: in clear text (h2c) on port 8080 and over TLS on
//! port 8443. One thread accepts connections and deals them to one worker per CPU.

mod service;
mod worker;

use std::net::{Ipv6Addr, SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Duration;
use std::{env, fs, io};

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::time::{sleep, timeout};
use tonic::transport::{Identity, Server, ServerTlsConfig};

use worker::Worker;

/// Calls still open this long after SIGTERM are broken off.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// How long to wait when no connection can be accepted, as when all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tonic-grpc-tuned: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
#[tokio::main(flavor = "current_thread")]
async fn run() -> anyhow::Result<()> {
    let h2c_server = Server::builder();
    let tls_server = with_tls(Server::builder())?;
    let h2c_listener = listen(port("PORT_H2C", "8080")?)?;
    let tls_listener = listen(port("PORT_TLS", "8443")?)?;

    // Nothing is ever sent: `recv` returns when the last worker has dropped its end.
    let (running, mut all_ended) = mpsc::channel::<()>(1);
    let workers: Vec<Worker> = (0..available_parallelism()?.get())
        .map(|_| Worker::start(h2c_server.clone(), tls_server.clone(), running.clone()))
        .collect();
    drop(running);

    let h2c_workers = workers.iter().map(|worker| &worker.h2c).collect();
    let tls_workers = workers.iter().map(|worker| &worker.tls).collect();
    tokio::select! {
        () = deal(h2c_listener, h2c_workers) => {}
        () = deal(tls_listener, tls_workers) => {}
        () = stop_signal() => {}
    }
    let _ = timeout(STOP_GRACE, all_ended.recv()).await;
    Ok(())
}

fn with_tls(server: Server) -> anyhow::Result<Server> {
    let chain = variable("TLS_CERT", "/certs/server.crt");
    let key = variable("TLS_KEY", "/certs/server.key");
    let read = |path| fs::read(path).with_context(|| format!("cannot read {path}"));
    let identity = Identity::from_pem(read(&chain)?, read(&key)?);
    server
        .tls_config(ServerTlsConfig::new().identity(identity))
        .with_context(|| format!("cannot use the certificate {chain} with the key {key}"))
}

/// Listens on every address, IPv4 and IPv6.
fn listen(port: u16) -> anyhow::Result<TcpListener> {
    let listener = StdListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))
        .with_context(|| format!("cannot listen on port {port}"))?;
    listener.set_nonblocking(true)?;
    Ok(TcpListener::from_std(listener)?)
}

/// Gives each connection to the next worker in turn, so that none has two more than another.
async fn deal(listener: TcpListener, workers: Vec<&UnboundedSender<StdStream>>) {
    for worker in workers.iter().cycle() {
        let connection = loop {
            match accept(&listener).await {
                Ok(connection) => break connection,
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        };
        if worker.send(connection).is_err() {
            return;
        }
    }
}

/// Returns the connection free of this thread's event loop, so that a worker's can take it.
async fn accept(listener: &TcpListener) -> io::Result<StdStream> {
    let (connection, _) = listener.accept().await?;
    connection.set_nodelay(true)?;
    connection.into_std()
}

fn port(name: &str, fallback: &str) -> anyhow::Result<u16> {
    let port = variable(name, fallback);
    port.parse()
        .with_context(|| format!("{name}: `{port}` is no port"))
}

fn variable(name: &str, fallback: &str) -> String {
    env::var(name).unwrap_or_else(|_| fallback.to_owned())
}

async fn stop_signal() {
    let listen = |kind| signal(kind).expect("tokio can listen for signals");
    let mut terminate = listen(SignalKind::terminate());
    let mut interrupt = listen(SignalKind::interrupt());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
