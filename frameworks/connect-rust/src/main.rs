//! Answers benchmark.BenchmarkService: in clear text (h2c) on port 8080 and over TLS on
//! port 8443.

mod service;

use std::env;
use std::net::{Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use connectrpc::{BoundServer, Router, Server};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::signal::unix::{SignalKind, signal};

use service::Sums;

/// Calls still open this long after SIGTERM are broken off.
const STOP_GRACE: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("connect-rust: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
async fn run() -> anyhow::Result<()> {
    let tls_config = Arc::new(tls_config()?);
    let h2c = serve(bind("PORT_H2C", "8080").await?);
    let tls = serve(bind("PORT_TLS", "8443").await?.with_tls(tls_config));
    tokio::select! {
        ended = async { tokio::try_join!(h2c, tls) } => ended.map(drop),
        () = grace_is_over() => Ok(()),
    }
}

fn tls_config() -> anyhow::Result<ServerConfig> {
    let chain = variable("TLS_CERT", "/certs/server.crt");
    let key = variable("TLS_KEY", "/certs/server.key");
    let certificates = CertificateDer::pem_file_iter(&chain)
        .and_then(Iterator::collect)
        .with_context(|| format!("cannot read {chain}"))?;
    let private_key =
        PrivateKeyDer::from_pem_file(&key).with_context(|| format!("cannot read {key}"))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, private_key)
        .with_context(|| format!("cannot use the certificate {chain} with the key {key}"))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Listens on every address, IPv4 and IPv6.
async fn bind(name: &str, fallback: &str) -> anyhow::Result<BoundServer> {
    let port = variable(name, fallback);
    let port = port
        .parse()
        .with_context(|| format!("{name}: `{port}` is no port"))?;
    Server::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))
        .await
        .map_err(anyhow::Error::from_boxed)
        .with_context(|| format!("cannot listen on port {port}"))
}

/// Takes no more connections after a stop signal, and returns when the open ones are done.
async fn serve(server: BoundServer) -> anyhow::Result<()> {
    let router = Router::new().add_service(Arc::new(Sums));
    server
        .serve_with_graceful_shutdown(router, stop_signal())
        .await
        .map_err(anyhow::Error::from_boxed)
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
