//! Where a target leads: its forms, several addresses, names whose addresses change, proxies.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use volley::serve::{Config, Faults, Reference};

use crate::common::shape::{ALL, UNARY};
use crate::common::{
    BlackHole, Scratch, Volley, begins, has, reference, scripted, served, settled, until,
};

/// A server on a Unix socket.
fn on_socket(path: impl Into<std::path::PathBuf>) -> Reference {
    let unix = Some(path.into());
    served(|config| config.unix = unix)
}

/// A server at 127.0.0.`last`.
fn local(last: u8, port: u16) -> io::Result<Reference> {
    let config = Config {
        address: SocketAddr::from(([127, 0, 0, last], port)),
        ..Config::default()
    };
    Reference::start(config).map_err(io::Error::other)
}

/// Servers at 127.0.0.2 and so on, all with the same port.
fn neighbours<const N: usize>() -> [Reference; N] {
    loop {
        let first = local(2, 0).unwrap();
        let port = first.address().port();
        let others = (3..).take(N - 1).map(|last| local(last, port));
        if let Ok(others) = others.collect::<Result<Vec<_>, _>>() {
            let all: Vec<_> = std::iter::once(first).chain(others).collect();
            return all.try_into().unwrap_or_else(|_| unreachable!());
        }
        // One of them was taken.
    }
}

fn list(addresses: &[SocketAddr]) -> String {
    let texts: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    texts.join(",")
}

/// Ends a run, which then reports.
fn interrupt(running: &crate::common::Running) {
    kill_process(Pid::from_raw(running.pid()).unwrap(), Signal::INT).unwrap();
}

#[test]
fn calls_over_a_unix_socket_equal_the_servers_own_counts() {
    let scratch = Scratch::new();
    let path = scratch.path("grpc.sock");
    let server = on_socket(&path);
    let load = "-n 100 -c 12 --connections 4 --threads 2";
    for shape in ALL {
        for target in [server.to_string(), format!("unix://{}", path.display())] {
            let before = server.counts();
            let report = shape.checked(load).report(target);
            assert_eq!(report.all_ok(), 100, "{shape:?}");
            let counts = settled(&server);
            assert_eq!(counts.calls_ok - before.calls_ok, 100, "{shape:?}");
            assert_eq!(counts.connections - before.connections, 4);
        }
    }
}

#[test]
fn an_abstract_socket_is_called_by_its_name() {
    let name = format!("volley-test-{}", std::process::id());
    let server = on_socket(format!("\0{name}"));
    let report = UNARY
        .checked("-n 10 -c 2")
        .report(format!("unix-abstract:{name}"));
    assert_eq!((report.all_ok(), server.counts().calls_ok), (10, 10));
}

#[test]
fn more_connections_than_a_unix_socket_queues_are_opened_all() {
    let scratch = Scratch::new();
    let path = scratch.path("slow.sock");
    let listener =
        socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
    listener
        .bind(&socket2::SockAddr::unix(&path).unwrap())
        .unwrap();
    listener.listen(1).unwrap();
    thread::spawn(move || {
        for _ in 0..50 {
            let (socket, _) = listener.accept().unwrap();
            let socket: TcpStream = socket.into();
            thread::spawn(move || {
                scripted::answer(socket, |peer, stream| {
                    peer.answer(stream, &[]);
                    true
                })
            });
        }
    });
    let report = UNARY
        .run("-n 100 -c 50 --connections 50")
        .report(format!("unix:{}", path.display()));
    assert_eq!(report.all_ok(), 100);
}

#[test]
fn a_unix_socket_that_is_not_there_is_named() {
    let finished = UNARY.run("-n 1 -c 1").run("unix:/nowhere/x");
    assert_eq!(
        finished.error(),
        "cannot connect to unix:/nowhere/x: there is no such socket (is the server running there?)"
    );
}

/// The `:authority` of the first call on a connection.
async fn authority(socket: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let mut connection = h2::server::handshake(socket).await.unwrap();
    let (request, _) = connection.accept().await.unwrap().unwrap();
    request.uri().authority().unwrap().to_string()
}

#[test]
fn the_authority_of_each_target_is_grpc_gos() {
    let scratch = Scratch::new();
    let path = scratch.path("a.sock");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (tcp, unix) = runtime.block_on(async {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (tcp, UnixListener::bind(&path).unwrap())
    });
    let port = tcp.local_addr().unwrap().port();
    let seen = |target: &str| {
        let running = UNARY.run("-n 1 -c 1").start(target);
        let authority = runtime.block_on(async {
            if target.contains("unix:") {
                authority(unix.accept().await.unwrap().0).await
            } else {
                authority(tcp.accept().await.unwrap().0).await
            }
        });
        running.wait();
        authority
    };
    for (target, authority) in [
        (format!("127.0.0.1:{port}"), format!("127.0.0.1:{port}")),
        (format!(":{port}"), format!("localhost:{port}")),
        (
            format!("dns:///localhost:{port}"),
            format!("localhost:{port}"),
        ),
        (
            format!("passthrough:///localhost:{port}"),
            format!("localhost:{port}"),
        ),
        (
            format!("ipv4:127.0.0.1:{port},127.0.0.9:1"),
            format!("127.0.0.1:{port}"),
        ),
        (format!("unix:{}", path.display()), "localhost".to_owned()),
        (
            format!("passthrough:///unix://{}", path.display()),
            "localhost".to_owned(),
        ),
    ] {
        assert_eq!(seen(&target), authority, "{target}");
    }
}

#[test]
fn pick_first_uses_the_first_address_that_works() {
    let [one, two, three] = neighbours();
    let all = [&one, &two, &three].map(Reference::address);
    drop(one);
    let report = UNARY
        .checked("-n 40 -c 8 --connections 4 --threads 2")
        .report(list(&all));
    assert_eq!((report.all_ok(), report.number("/reconnects")), (40, 0));
    assert_eq!([two.counts().calls_ok, three.counts().calls_ok], [40, 0]);
    assert!(report.json["volley"].get("addresses").is_none());
}

#[test]
fn round_robin_gives_each_address_its_share() {
    let servers: [_; 3] = neighbours();
    let all = servers.each_ref().map(Reference::address);
    // One connection is too few: there is one for each address.
    for flags in ["", "--connections 6 --threads 2"] {
        let before = servers.each_ref().map(|server| server.counts());
        let report = UNARY
            .checked("-n 300 -c 12 --rps 1000 --lb-strategy round_robin")
            .flags(flags)
            .report(list(&all));
        assert_eq!(report.all_ok(), 300);
        for (server, before) in servers.iter().zip(before) {
            let calls = server.counts().calls_ok - before.calls_ok;
            assert_eq!(report.used(server.address(), "calls"), calls);
            assert!(calls > 20, "{calls}");
        }
        assert!(!report.warns_of("connections"), "{:?}", report.warnings());
    }
}

#[test]
fn round_robin_goes_round_a_dead_address_which_the_report_shows() {
    let [one, two, three] = neighbours();
    let all = [&one, &two, &three].map(Reference::address);
    drop(two);
    let report = UNARY
        .checked("-n 60 -c 6 --connections 6 --lb-strategy round_robin")
        .report(list(&all));
    assert_eq!(report.all_ok(), 60);
    assert_eq!(report.used(all[1], "calls"), 0);
    assert_eq!(
        report.used(all[0], "calls") + report.used(all[2], "calls"),
        60
    );
    assert!(one.counts().calls_ok > 0 && three.counts().calls_ok > 0);
}

#[test]
fn more_addresses_than_workers_are_warned_of() {
    let servers: [_; 3] = neighbours();
    let all = servers.each_ref().map(Reference::address);
    let report = UNARY
        .run("-n 10 -c 2 --lb-strategy round_robin")
        .report(list(&all));
    assert_eq!(report.all_ok(), 10);
    let words = "the target had 3 addresses, but there were only 2 connections";
    report.warned_of(words);
}

#[test]
fn an_address_that_comes_back_gets_its_share_again() {
    let [one, two] = neighbours();
    let all = [&one, &two].map(Reference::address);
    let running = UNARY
        .run("-z 10m -c 4 --connections 4 --threads 2 --lb-strategy round_robin")
        .start(list(&all));
    until(&one, |counts| counts.calls_ok > 100);
    let before = two.counts().connections;
    drop(one);
    until(&two, |counts| counts.connections >= before + 2);
    let one = local(2, all[0].port()).unwrap();
    until(&one, |counts| {
        counts.calls_ok > 100 && counts.connections == 2
    });
    interrupt(&running);
    let report = running.wait().report();
    assert_eq!(report.number("/reconnects"), 2);
    assert_eq!(report.number("/planned_reconnects"), 2);
    assert_eq!(report.used(all[0], "lost_connections"), 2);
    assert_eq!(report.failed_total(), report.used(all[0], "lost_calls"));
}

#[test]
fn a_server_replaced_behind_a_name_keeps_its_load_by_round_robin() {
    let scratch = Scratch::new();
    let mut mounts = Command::new("unshare");
    let mounts = mounts.args(["--map-root-user", "--mount", "true"]).status();
    if !mounts.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this host allows no private mounts (unshare --map-root-user --mount)");
        return;
    }
    for flags in ["", "--resolve-every 100ms"] {
        let [one, two, three] = neighbours();
        let all = [&one, &two, &three].map(Reference::address);
        let [port, ..] = all.map(|address| address.port());
        let hosts = scratch.write("hosts", "127.0.0.2 pods.test\n127.0.0.3 pods.test\n");
        let running = UNARY
            .checked("-z 10m -c 6 --connections 6 --threads 2 --lb-strategy round_robin")
            .flags(flags)
            .with_hosts(&hosts)
            .start(format!("dns:///pods.test:{port}"));
        for server in [&one, &two] {
            until(server, |counts| {
                counts.calls_ok > 100 && counts.connections == 3
            });
        }
        // One dies, and a third appears.
        fs::write(&hosts, "127.0.0.3 pods.test\n127.0.0.4 pods.test\n").unwrap();
        let first = match flags {
            "" => Some(one.stop()),
            // Nobody dies: its connections are given up once its calls have ended.
            _ => {
                until(&three, |counts| counts.connections == 3);
                None
            }
        };
        until(&three, |counts| {
            counts.calls_ok > 100 && counts.connections == 3
        });
        interrupt(&running);
        let report = running.wait().report();
        let [calls, lost] = ["calls", "lost_calls"].map(|what| all.map(|at| report.used(at, what)));
        assert!(calls.iter().all(|calls| *calls > 100), "{calls:?}");
        assert_eq!(calls.iter().sum::<u64>(), report.sent());
        assert_eq!(lost, [report.failed_total(), 0, 0]);
        if first.is_some() {
            assert_eq!(report.used(all[0], "lost_connections"), 3);
            assert_eq!(report.number("/reconnects"), 3);
        } else {
            assert_eq!(
                (report.failed_total(), report.number("/reconnects")),
                (0, 0)
            );
            assert_eq!(report.number("/planned_reconnects"), 3);
        }
        assert!(report.ok() + report.failed_total() + report.cut() == report.sent());
    }
}

#[test]
fn a_black_hole_does_not_eat_the_time_of_the_next_address() {
    let (hole, server) = (BlackHole::default(), reference(Faults::default()));
    let target = list(&[hole.address(), server.address()]);
    for flags in ["", "--lb-strategy round_robin"] {
        // Far longer than the harness waits.
        let report = UNARY
            .checked("-n 20 -c 4 --connections 4 --threads 2 --connect-timeout 1h")
            .flags(flags)
            .report(&target);
        assert_eq!(report.all_ok(), 20);
    }
    assert_eq!(server.counts().connections, 8);
}

#[test]
fn connections_are_opened_again_after_so_many_calls() {
    let server = reference(Faults::default());
    for (load, every) in [
        ("-n 100 -c 4 --connections 2 --threads 2", 1),
        ("-n 100 -c 10 --connections 2", 7),
        ("-n 100 -c 10 --connections 2 --rps 5000", 7),
    ] {
        for shape in ALL {
            let before = server.counts();
            let report = shape
                .checked(load)
                .flags(&format!("--reconnect-every {every}"))
                .report(&server);
            assert_eq!((report.all_ok(), report.sent()), (100, 100));
            assert_eq!(
                (report.number("/retried"), report.number("/reconnects")),
                (0, 0)
            );
            let counts = settled(&server);
            assert_eq!(counts.calls_ok - before.calls_ok, 100);
            let connections = counts.connections - before.connections;
            assert!(connections >= 100_u64.div_ceil(every), "{connections}");
            let planned = report.number("/planned_reconnects");
            // The last ones may not have been ready yet.
            assert!(
                (planned + 2..=planned + 4).contains(&connections),
                "{planned} {connections}"
            );
            assert!(!report.warns_of("connection"), "{:?}", report.warnings());
        }
    }
}

/// A proxy that connects whatever it is asked for to one server; the heads of the requests come through the channel.
fn proxy(server: SocketAddr) -> (SocketAddr, mpsc::Receiver<String>) {
    let (tell, heads) = mpsc::channel();
    let address = scripted::accept(move |_| {
        let tell = tell.clone();
        move |client| {
            let mut reader = BufReader::new(client.try_clone()?);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head)?;
            }
            // Fails once the test has seen enough.
            let _ = tell.send(head);
            let mut answer = b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec();
            let upstream = TcpStream::connect(server)?;
            // Some servers speak first: their first bytes come with the answer.
            let mut first = [0; 9];
            upstream.peek(&mut first)?;
            let taken = (&upstream).read(&mut first)?;
            answer.extend_from_slice(&first[..taken]);
            (&client).write_all(&answer)?;
            let mut back = upstream.try_clone()?;
            let mut to_client = client.try_clone()?;
            thread::spawn(move || io::copy(&mut back, &mut to_client));
            io::copy(&mut reader, &mut &upstream)?;
            upstream.shutdown(std::net::Shutdown::Write)
        }
    });
    (address, heads)
}

/// A run through a proxy with a password.
fn through(volley: Volley, proxy: SocketAddr) -> Volley {
    volley
        .env("HTTPS_PROXY", format!("http://user:secret@{proxy}/"))
        .flags("-n 10 -c 2 --connections 2 --threads 2")
}

#[test]
fn a_proxy_of_the_environment_connects_the_target() {
    let server = scripted_server();
    let (proxy, heads) = proxy(server);
    // No resolver knows this name: the proxy gets it as it is.
    let finished = through(UNARY.run(""), proxy).run("dns:///nowhere.test");
    assert_eq!(finished.report().all_ok(), 10, "{finished:?}");
    for _ in 0..2 {
        let head = heads.recv().unwrap();
        begins(&head, "CONNECT nowhere.test:443 HTTP/1.1\r\n");
        has(&head, "Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n");
    }
    for said in [&finished.stdout, &finished.stderr] {
        assert!(!said.contains("secret") && !said.contains("dXNlcjpzZWNyZXQ"));
    }
}

/// A server whose SETTINGS come at once.
fn scripted_server() -> SocketAddr {
    scripted::accept(|_| {
        |mut socket| {
            let mut settings = Vec::new();
            volley::http2::frame::write_settings(&mut settings, &[]);
            socket.write_all(&settings)?;
            scripted::answer(socket, |peer, stream| {
                peer.answer(stream, &[]);
                true
            })
        }
    })
}

#[test]
fn loopback_and_excluded_hosts_need_no_proxy() {
    let server = reference(Faults::default());
    let nobody: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let report = through(UNARY.checked(""), nobody).report(&server);
    assert_eq!(report.all_ok(), 10);
    let finished = through(UNARY.checked(""), nobody).run("nowhere.test:80");
    let line = "cannot connect to nowhere.test:80 through the proxy 127.0.0.1:1 (`HTTPS_PROXY`): connection refused \
                (is the server running there?)";
    assert_eq!(finished.error(), line);
    let finished = through(UNARY.checked(""), nobody)
        .env("NO_PROXY", ".test")
        .run("nowhere.test:80");
    begins(finished.error(), "cannot resolve `nowhere.test`");
}

#[test]
fn a_proxy_that_refuses_is_quoted() {
    let proxy = scripted::accept(|_| {
        |mut socket| {
            socket.read_exact(&mut [0; 7])?;
            socket.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        }
    });
    let finished = through(UNARY.run(""), proxy).run("nowhere.test:80");
    let words = "the proxy (`HTTPS_PROXY`) refused it: 407 Proxy Authentication Required";
    finished.failed_with(words);
}

#[test]
fn a_proxy_that_is_none_is_a_usage_error_without_its_value() {
    let run = UNARY.run("").env("HTTPS_PROXY", "socks5://user:secret@p:1");
    let finished = run.flags("-n 1 -c 1").run("nowhere.test:80");
    assert_eq!(finished.code(), 2, "{finished:?}");
    assert!(!finished.stderr.contains("secret"), "{finished:?}");
}

#[test]
fn connections_that_are_replaced_in_the_warm_up_are_not_counted() {
    let server = reference(Faults::default());
    let mut running = UNARY
        .checked("--open-on-stdin -z 1s --duration-stop wait -c 1 --reconnect-every 10")
        .start(&server);
    // More than the bound below: the last replacement may be counted and not open yet.
    until(&server, |counts| counts.connections > 20);
    running.tell("\n");
    let report = running.wait().report();
    let planned = report.number("/planned_reconnects");
    let most = report.all_ok() / 10 + 1;
    assert!(planned <= most, "{planned} of {most}");
    assert!(settled(&server).connections > planned + 10);
}
