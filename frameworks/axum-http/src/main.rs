//! Serves items (requests/crud.openapi.yaml): HTTP/1.1 and h2c on one port, HTTP/1.1 and HTTP/2 over TLS
//! on another.

mod items;

use std::env;
use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use axum_server::{Handle, from_tcp};
use rustls::crypto::ring;
use tokio::signal::unix::{SignalKind, signal};

/// Requests still open this long after SIGTERM are broken off.
const STOP_GRACE: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("axum-http: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until SIGTERM or SIGINT, which end it without an error.
async fn run() -> anyhow::Result<()> {
    // An error: another one is installed already, which is fine.
    let _ = ring::default_provider().install_default();
    let chain = variable("TLS_CERT", "/certs/server.crt");
    let key = variable("TLS_KEY", "/certs/server.key");
    let certificate = RustlsConfig::from_pem_file(&chain, &key)
        .await
        .with_context(|| format!("cannot load the certificate {chain} with the key {key}"))?;
    let clear_text = listen(&variable("PORT_H2C", "8080"))?;
    let encrypted = listen(&variable("PORT_TLS", "8443"))?;

    let app = items::router().into_make_service();
    let handle = Handle::new();
    tokio::spawn({
        let handle = handle.clone();
        async move {
            stop_signal().await;
            handle.graceful_shutdown(Some(STOP_GRACE));
        }
    });
    let no_delay = NoDelayAcceptor::new();
    let plain = from_tcp(clear_text)?.acceptor(no_delay);
    let tls = from_tcp(encrypted)?.acceptor(RustlsAcceptor::new(certificate).acceptor(no_delay));
    tokio::try_join!(
        plain.handle(handle.clone()).serve(app.clone()),
        tls.handle(handle).serve(app),
    )?;
    Ok(())
}

fn listen(port: &str) -> anyhow::Result<TcpListener> {
    let port: u16 = port
        .parse()
        .with_context(|| format!("`{port}` is no port"))?;
    let every_address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let listener = TcpListener::bind(every_address)
        .with_context(|| format!("cannot listen on port {port}"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
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

fn variable(name: &str, fallback: &str) -> String {
    env::var(name).unwrap_or_else(|_| fallback.to_owned())
}
