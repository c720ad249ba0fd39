use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::thread;

use super::*;
use volley_http::http2::frame::{Kind, flag, write_settings, write_whole};
use volley_serve::{Config, Identity, Reference};
use volley_testkit::scratch::{Certificate, Scratch};
use volley_testkit::scripted;
use volley_testkit::texts::begins;

fn target(host: impl ToString) -> TargetSpec {
    TargetSpec {
        host: host.to_string(),
        insecure: true,
        ..TargetSpec::default()
    }
}

/// Connects, and waits for the server's SETTINGS.
fn connect(spec: &TargetSpec, proxies: &Proxies) -> Result<Caller, LoadError> {
    let signal = Arc::new(AtomicBool::new(false));
    Caller::connect_by(
        spec,
        proxies,
        &Arc::default(),
        &signal,
        Instant::now() + spec.connect_timeout,
    )
}

fn dial(spec: &TargetSpec) -> Result<Caller, LoadError> {
    connect(spec, &Proxies::default())
}

/// A certificate for localhost, in a folder.
fn identity() -> (Identity, Scratch) {
    let scratch = Scratch::new();
    let Certificate { cert, key, .. } = scratch.certificate("localhost");
    (Identity { cert, key }, scratch)
}

#[test]
fn a_socket_leads_to_the_first_address_that_works() {
    let server = Reference::start(Config::default()).unwrap();
    let closed = scripted::nobody();
    dial(&target(format!("{closed},{}", server.address()))).unwrap();
    let error = dial(&target(closed)).err().unwrap().to_string();
    begins(&error, &format!("cannot connect to {closed}: "));
}

#[test]
fn an_address_that_is_silent_has_only_its_share_of_the_time() {
    let (identity, _scratch) = identity();
    let server = Reference::start(Config {
        tls: Some(identity.clone()),
        ..Config::default()
    })
    .unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = target(format!(
        "{},{}",
        silent.local_addr().unwrap(),
        server.address()
    ));
    spec.insecure = false;
    spec.tls.cacert = Some(identity.cert);
    spec.tls.cname = Some("localhost".to_owned());
    spec.connect_timeout = Duration::from_secs(4);
    dial(&spec).unwrap();
}

#[test]
fn a_unix_socket_is_dialed_under_tls_as_localhost() {
    let (identity, _scratch) = identity();
    let server = Reference::start(Config {
        unix: Some(format!("\0volley-dial-{}", std::process::id()).into()),
        tls: Some(identity.clone()),
        ..Config::default()
    })
    .unwrap();
    let mut spec = target(&server);
    spec.insecure = false;
    spec.tls.cacert = Some(identity.cert);
    dial(&spec).unwrap();
}

#[test]
fn what_a_server_says_first_is_not_lost_behind_a_proxy() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let asked = thread::spawn(move || {
        let (mut socket, _) = proxy.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let mut answer = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        write_settings(&mut answer, &[]);
        socket.write_all(&answer).unwrap();
        // The client must hang up.
        io::copy(&mut socket, &mut io::sink()).unwrap();
        String::from_utf8(head).unwrap()
    });
    let proxies = Proxies::new(|name| (name == "https_proxy").then(|| address.to_string()));
    connect(&target("a.test:80"), &proxies).unwrap();
    begins(&asked.join().unwrap(), "CONNECT a.test:80 HTTP/1.1\r\n");
}

#[test]
fn an_answer_counts_whatever_comes_after_it() {
    let spec = target(scripted::serve(|_| {
        |header, peer| {
            if header.kind != Kind::Headers {
                return true;
            }
            let fields = [
                (":status", "200"),
                ("content-type", "Application/gRPC"),
                ("grpc-status", "5 "),
                ("grpc-message", "gone%21 "),
            ];
            peer.headers(1, &fields, true);
            // No server may push.
            let promise = [0, 0, 0, 2, 0x88];
            write_whole(
                &mut peer.out,
                Kind::PushPromise,
                flag::END_HEADERS,
                1,
                &promise,
            );
            false
        }
    }));
    let until = Instant::now() + spec.connect_timeout;
    let mut caller = dial(&spec).unwrap();
    let replies = Wanted::anything(1000);
    caller.begin(&Arc::default(), &[], replies).unwrap();
    let Ok((Event::Ended { trailers, status }, _)) = caller.next(until) else {
        panic!()
    };
    assert_eq!(status, Status::new(Code::NotFound, "gone!"));
    let text = ("grpc-message".to_owned(), b"gone!".to_vec());
    assert!(trailers.contains(&text), "{trailers:?}");
    assert!(matches!(caller.next(until), Err(Lost::Broken(_))));
}
