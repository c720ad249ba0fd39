//! tonic with its own health and reflection services, and nothing else. Tests call it without a .proto file.
//!
//! It prints where it listens, `{"listen": "127.0.0.1:40123"}`. SIGTERM ends it.

use std::error::Error;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_reflection::server::Builder;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter
        .set_service_status("", ServingStatus::Serving)
        .await;
    let known = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let mut ends = signal(SignalKind::terminate())?;
    println!("{{\"listen\": \"{}\"}}", listener.local_addr()?);
    Server::builder()
        .add_service(health)
        .add_service(known().build_v1()?)
        .add_service(known().build_v1alpha()?)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
            ends.recv().await;
        })
        .await?;
    Ok(())
}
