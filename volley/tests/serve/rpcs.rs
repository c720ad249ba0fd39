//! The reference server as the `h2` crate sees it.

use std::net::TcpListener;
use std::num::NonZeroUsize;

use crate::support::{
    answer, answered, begin, block_on, call, connect, message, send, with_server,
};
use volley::serve::{Config, Counts, Reference};
use volley_testkit::texts::begins;

const WIDE: u32 = 1 << 24;

#[test]
fn all_four_methods_answer_and_every_message_is_counted() {
    with_server(Config::default(), |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let get = answered(&sender, "GetSum", &[message(20, 22, 0)]).await;
        assert_eq!((get.results, get.status.as_deref()), (vec![42], Some("0")));
        let stream = answered(&sender, "StreamSum", &[message(-2, -2, 5000)]).await;
        assert_eq!((stream.results, stream.rest), ((-4..4996).collect(), 0));
        let all = [message(1, 2, 0), message(i32::MAX, 0, 0), message(-5, 0, 0)];
        let collect = answered(&sender, "CollectSum", &all).await;
        assert_eq!(collect.results, [i32::MAX - 2]);
        let echo = answered(&sender, "EchoSum", &all).await;
        assert_eq!(echo.results, [3, i32::MAX, -5]);
        let expected = Counts {
            connections: 1,
            calls_started: 4,
            calls_ok: 4,
            messages_received: 8,
            messages_sent: 5005,
            ..Counts::default()
        };
        assert_eq!(server.counts(), expected);
        assert_eq!(server.stop(), expected);
    });
}

#[test]
fn an_echo_answers_while_the_request_is_still_open() {
    with_server(Config::default(), |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let (response, mut request) = begin(&sender, "EchoSum").await;
        send(&mut request, message(1, 1, 0), false);
        let mut body = response.await.expect("headers").into_body();
        for i in 2..5 {
            let frame = body.data().await.expect("a reply").expect("no error");
            assert_eq!(crate::support::result(&frame[5..]), i);
            request
                .send_data(message(i, 1, 0), i == 4)
                .expect("an open stream");
        }
    });
}

#[test]
fn the_smallest_windows_lose_no_reply() {
    for (stream_window, connection_window) in [(1, 65_535), (100, 65_535), (WIDE, 65_535)] {
        with_server(Config::default(), |server| async move {
            let sender = connect(server.address(), stream_window, connection_window).await;
            let calls = (0..4).map(|a| {
                let sender = sender.clone();
                tokio::spawn(async move { call(&sender, "StreamSum", &[message(a, 0, 300)]).await })
            });
            for (a, task) in (0..).zip(calls.collect::<Vec<_>>()) {
                let answer = task.await.expect("a task").expect("an answer");
                assert_eq!(answer.results, (a..a + 300).collect::<Vec<i32>>());
            }
            assert_eq!(server.counts().messages_sent, 1200);
        });
    }
}

#[test]
fn a_request_of_many_messages_passes_the_servers_small_windows() {
    let config = Config {
        window: 64,
        ..Config::default()
    };
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let messages = vec![message(1, 1, 0); 20_000];
        let collect = answered(&sender, "CollectSum", &messages).await;
        assert_eq!(collect.results, [40_000]);
        assert_eq!(server.counts().messages_received, 20_000);
    });
}

#[test]
fn many_connections_on_several_threads_are_summed() {
    let config = Config {
        threads: NonZeroUsize::new(3),
        ..Config::default()
    };
    with_server(config, |server| async move {
        let mut tasks = Vec::new();
        for _ in 0..20 {
            let sender = connect(server.address(), WIDE, WIDE).await;
            for _ in 0..10 {
                let sender = sender.clone();
                tasks.push(tokio::spawn(async move {
                    call(&sender, "GetSum", &[message(1, 2, 0)]).await
                }));
            }
        }
        for task in tasks {
            assert_eq!(task.await.expect("a task").expect("an answer").results, [3]);
        }
        let counts = server.counts();
        assert_eq!(
            (counts.connections, counts.calls_ok, counts.messages_sent),
            (20, 200, 200)
        );
    });
}

#[test]
fn a_large_stream_is_counted_to_the_last_reply() {
    with_server(Config::default(), |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let stream = answered(&sender, "StreamSum", &[message(0, 0, 200_000)]).await;
        assert!(stream.results.iter().copied().eq(0..200_000));
        assert_eq!(server.counts().messages_sent, 200_000);
    });
}

#[test]
fn a_client_that_goes_away_leaves_reset_calls() {
    with_server(Config::default(), |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let (response, mut request) = begin(&sender, "EchoSum").await;
        send(&mut request, message(1, 1, 0), false);
        let body = response.await.expect("headers").into_body();
        drop((body, request));
        // Answered after the reset, so the reset has been seen.
        answered(&sender, "GetSum", &[message(1, 1, 0)]).await;
        let counts = server.counts();
        assert_eq!(
            (counts.calls_ok, counts.calls_reset, counts.calls_open()),
            (1, 1, 0)
        );
    });
}

#[test]
fn a_method_that_is_not_there_is_unimplemented() {
    with_server(Config::default(), |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let (response, mut request) = begin(&sender, "Nothing").await;
        send(&mut request, message(1, 1, 0), true);
        let answer = answer(response).await.expect("an answer");
        assert_eq!(answer.status.as_deref(), Some("12"));
        assert_eq!(
            answer.message.as_deref(),
            Some("unknown method `/benchmark.BenchmarkService/Nothing`")
        );
    });
}

#[test]
fn a_taken_port_is_refused_with_its_address() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let config = Config {
        address: taken.local_addr().expect("an address"),
        ..Config::default()
    };
    let address = config.address;
    let error = Reference::start(config).err().expect("the port is taken");
    begins(
        &error.to_string(),
        &format!("cannot listen on `{address}`: "),
    );
}

#[test]
fn a_server_that_is_dropped_listens_no_more() {
    let server = Reference::start(Config::default()).expect("a server");
    let address = server.address();
    drop(server);
    block_on(async move {
        assert!(tokio::net::TcpStream::connect(address).await.is_err());
    });
}
