//! Answers benchmark.BenchmarkService: in clear text (h2c) on port 8080 and over TLS on
//! port 8443.

mod service;

use std::net::{Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tonic::transport::{Identity, Server, ServerTlsConfig};

use service::{BenchmarkServiceServer, Sums};

/// What server reflection describes, from build.rs.
const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// Calls still open this long after SIGTERM are broken off.
const STOP_GRACE: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tonic-grpc: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
async fn run() -> anyhow::Result<()> {
    let h2c = serve(Server::builder(), port("PORT_H2C", "8080")?);
    let tls = serve(with_tls(Server::builder())?, port("PORT_TLS", "8443")?);
    tokio::select! {
        ended = async { tokio::try_join!(h2c, tls) } => ended.map(drop),
        () = grace_is_over() => Ok(()),
    }
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

/// Takes no more connections after a stop signal, and returns when the open ones are done.
async fn serve(mut server: Server, port: u16) -> anyhow::Result<()> {
    let every_address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    // The whole server is healthy from its start.
    let (_, health) = tonic_health::server::health_reporter();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .context("cannot offer reflection")?;
    server
        .add_service(BenchmarkServiceServer::new(Sums))
        .add_service(health)
        .add_service(reflection)
        .serve_with_shutdown(every_address, stop_signal())
        .await
        .with_context(|| format!("cannot serve on port {port}"))
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

async fn grace_is_over() {
    stop_signal().await;
    tokio::time::sleep(STOP_GRACE).await;
}
