//! Answers benchmark.BenchmarkService: in clear text (h2c) on port 8080 and over TLS on
//! port 8443.

mod service;

use std::env;
use std::net::{Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use volo::net::incoming::DefaultIncoming;
use volo::net::tls::ServerTlsConfig;
use volo_grpc::server::{Server, ServiceBuilder};

use service::{BenchmarkServiceServer, Sums};

/// Calls still open this long after SIGTERM are broken off.
const STOP_GRACE: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("volo-grpc: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
async fn run() -> anyhow::Result<()> {
    let h2c = serve(Server::new(), listen("PORT_H2C", "8080").await?);
    let tls = serve(
        Server::new().tls_config(tls_config()?),
        listen("PORT_TLS", "8443").await?,
    );
    tokio::select! {
        ended = async { tokio::try_join!(h2c, tls) } => ended.map(drop),
        () = grace_is_over() => Ok(()),
    }
}

/// Is made by rustls: `ServerTlsConfig::from_pem_file` offers no protocol by ALPN.
fn tls_config() -> anyhow::Result<ServerTlsConfig> {
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
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(ServerTlsConfig {
        acceptor: config.into(),
    })
}

/// Listens on every address, IPv4 and IPv6.
async fn listen(name: &str, fallback: &str) -> anyhow::Result<TcpListener> {
    let port = variable(name, fallback);
    let port = port
        .parse()
        .with_context(|| format!("{name}: `{port}` is no port"))?;
    TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))
        .await
        .with_context(|| format!("cannot listen on port {port}"))
}

/// Takes no more connections after a stop signal, and returns when the open ones are done.
async fn serve(server: Server, listener: TcpListener) -> anyhow::Result<()> {
    server
        .add_service(ServiceBuilder::new(BenchmarkServiceServer::new(Sums)).build())
        .run_with_shutdown(DefaultIncoming::from(listener), async {
            stop_signal().await;
            Ok(())
        })
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
