//! Servers that cannot be called at all: one line, exit status 1, in time.

use std::net::SocketAddr;

use volley::serve::Faults;

use crate::common::shape::UNARY;
use crate::common::{BlackHole, begins, closing, ends, has, quiet_listener, reference, scripted};

/// The error line of a run that cannot start.
fn error(address: SocketAddr, flags: &str) -> String {
    let load = "-z 10m -c 4 --connections 2 --threads 2";
    let finished = UNARY.run(load).flags(flags).run(address);
    finished.error().to_owned()
}

#[test]
fn a_port_nobody_listens_on_is_refused() {
    let address = scripted::nobody();
    assert_eq!(
        error(address, ""),
        format!("cannot connect to {address}: connection refused (is the server running there?)")
    );
}

#[test]
fn a_server_that_never_speaks_is_given_up_at_the_connect_timeout() {
    let quiet = quiet_listener();
    let address = quiet.local_addr().unwrap();
    assert_eq!(
        error(address, "--connect-timeout 300ms"),
        format!(
            "cannot connect to {address}: the server sent no HTTP/2 SETTINGS within 0.3 s \
             (`--connect-timeout`)"
        )
    );
}

#[test]
fn a_server_that_closes_at_once_is_named_as_such() {
    let line = error(closing(), "");
    assert!(
        line.contains("the server closed the connection immediately") || line.contains("reset"),
        "{line}"
    );
}

#[test]
fn a_server_that_answers_in_http_1_is_named_as_such() {
    let address = scripted::saying(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let line = error(address, "");
    ends(
        &line,
        ": peer speaks HTTP/1 instead of HTTP/2, which gRPC needs (check the port; a proxy in between must speak HTTP/2, too)",
    );
}

#[test]
fn a_name_that_means_nothing_is_named() {
    // Longer than a label of a name may be, so that no resolver has to be asked.
    let name = "x".repeat(70);
    let finished = UNARY.run("-n 1 -c 1").run(format!("{name}:80"));
    let error = finished.error();
    begins(error, &format!("cannot resolve `{name}`: "));
}

#[test]
fn a_name_of_several_that_means_nothing_is_warned_of() {
    let server = reference(Faults::default());
    let name = format!("{}:80", "x".repeat(70));
    for flags in ["", "--lb-strategy round_robin"] {
        let run = UNARY.checked("-n 10 -c 2").flags(flags);
        let report = run.report(format!("{},{name}", server.address()));
        assert_eq!(report.all_ok(), 10);
        let words = format!("no address was found for `{name}` when the run started");
        report.warned_of(&words);
        assert!(report.stderr.contains(&words), "{}", report.stderr);
    }
}

#[test]
fn a_name_with_several_addresses_is_tried_until_one_answers() {
    // It listens only on 127.0.0.1, and most hosts resolve that name to ::1 first.
    let server = reference(Faults::default());
    let target = format!("localhost:{}", server.address().port());
    let report = UNARY
        .checked("-n 20 -c 4 --connections 2 --threads 2")
        .report(target);
    assert_eq!(report.all_ok(), 20);
}

#[test]
fn an_address_that_takes_long_shares_its_time_with_the_next() {
    let (hole, server) = (BlackHole::default(), reference(Faults::default()));
    let report = UNARY
        .checked("-n 20 -c 2 --connect-timeout 1h")
        .report(format!("{},{}", hole.address(), server.address()));
    assert_eq!(report.all_ok(), 20);
}

#[test]
fn an_interrupt_while_connecting_ends_the_run() {
    use rustix::process::{Pid, Signal, kill_process};
    let quiet = quiet_listener();
    let running = UNARY
        .run("-n 1 -c 1 --connect-timeout 10m")
        .start(quiet.local_addr().unwrap());
    // Its handlers are installed once it connects.
    let (_socket, _) = quiet.accept().unwrap();
    kill_process(Pid::from_raw(running.pid()).unwrap(), Signal::INT).unwrap();
    let finished = running.wait();
    begins(finished.error(), "interrupted");
}

#[test]
fn a_server_that_says_goaway_at_once_is_no_server() {
    use volley::http2::ErrorCode;
    use volley::http2::frame::write_go_away;
    let address = scripted::serve(|_| {
        |_, peer| {
            write_go_away(&mut peer.out, 0, ErrorCode::EnhanceYourCalm, b"go away");
            false
        }
    });
    // Either it was refused before it was ready, or it went away as soon as it was.
    let finished = UNARY
        .run("-z 10m -c 1 --connect-timeout 300ms")
        .run(address);
    assert_eq!(finished.code(), 1, "{finished:?}");
}

#[test]
fn tls_to_a_port_in_clear_text_says_which_flag_helps() {
    let server = reference(Faults::default());
    let finished = crate::common::Volley::secure(UNARY.method)
        .data(UNARY.data)
        .flags("-n 1 -c 1 --skipTLS --connect-timeout 10m")
        .run(&server);
    let words = "TLS: the server does not speak TLS: if it speaks plaintext, use `--insecure` (";
    finished.failed_with(words);
}

#[test]
fn a_goaway_that_comes_with_the_settings_is_seen() {
    use std::io::{Read, Write};
    use volley::http2::ErrorCode;
    use volley::http2::frame::{write_go_away, write_settings};
    let address = scripted::accept(|_| {
        |mut socket| {
            let mut both = Vec::new();
            write_settings(&mut both, &[]);
            write_go_away(&mut both, 0, ErrorCode::EnhanceYourCalm, b"");
            socket.read_exact(&mut [0; 24])?;
            socket.write_all(&both)?;
            // The client must hang up, not this server.
            std::io::copy(&mut socket, &mut std::io::sink())?;
            Ok(())
        }
    });
    let line = error(address, "--connect-timeout 10m");
    has(&line, "the server sent GOAWAY immediately");
}

#[test]
fn one_thread_that_cannot_connect_ends_the_others_wait_too() {
    let address = scripted::accept(|number| {
        move |mut socket| {
            // The second connection is accepted but stays silent.
            if number == 1 {
                std::io::copy(&mut socket, &mut std::io::sink())?;
            }
            Ok(())
        }
    });
    let line = error(address, "--connect-timeout 10m");
    assert!(!line.starts_with("interrupted"), "{line}");
}
