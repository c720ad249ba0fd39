use super::super::Config;
use super::{Client, Seen, config};
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{HEADER_LEN, write_rst_stream};

#[test]
fn a_reply_counts_when_its_last_byte_is_written() {
    let mut client = Client::new(&Config::default());
    client.see();
    client.call(1, "StreamSum", 1, 0, 3);
    client.server.fill();
    let headers = HEADER_LEN + 20;
    let reply = HEADER_LEN + 7;
    client
        .server
        .consume_output(headers + reply - 1, &mut client.counts);
    assert_eq!(client.counts.messages_sent, 0);
    client.server.consume_output(1, &mut client.counts);
    assert_eq!(client.counts.messages_sent, 1);
    client.server.consume_output(2 * reply, &mut client.counts);
    client.counted(|it| [it.messages_sent, it.calls_ok], [3, 0]);
    client.see();
    client.counted(|it| [it.messages_sent, it.calls_ok], [3, 1]);
}

#[test]
fn a_call_that_its_client_resets_is_counted_as_such_and_ends() {
    let mut client = Client::new(&Config::default());
    client.open(1, "EchoSum");
    client.messages(1, &[&[8, 1]], false);
    client.see();
    client.send(|out| write_rst_stream(out, 1, ErrorCode::Cancel));
    client.messages(1, &[&[8, 1]], true);
    assert_eq!(client.see(), []);
    client.counted(|it| [it.calls_reset, it.calls_open()], [1, 0]);
    client.counted(|it| [it.messages_received, it.messages_sent], [1, 1]);
}

#[test]
fn calls_whose_trailers_were_not_written_are_lost_with_the_connection() {
    let mut client = Client::new(&Config::default());
    client.see();
    client.call(1, "GetSum", 1, 0, 0);
    client.open(3, "EchoSum");
    client.server.fill();
    let Client {
        server, mut counts, ..
    } = client;
    server.lost(&mut counts);
    counts.are(
        |it| [it.calls_started, it.calls_ok, it.calls_reset],
        [2, 0, 2],
    );
}

#[test]
fn streams_over_the_limit_are_refused_and_are_no_calls() {
    let config = config(|config| config.max_concurrent_streams = Some(1));
    let mut client = Client::silent(&config);
    assert!(matches!(&client.see()[0], Seen::Settings(pairs) if pairs.contains(&(3, 1))));
    let mut client = Client::new(&config);
    client.open(1, "EchoSum");
    client.open(3, "GetSum");
    assert_eq!(client.see(), [Seen::Reset(3, ErrorCode::RefusedStream)]);
    client.messages(1, &[], true);
    client.see();
    client.call(5, "GetSum", 1, 1, 0);
    client.sees(&[Seen::response(5), Seen::reply(5, 2), Seen::ok(5)]);
    assert_eq!(client.counts.calls_started, 2);
}
