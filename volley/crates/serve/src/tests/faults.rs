use std::num::NonZeroU64;
use std::time::Duration;

use super::super::Faults;
use super::client::replies;
use super::{Client, Seen, config};
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::write_ping;

fn client(change: impl FnOnce(&mut Faults)) -> Client {
    let mut client = Client::new(&config(|config| change(&mut config.faults)));
    client.see();
    client
}

fn every(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

#[test]
fn every_second_stream_is_reset_halfway() {
    let mut client = client(|faults| faults.reset_every = every(2));
    client.call(1, "StreamSum", 1, 0, 4);
    assert_eq!(client.see().last(), Some(&Seen::ok(1)));
    client.call(3, "StreamSum", 1, 0, 4);
    let expected = [
        Seen::response(3),
        Seen::reply(3, 1),
        Seen::reply(3, 2),
        Seen::Reset(3, ErrorCode::InternalError),
    ];
    assert_eq!(client.see(), expected);
    assert_eq!((client.counts.calls_ok, client.counts.calls_failed), (1, 1));
    assert_eq!(client.counts.messages_sent, 6);
}

#[test]
fn an_echo_is_reset_after_its_first_reply_or_at_its_end() {
    let mut client = client(|faults| faults.reset_every = every(1));
    let reset = |stream| Seen::Reset(stream, ErrorCode::InternalError);
    client.open(1, "EchoSum");
    client.messages(1, &[&[8, 1], &[8, 2]], false);
    client.sees(&[Seen::response(1), Seen::reply(1, 1), reset(1)]);
    client.open(3, "EchoSum");
    client.messages(3, &[], true);
    assert_eq!(client.see(), [Seen::response(3), reset(3)]);
}

#[test]
fn only_the_reply_at_the_index_is_wrong() {
    let mut client = client(|faults| faults.wrong_at = Some(2));
    client.call(1, "StreamSum", 10, 0, 5);
    assert_eq!(replies(&client.see(), 1), [10, 11, 13, 13, 14]);
    client.open(3, "EchoSum");
    client.messages(3, &[&[8, 1], &[8, 1], &[8, 1], &[8, 1]], true);
    assert_eq!(replies(&client.see(), 3), [1, 1, 2, 1]);
    client.call(5, "GetSum", 1, 1, 0);
    assert_eq!(replies(&client.see(), 5), [2]);
    assert_eq!(client.counts.calls_ok, 3);
}

#[test]
fn a_wrong_reply_may_be_longer_than_the_right_one() {
    let mut client = client(|faults| faults.wrong_at = Some(0));
    client.call(1, "StreamSum", 127, 0, 2);
    assert_eq!(replies(&client.see(), 1), [128, 128]);
}

#[test]
fn trailers_only_has_a_status_and_a_percent_encoded_message() {
    let mut client = client(|faults| faults.trailers_only_every = every(1));
    client.call(1, "StreamSum", 1, 1, 9);
    let fields = [
        ":status: 200",
        "content-type: application/grpc",
        "grpc-status: 13",
        "grpc-message: on purpose: 100 %25 of this call failed %E2%9C%97",
    ];
    client.sees(&[Seen::Headers(1, fields.map(String::from).to_vec(), true)]);
    assert_eq!(client.counts.calls_failed, 1);
}

#[test]
fn a_truncated_stream_ends_with_ok_inside_a_message() {
    let mut client = client(|faults| faults.truncate_every = every(1));
    client.call(1, "StreamSum", 1, 0, 2);
    let cut = Seen::Data(1, vec![0, 0, 0, 0, 2, 8], false);
    client.sees(&[
        Seen::response(1),
        Seen::reply(1, 1),
        cut.clone(),
        Seen::ok(1),
    ]);
    client.call(3, "GetSum", 1, 0, 0);
    assert_eq!(client.see().len(), 3);
    client.counted(|it| [it.calls_failed, it.messages_sent], [2, 1]);
}

#[test]
fn garbage_is_the_last_that_is_heard_on_a_connection() {
    let mut client = client(|faults| faults.garbage_every = every(2));
    client.open(1, "EchoSum");
    client.call(3, "GetSum", 1, 1, 0);
    assert_eq!(client.see(), [Seen::response(3), Seen::Garbage(64)]);
    client.messages(1, &[&[8, 1]], true);
    assert_eq!(client.see(), []);
    assert!(!client.server.is_finished());
    let Client {
        server, mut counts, ..
    } = client;
    server.lost(&mut counts);
    assert_eq!((counts.calls_failed, counts.calls_open()), (2, 0));
}

#[test]
fn a_connection_that_is_cut_says_what_came_before_and_no_more() {
    let mut client = client(|faults| faults.close_every = every(1));
    client.call(1, "StreamSum", 1, 0, 2);
    assert!(!client.server.is_finished());
    assert_eq!(client.see(), [Seen::response(1), Seen::reply(1, 1)]);
    assert!(client.server.is_finished() && client.server.is_cut());
}

#[test]
fn goaway_comes_in_two_steps_and_open_calls_are_finished() {
    let mut client = client(|faults| faults.goaway_after = every(2));
    let away = |last| Seen::GoAway(last, ErrorCode::NoError, String::new());
    client.open(1, "EchoSum");
    assert_eq!(client.see(), []);
    client.open(3, "EchoSum");
    let Some(Seen::Ping(false, payload)) = client.see().get(1).cloned() else {
        panic!("the first GOAWAY is followed by a PING");
    };
    // The client does not know about it yet: this call counts.
    client.call(5, "GetSum", 1, 1, 0);
    assert_eq!(client.see().last(), Some(&Seen::ok(5)));
    client.send(|out| write_ping(out, true, payload));
    assert_eq!(client.see(), [away(5)]);
    client.call(7, "GetSum", 1, 1, 0);
    assert_eq!(
        client.see(),
        [],
        "above the last stream nothing is answered"
    );
    client.messages(1, &[&[8, 1]], true);
    client.sees(&[Seen::response(1), Seen::reply(1, 1), Seen::ok(1)]);
    assert!(!client.server.is_finished());
    client.messages(3, &[], true);
    assert_eq!(client.see(), [Seen::response(3), Seen::ok(3)]);
    assert!(client.server.is_finished() && !client.server.is_cut());
    client.counted(|it| [it.calls_started, it.calls_ok], [3, 3]);
}

#[test]
fn the_first_goaway_names_the_highest_stream_there_can_be() {
    let mut client = client(|faults| faults.goaway_after = every(1));
    client.open(1, "EchoSum");
    let first = Seen::GoAway((1 << 31) - 1, ErrorCode::NoError, String::new());
    assert_eq!(client.see().first(), Some(&first));
}

#[test]
fn an_answer_is_held_back_by_its_delay() {
    let mut client = client(|faults| faults.delay = Duration::from_nanos(100));
    client.call(1, "GetSum", 1, 1, 0);
    client.now_ns = 50;
    client.call(3, "GetSum", 2, 2, 0);
    assert_eq!(
        (client.see(), client.server.next_due()),
        (vec![], Some(100))
    );
    client.now_ns = 100;
    client.sees(&[Seen::response(1), Seen::reply(1, 2), Seen::ok(1)]);
    assert_eq!(client.server.next_due(), Some(150));
    client.now_ns = 150;
    client.sees(&[Seen::response(3), Seen::reply(3, 4), Seen::ok(3)]);
    assert_eq!(client.server.next_due(), None);
}
