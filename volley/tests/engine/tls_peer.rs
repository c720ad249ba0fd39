//! TLS with a server that breaks its rules.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use volley::http2::frame::{self, FrameHeader, HEADER_LEN, Kind};

use crate::common::shape::UNARY;
use crate::common::{Volley, scripted};

/// The test's own server, with an untrusted certificate.
fn server_config() -> Arc<ServerConfig> {
    let keys = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()])
        .and_then(|params| params.self_signed(&keys))
        .unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(keys.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

/// Takes a connection's first call, sends close_notify, and continues to send.
fn talk_after_goodbye(mut socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<()> {
    let mut words = goodbye_to_first_call(&mut socket, config)?;
    // More than a TLS library takes in one go.
    words.extend_from_slice(&[0x17; 20_000]);
    socket.write_all(&words)
}

/// Takes a connection's first call, sends close_notify, and leaves the socket open.
fn stay_after_goodbye(mut socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<()> {
    let words = goodbye_to_first_call(&mut socket, config)?;
    socket.write_all(&words)?;
    io::copy(&mut socket, &mut io::sink())?;
    Ok(())
}

/// Takes a connection's first call. Returns the bytes of a close_notify.
fn goodbye_to_first_call(socket: &mut TcpStream, config: Arc<ServerConfig>) -> io::Result<Vec<u8>> {
    let mut tls = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = Stream::new(&mut tls, socket);
    let mut hello = Vec::new();
    frame::write_settings(&mut hello, &[]);
    stream.write_all(&hello)?;
    stream.read_exact(&mut [0; frame::PREFACE.len()])?;
    loop {
        let mut header = [0; HEADER_LEN];
        stream.read_exact(&mut header)?;
        let header = FrameHeader::parse(&header);
        stream.read_exact(&mut vec![0; header.length as usize])?;
        if header.kind == Kind::Data {
            break;
        }
    }
    tls.send_close_notify();
    let mut words = Vec::new();
    tls.write_tls(&mut words)?;
    Ok(words)
}

/// A server that talks like this on every connection.
fn peer(
    config: Arc<ServerConfig>,
    talk: fn(TcpStream, Arc<ServerConfig>) -> io::Result<()>,
) -> SocketAddr {
    scripted::accept(move |_| {
        let config = Arc::clone(&config);
        move |socket| talk(socket, config)
    })
}

#[test]
fn what_a_server_says_after_its_goodbye_is_not_waited_for() {
    let address = peer(server_config(), talk_after_goodbye);
    let report = Volley::secure(UNARY.method)
        .flags("--skipTLS -n 3 -c 1")
        .report(address);
    assert_eq!(report.all_failed("Unavailable"), 3);
}

#[test]
fn a_server_that_ends_tls_and_keeps_the_socket_is_not_waited_for() {
    let address = peer(server_config(), stay_after_goodbye);
    let report = Volley::secure(UNARY.method)
        .flags("--skipTLS -n 3 -c 1 -t 10m")
        .report(address);
    assert_eq!(report.all_failed("Unavailable"), 3);
}
