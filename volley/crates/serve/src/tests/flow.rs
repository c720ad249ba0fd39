use super::super::Config;
use super::client::replies;
use super::{Client, Seen, config};
use volley_http::http2::frame::{write_settings, write_window_update};

/// The bytes of DATA in `seen`.
fn data_len(seen: &[Seen]) -> usize {
    let lengths = seen.iter().map(|frame| match frame {
        Seen::Data(_, payload, _) => payload.len(),
        _ => 0,
    });
    lengths.sum()
}

#[test]
fn a_stream_stops_at_its_window_in_the_middle_of_a_reply_and_goes_on() {
    let mut client = Client::with_settings(&Config::default(), &[(4, 10)]);
    client.call(1, "StreamSum", 1, 0, 9);
    let mut seen = client.see();
    assert_eq!(data_len(&seen), 10);
    assert_eq!(client.counts.messages_sent, 1, "the second has only begun");
    for sent in (17..=63).step_by(7) {
        client.send(|out| write_window_update(out, 1, 7));
        seen.extend(client.see());
        assert_eq!(data_len(&seen), sent);
    }
    client.send(|out| write_window_update(out, 1, 7));
    seen.extend(client.see());
    assert_eq!(replies(&seen, 1), (1..=9).collect::<Vec<_>>());
    assert_eq!(seen.last(), Some(&Seen::ok(1)));
    assert_eq!(client.counts.messages_sent, 9);
}

#[test]
fn a_window_of_nothing_lets_headers_through_but_no_reply() {
    let mut client = Client::with_settings(&Config::default(), &[(4, 0)]);
    client.call(1, "GetSum", 1, 1, 0);
    assert_eq!(client.see(), [Seen::response(1)]);
    client.send(|out| write_settings(out, &[(4, 7)]));
    client.sees(&[Seen::SettingsAck, Seen::reply(1, 2), Seen::ok(1)]);
}

#[test]
fn an_echo_cut_by_the_window_is_finished_without_another_message() {
    let mut client = Client::with_settings(&Config::default(), &[(4, 3)]);
    client.open(1, "EchoSum");
    client.messages(1, &[&[8, 9]], false);
    let mut seen = client.see();
    client.send(|out| write_window_update(out, 1, 4));
    seen.extend(client.see());
    assert_eq!(replies(&seen, 1), [9]);
}

#[test]
fn all_streams_together_stop_at_the_connections_window() {
    let mut client = Client::with_settings(&Config::default(), &[(4, 1 << 20)]);
    for stream in [1, 3] {
        client.open(stream, "StreamSum");
        // count = 10,000
        client.messages(stream, &[&[24, 0x90, 0x4e]], true);
    }
    let mut seen = client.see();
    assert_eq!(data_len(&seen), 65_535);
    // Calls that need no window are not delayed by those that do.
    client.open(5, "Nothing");
    assert!(
        client
            .see()
            .iter()
            .any(|frame| matches!(frame, Seen::Headers(5, _, true)))
    );
    client.send(|out| write_window_update(out, 0, 1 << 20));
    seen.extend(client.see());
    for stream in [1, 3] {
        assert_eq!(replies(&seen, stream), (0..10_000).collect::<Vec<_>>());
        assert!(seen.contains(&Seen::ok(stream)));
    }
}

#[test]
fn a_window_made_negative_by_settings_has_to_be_filled_up_first() {
    let mut client = Client::with_settings(&Config::default(), &[(4, 14)]);
    client.call(1, "StreamSum", 1, 0, 3);
    client.see();
    client.send(|out| {
        write_settings(out, &[(4, 4)]);
        write_window_update(out, 1, 10);
    });
    assert_eq!(client.see(), [Seen::SettingsAck]);
    client.send(|out| write_window_update(out, 1, 7));
    assert_eq!(client.see(), [Seen::reply(1, 3), Seen::ok(1)]);
}

#[test]
fn output_is_bounded_however_large_the_windows_are() {
    let mut client = Client::new(&Config::default());
    client.open(1, "StreamSum");
    // count = 2³¹ − 1
    client.messages(1, &[&[24, 0xff, 0xff, 0xff, 0xff, 7]], true);
    for _ in 0..10 {
        client.server.fill();
        assert!(client.server.output().len() < 256 << 10);
    }
    let n = client.server.output().len();
    client.server.consume_output(n - 1, &mut client.counts);
    client.server.fill();
    assert!(client.server.output().len() > 1);
}

#[test]
fn a_client_gets_its_window_back_by_halves() {
    let config = config(|config| config.window = 20);
    let mut client = Client::new(&config);
    client.open(1, "CollectSum");
    client.messages(1, &[&[8, 1]], false);
    assert_eq!(client.see(), [], "7 of 20 bytes used");
    client.messages(1, &[&[8, 1]], false);
    assert_eq!(client.see(), [Seen::Window(1, 14)]);
}

#[test]
fn an_echo_whose_replies_wait_gives_no_more_window() {
    let config = config(|config| config.window = 1 << 20);
    let mut client = Client::with_settings(&config, &[(4, 0)]);
    client.open(1, "EchoSum");
    let messages: Vec<&[u8]> = vec![&[8, 1]; 2000];
    for _ in 0..60 {
        client.messages(1, &messages, false);
    }
    let waiting = client.see();
    assert!(
        !waiting
            .iter()
            .any(|frame| matches!(frame, Seen::Window(1, _)))
    );
    client.send(|out| {
        write_window_update(out, 1, 1 << 20);
        write_window_update(out, 0, 1 << 20);
    });
    let seen = client.see();
    assert!(seen.contains(&Seen::Window(1, 840_000)));
    assert_eq!(replies(&seen, 1).len(), 120_000);
}
