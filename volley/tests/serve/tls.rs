//! The reference server with TLS, against a client that uses only rustls.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use volley::grpc::Splitter;
use volley::http2::frame::{
    FrameHeader, HEADER_LEN, Kind, PREFACE, flag, write_data, write_headers, write_settings,
    write_window_update,
};
use volley::serve::{Config, Identity, Reference, ServeError};
use volley_testkit::scratch::{Certificate, Scratch};
use volley_testkit::texts::{begins, has};

/// A certificate for localhost and its key, in their own files.
struct Pem {
    identity: Identity,
    certificate: CertificateDer<'static>,
    _scratch: Scratch,
}

impl Pem {
    fn new() -> Self {
        let scratch = Scratch::new();
        let Certificate { cert, key, der } = scratch.certificate("localhost");
        Self {
            identity: Identity { cert, key },
            certificate: der.into(),
            _scratch: scratch,
        }
    }

    fn server(&self) -> Reference {
        Reference::start(Config {
            tls: Some(self.identity.clone()),
            ..Config::default()
        })
        .expect("a server")
    }

    fn client(&self, address: SocketAddr, alpn: &str) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a certificate");
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("TLS")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![alpn.into()];
        let name = "localhost".try_into().expect("a name");
        let session = ClientConnection::new(Arc::new(config), name).expect("a session");
        StreamOwned::new(session, TcpStream::connect(address).expect("a connection"))
    }
}

/// A call of `StreamSum` with a = 1, b = 2, count = 20,000.
fn request() -> Vec<u8> {
    let block = b"\x83\x04\x25/benchmark.BenchmarkService/StreamSum\x0f\x10\x10application/grpc";
    let mut out = PREFACE.to_vec();
    write_settings(&mut out, &[(4, 1 << 24)]);
    write_window_update(&mut out, 0, 1 << 24);
    write_headers(&mut out, 1, block, false, 16_384);
    write_data(
        &mut out,
        1,
        &[0, 0, 0, 0, 8, 8, 1, 16, 2, 24, 0xa0, 0x9c, 1],
        true,
    );
    out
}

#[test]
fn a_stream_comes_whole_through_tls_and_is_counted() {
    let pem = Pem::new();
    let server = pem.server();
    let mut client = pem.client(server.address(), "h2");
    client.write_all(&request()).expect("an open connection");
    let (mut splitter, mut replies, mut last) = (Splitter::default(), 0, Vec::new());
    let budget = Arc::default();
    loop {
        let mut header = [0; HEADER_LEN];
        client.read_exact(&mut header).expect("a frame");
        let header = FrameHeader::parse(&header);
        let mut payload = vec![0; header.length as usize];
        client.read_exact(&mut payload).expect("a payload");
        if header.kind == Kind::Headers && header.has(flag::END_STREAM) {
            break;
        }
        if header.kind == Kind::Data {
            let flow = splitter.push(&payload, 16, &budget, &mut |_: bool, message: &[u8]| {
                replies += 1;
                last = message.to_vec();
                ControlFlow::<()>::Continue(())
            });
            assert_eq!(flow, Ok(ControlFlow::Continue(())));
        }
    }
    // 3 + 19,999 = 20,002
    assert_eq!((replies, last), (20_000, vec![8, 0xa2, 0x9c, 1]));
    assert_eq!(client.conn.alpn_protocol(), Some(&b"h2"[..]));
    let counts = server.counts();
    assert_eq!((counts.calls_ok, counts.messages_sent), (1, 20_000));
}

#[test]
fn a_client_that_speaks_neither_version_is_refused_in_the_handshake() {
    let pem = Pem::new();
    let server = pem.server();
    let mut client = pem.client(server.address(), "http/0.9");
    let error = client
        .write_all(&request())
        .expect_err("no protocol in common");
    has(&error.to_string(), "NoApplicationProtocol");
}

#[test]
fn a_client_of_http_1_is_answered_through_tls() {
    let pem = Pem::new();
    let server = pem.server();
    let mut client = pem.client(server.address(), "http/1.1");
    let request = "POST /v1/items HTTP/1.1\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    client
        .write_all(request.as_bytes())
        .expect("an open connection");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("a clean end");
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert_eq!(client.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert_eq!(server.counts().created, 1);
}

#[test]
fn clear_text_sent_to_a_tls_port_harms_nobody() {
    let pem = Pem::new();
    let server = pem.server();
    let mut clear = TcpStream::connect(server.address()).expect("a connection");
    clear.write_all(&request()).expect("an open connection");
    // An alert, then the end, or a reset because something was not read.
    let _ = clear.read_to_end(&mut Vec::new());
    let mut client = pem.client(server.address(), "h2");
    client.write_all(&request()).expect("an open connection");
    client.read_exact(&mut [0; HEADER_LEN]).expect("SETTINGS");
    assert_eq!(server.counts().connections, 2);
}

#[test]
fn files_that_are_no_use_are_named() {
    let pem = Pem::new();
    let good = pem.identity.clone();
    let start = |cert: PathBuf, key: PathBuf| {
        let config = Config {
            tls: Some(Identity { cert, key }),
            ..Config::default()
        };
        Reference::start(config).err().expect("no server")
    };
    let missing = start("missing.crt".into(), good.key.clone()).to_string();
    begins(&missing, "cannot use `missing.crt` for TLS: ");
    let swapped = start(good.key.clone(), good.cert.clone()).to_string();
    assert!(swapped.contains("/key.pem` for TLS: "), "{swapped}");
    let another = Pem::new();
    let unfit = start(good.cert, another.identity.key.clone());
    assert!(matches!(unfit, ServeError::Identity { .. }), "{unfit}");
}
