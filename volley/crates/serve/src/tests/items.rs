use std::num::NonZeroU64;
use std::time::Duration;

use super::super::{Config, Faults};
use super::{Client, Seen, config};
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{write_data, write_rst_stream, write_window_update};

const NEW: &str = r#"{"owner":"ann","pad":[1,2],"sku":"s-1"}"#;

/// The answer to a request on its own stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    status: String,
    location: String,
    body: String,
    /// Its stream was closed.
    is_whole: bool,
}

impl Client {
    fn request(&mut self, stream: u32, method: &str, path: &str, body: &str) {
        self.request_with(stream, &[(":method", method), (":path", path)], body);
    }

    fn request_with(&mut self, stream: u32, fields: &[(&str, &str)], body: &str) {
        self.open_with(stream, fields);
        self.send(|out| write_data(out, stream, body.as_bytes(), true));
    }

    fn ask(&mut self, stream: u32, method: &str, path: &str, body: &str) -> Answer {
        self.request(stream, method, path, body);
        answer(&self.see(), stream)
    }

    /// The path of a new item.
    fn create(&mut self, stream: u32) -> String {
        self.ask(stream, "POST", "/v1/items", NEW).location
    }
}

fn answer(seen: &[Seen], stream: u32) -> Answer {
    let mut answer = Answer::default();
    for frame in seen {
        match frame {
            Seen::Headers(id, fields, end) if *id == stream => {
                for field in fields {
                    match field.split_once(": ").unwrap() {
                        (":status", value) => answer.status = value.to_owned(),
                        ("location", value) => answer.location = value.to_owned(),
                        _ => {}
                    }
                }
                answer.is_whole = *end;
            }
            Seen::Data(id, data, end) if *id == stream => {
                answer.body.push_str(std::str::from_utf8(data).unwrap());
                answer.is_whole = *end;
            }
            _ => {}
        }
    }
    answer
}

fn every(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

fn with(change: impl FnOnce(&mut Faults)) -> Client {
    Client::new(&config(|config| change(&mut config.faults)))
}

#[test]
fn an_item_is_created_read_changed_and_deleted() {
    let mut client = Client::new(&Config::default());
    let created = client.ask(1, "POST", "/v1/items", NEW);
    let id = created.location.strip_prefix("/v1/items/").unwrap();
    let item = |rev| format!(r#"{{"item":{{"id":"{id}","sku":"s-1","owner":"ann","rev":{rev}}}}}"#);
    assert_eq!((created.status.as_str(), created.body), ("201", item(1)));
    let url = &created.location;
    assert_eq!(client.ask(3, "GET", url, "").body, item(1));
    let changed = client.ask(5, "PATCH", url, "123456789");
    assert_eq!((changed.status.as_str(), changed.is_whole), ("204", true));
    assert_eq!(client.ask(7, "GET", url, "").body, item(2));
    assert_eq!(client.ask(9, "DELETE", url, "").status, "204");
    let gone = client.ask(11, "GET", url, "");
    assert_eq!(gone.status, "404");
    assert_eq!(gone.body, r#"{"error":"there is no such item or path"}"#);
    let counts = client.counts;
    counts.are(
        |it| [it.created, it.read, it.patched, it.deleted],
        [1, 2, 1, 1],
    );
    // The check value of CRC-32.
    assert_eq!((counts.patch_hash, counts.duplicates), (0xcbf4_3926, 1));
    counts.are(|it| [it.live(), it.calls_ok, it.calls_failed], [0, 5, 1]);
}

#[test]
fn a_condition_that_does_not_hold_changes_nothing() {
    let mut client = Client::new(&Config::default());
    let url = client.create(1);
    let mut patch = |stream, rev| {
        let fields = [(":method", "PATCH"), (":path", &url[..]), ("if-match", rev)];
        client.request_with(stream, &fields, "{}");
        answer(&client.see(), stream).status
    };
    assert_eq!(patch(3, "\"2\""), "412");
    assert_eq!(patch(5, "\"1\""), "204");
    assert_eq!(patch(7, "\"1\""), "412");
    assert_eq!(patch(9, "*"), "204");
    assert_eq!(client.counts.patched, 2);
}

#[test]
fn a_body_may_have_64_kib_in_any_frames_and_no_more() {
    let mut client = Client::new(&Config::default());
    let pad = "x".repeat((64 << 10) - r#"{"sku":""}"#.len());
    let body = format!(r#"{{"sku":"{pad}"}}"#);
    for (stream, body, status) in [(1, body.clone(), "201"), (3, body + " ", "413")] {
        client.open_with(stream, &[(":method", "POST"), (":path", "/v1/items")]);
        for part in body.as_bytes().chunks(10_000) {
            client.send(|out| write_data(out, stream, part, false));
        }
        client.send(|out| write_data(out, stream, b"", true));
        let answer = answer(&client.see(), stream);
        assert_eq!(answer.status, status);
        assert_eq!(answer.body.contains(&pad), status == "201");
        assert!(answer.is_whole);
    }
}

#[test]
fn a_body_that_is_too_long_is_answered_before_its_end() {
    let mut client = Client::new(&Config::default());
    client.open_with(1, &[(":method", "POST"), (":path", "/v1/items")]);
    for _ in 0..5 {
        client.send(|out| write_data(out, 1, &[b' '; 16 << 10], false));
    }
    let seen = client.see();
    assert_eq!(answer(&seen, 1).status, "413");
    assert_eq!(seen.last(), Some(&Seen::Reset(1, ErrorCode::NoError)));
}

#[test]
fn what_cannot_be_done_is_said_in_json() {
    let mut client = Client::new(&Config::default());
    for (stream, method, path, body, status) in [
        (1, "POST", "/v1/items", "{", "400"),
        (3, "GET", "/v1/items", "", "405"),
        (5, "GET", "/", "", "404"),
        (7, "DELETE", "/v1/items/0123456789abcdef", "", "404"),
    ] {
        let answer = client.ask(stream, method, path, body);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.starts_with(r#"{"error":""#), "{}", answer.body);
    }
    let answer = client.ask(9, "HEAD", "/v1/items", "");
    assert_eq!((&answer.status[..], &answer.body[..]), ("405", ""));
    client.counted(|it| [it.duplicates, it.calls_failed], [0, 5]);
}

#[test]
fn a_token_says_how_long_it_is_valid() {
    let mut client = Client::new(&config(|config| config.token_life = Duration::from_secs(5)));
    let form = "grant_type=client_credentials";
    let [first, second] =
        [1, 3].map(|stream| client.ask(stream, "POST", "/oauth/token", form).body);
    assert!(
        first.ends_with(r#"","token_type":"Bearer","expires_in":5}"#),
        "{first}"
    );
    assert_ne!(first, second);
    assert_eq!(client.counts.tokens, 2);
}

#[test]
fn an_answer_stops_at_its_window_and_goes_on() {
    let mut client = Client::with_settings(&Config::default(), &[(4, 10)]);
    client.request(1, "POST", "/v1/items", NEW);
    let mut seen = client.see();
    assert_eq!(answer(&seen, 1).body.len(), 10);
    assert!(!answer(&seen, 1).is_whole);
    client.send(|out| write_window_update(out, 1, 1000));
    seen.extend(client.see());
    let whole = answer(&seen, 1);
    assert!(
        whole.is_whole && whole.body.ends_with(r#""rev":1}}"#),
        "{whole:?}"
    );
    let heads = seen
        .iter()
        .filter(|frame| matches!(frame, Seen::Headers(..)));
    assert_eq!(heads.count(), 1);
}

#[test]
fn buffers_of_one_request_leave_nothing_in_the_next() {
    let mut client = Client::new(&Config::default());
    client.request(1, "POST", "/v1/items", NEW);
    client.see();
    let second = client.ask(3, "POST", "/v1/items", "{}");
    assert!(second.body.contains(r#"","rev":1}}"#) && !second.body.contains("sku"));
    client.send(|out| write_rst_stream(out, 3, ErrorCode::Cancel));
    assert_eq!(client.ask(5, "PATCH", &second.location, "").status, "204");
    assert_eq!(client.counts.patch_hash, 0);
}

#[test]
fn a_status_on_purpose_or_no_answer_carries_nothing_out() {
    let mut client = with(|faults| {
        faults.statuses = vec![(503, every(3).unwrap())];
        faults.unanswered_every = every(2);
    });
    let statuses: Vec<String> = (1..=6)
        .map(|n| client.ask(2 * n - 1, "POST", "/v1/items", NEW).status)
        .collect();
    assert_eq!(statuses, ["201", "", "503", "", "201", "503"]);
    assert_eq!((client.counts.created, client.counts.calls_open()), (2, 2));
    client.send(|out| write_rst_stream(out, 3, ErrorCode::Cancel));
    client.counted(|it| [it.calls_reset, it.calls_open()], [1, 1]);
}

#[test]
fn an_item_can_lack_its_location_or_be_wrong_twice_there_cut_or_broken() {
    let mut client = with(|faults| {
        faults.no_location_every = every(2);
        faults.duplicate_every = every(3);
        faults.wrong_value_every = every(5);
        faults.bad_json_every = every(7);
        faults.truncate_every = every(8);
    });
    let answers: Vec<Answer> = (0..8)
        .map(|n| client.ask(2 * n + 1, "POST", "/v1/items", NEW))
        .collect();
    let hidden: Vec<bool> = answers.iter().map(|one| one.location.is_empty()).collect();
    assert_eq!(
        hidden,
        [false, true, false, true, false, true, false, false]
    );
    let id = |n: usize| answers[n].body.get(15..31).unwrap();
    assert_eq!(id(2), id(1), "a duplicate of the one before");
    assert_ne!(id(4), id(3));
    assert!(answers[4].body.contains(r#""sku":"wrong","rev""#));
    assert!(answers[6].body.ends_with(r#""rev":1}"#));
    assert_eq!(answers[7].body.len(), answers[0].body.len() / 2);
    assert!(
        answers
            .iter()
            .all(|one| one.status == "201" && one.is_whole)
    );
    assert_eq!((client.counts.calls_failed, client.counts.created), (1, 8));
}

#[test]
fn faults_of_grpc_hit_requests_of_items_too() {
    let mut client = with(|faults| {
        faults.reset_every = every(2);
        faults.goaway_after = every(3);
    });
    client.create(1);
    client.request(3, "POST", "/v1/items", NEW);
    assert_eq!(client.see(), [Seen::Reset(3, ErrorCode::InternalError)]);
    client.request(5, "POST", "/v1/items", NEW);
    let seen = client.see();
    assert!(seen.iter().any(|frame| matches!(frame, Seen::GoAway(..))));
    assert_eq!(answer(&seen, 5).status, "201");
    let mut client = with(|faults| faults.close_every = every(1));
    client.request(1, "POST", "/v1/items", NEW);
    assert_eq!(client.see(), []);
    assert!(client.server.is_finished() && client.server.is_cut());
    assert_eq!(client.counts.created, 0);
}

#[test]
fn only_every_nth_answer_is_late_if_so_asked() {
    let mut client = with(|faults| {
        faults.delay = Duration::from_nanos(100);
        faults.delay_every = every(2);
    });
    assert_eq!(client.ask(1, "POST", "/v1/items", NEW).status, "201");
    assert_eq!(client.ask(3, "POST", "/v1/items", NEW).status, "");
    assert_eq!(client.counts.created, 2, "it is carried out at once");
    assert_eq!(client.ask(5, "POST", "/v1/items", NEW).status, "201");
    client.now_ns = 100;
    assert_eq!(answer(&client.see(), 3).status, "201");
}
