//! Faults of the reference server as the `h2` crate sees them.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use crate::support::{
    Answer, answer, answered, begin, call, connect, connect_to_the_end, message, send, with_server,
};
use h2::Reason;
use volley::serve::{Config, Faults, Freeze};

const WIDE: u32 = 1 << 24;

fn with(change: impl FnOnce(&mut Faults)) -> Config {
    let mut config = Config::default();
    change(&mut config.faults);
    config
}

fn every(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

#[test]
fn every_third_stream_is_reset() {
    let config = with(|faults| faults.reset_every = every(3));
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let mut resets = Vec::new();
        for i in 1..=9 {
            if let Err(error) = call(&sender, "StreamSum", &[message(1, 1, 100)]).await {
                assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
                resets.push(i);
            }
        }
        assert_eq!(resets, [3, 6, 9]);
        let counts = server.counts();
        assert_eq!((counts.calls_ok, counts.calls_failed), (6, 3));
        assert_eq!(counts.messages_sent, 6 * 100 + 3 * 50);
    });
}

#[test]
fn after_a_goaway_open_calls_are_finished_and_the_connection_is_closed() {
    let config = with(|faults| faults.goaway_after = every(2));
    with_server(config, |server| async move {
        let (sender, connection) = connect_to_the_end(server.address(), WIDE, WIDE).await;
        let (response, mut request) = begin(&sender, "EchoSum").await;
        send(&mut request, message(1, 1, 0), false);
        let second = answered(&sender, "GetSum", &[message(1, 1, 0)]).await;
        assert_eq!(second.results, [2]);
        send(&mut request, message(2, 2, 0), true);
        assert_eq!(answer(response).await.expect("an answer").results, [2, 4]);
        // Even if the client still wants to call, it is the server that ends the connection, without an error.
        assert!(connection.await.expect("a task").is_ok());
        assert_eq!(server.counts().calls_ok, 2);
    });
}

#[test]
fn trailers_only_and_truncated_answers_are_what_they_say() {
    let config = with(|faults| {
        faults.trailers_only_every = every(2);
        faults.truncate_every = every(3);
    });
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(answered(&sender, "StreamSum", &[message(1, 0, 4)]).await);
        }
        let facts = |answer: &Answer| {
            (
                answer.results.len(),
                answer.rest,
                answer.status.clone().expect("a status"),
            )
        };
        assert_eq!(facts(&answers[0]), (4, 0, "0".to_owned()));
        assert_eq!(facts(&answers[1]), (0, 0, "13".to_owned()));
        assert_eq!(
            answers[1].message.as_deref(),
            Some("on purpose: 100 %25 of this call failed %E2%9C%97")
        );
        assert_eq!(facts(&answers[2]), (2, 6, "0".to_owned()));
    });
}

#[test]
fn garbage_and_a_cut_connection_are_errors_of_the_connection() {
    for config in [
        with(|faults| faults.garbage_every = every(1)),
        with(|faults| faults.close_every = every(1)),
    ] {
        let garbage = config.faults.garbage_every.is_some();
        with_server(config, |server| async move {
            let sender = connect(server.address(), WIDE, WIDE).await;
            let error = call(&sender, "StreamSum", &[message(1, 1, 10)])
                .await
                .expect_err("no answer");
            if garbage {
                assert_eq!(error.reason(), Some(Reason::FRAME_SIZE_ERROR));
            } else {
                assert!(error.is_io(), "{error}");
            }
            assert_eq!(server.counts().messages_sent, 5);
        });
    }
}

#[test]
fn one_reply_is_wrong() {
    let config = with(|faults| faults.wrong_at = Some(7));
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let got = answered(&sender, "StreamSum", &[message(0, 0, 10)]).await;
        assert_eq!(got.results, [0, 1, 2, 3, 4, 5, 6, 8, 8, 9]);
    });
}

#[test]
fn an_answer_comes_no_sooner_than_its_delay() {
    let delay = Duration::from_millis(30);
    let config = with(|faults| faults.delay = delay);
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let start = Instant::now();
        answered(&sender, "GetSum", &[message(1, 1, 0)]).await;
        assert!(start.elapsed() >= delay);
    });
}

#[test]
fn a_frozen_server_answers_once_the_freeze_is_over() {
    let length = Duration::from_secs(1);
    let freeze = Some(Freeze {
        at: Duration::ZERO,
        length,
    });
    let config = with(|faults| faults.freeze = freeze);
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        let start = Instant::now();
        // The first call starts the freeze, and is answered just before it.
        answered(&sender, "GetSum", &[message(1, 1, 0)]).await;
        let (response, mut request) = begin(&sender, "GetSum").await;
        send(&mut request, message(1, 1, 0), true);
        let late = connect(server.address(), WIDE, WIDE).await;
        assert_eq!(answer(response).await.expect("an answer").results, [2]);
        answered(&late, "GetSum", &[message(1, 1, 0)]).await;
        assert!(start.elapsed() >= length);
        assert_eq!(server.counts().calls_ok, 3);
    });
}

#[test]
fn a_frozen_server_counts_on_request_and_can_be_stopped() {
    let freeze = Some(Freeze {
        at: Duration::ZERO,
        length: Duration::from_secs(3600),
    });
    let config = with(|faults| faults.freeze = freeze);
    with_server(config, |server| async move {
        let sender = connect(server.address(), WIDE, WIDE).await;
        answered(&sender, "GetSum", &[message(1, 1, 0)]).await;
        let (_unanswered, mut request) = begin(&sender, "GetSum").await;
        send(&mut request, message(1, 1, 0), true);
        assert_eq!(server.counts().calls_ok, 1);
        assert_eq!(server.stop().calls_ok, 1);
    });
}
