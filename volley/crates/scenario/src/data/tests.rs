use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::plan::{AtEnd, Feed, RowOrder, Slice, Source, TimeFormat};
use crate::{Slot, Values};
use volley_load::spec::Share;

mod files;

/// A file that is removed with its test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(test: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("volley-data-{test}-{}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn csv(&self, names: &[&str]) -> Source {
        Source::Csv {
            file: self.0.clone(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn lines(&self, names: &[&str]) -> Source {
        Source::JsonLines {
            file: self.0.clone(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A feed whose columns fill the slots of the same numbers.
fn feed(source: Source, order: RowOrder, at_end: AtEnd, slice: Slice) -> Feed {
    let columns = match &source {
        Source::Csv { names, .. } | Source::JsonLines { names, .. } => names.len(),
        Source::Rows(rows) => rows.first().map_or(0, Vec::len),
        _ => 1,
    };
    Feed {
        name: "user".to_owned(),
        source,
        order,
        at_end,
        slice,
        connections: 0,
        columns: (0..columns)
            .map(|column| (column, Slot(column.try_into().unwrap())))
            .collect(),
    }
}

fn crowd(threads: u64, users: u64) -> Crowd {
    Crowd {
        threads,
        users: vec![vec![users]],
        share: Share::default(),
    }
}

/// Little memory: every file is a large one.
const LITTLE: Room = Room {
    rows: 0,
    index: 4,
    cache: 4096,
};

fn open(feed: Feed, crowd: Crowd, room: Room) -> Result<Arc<Store>, DataError> {
    Store::open_within(&[feed], Path::new("/"), crowd, room)
}

/// A store of little memory, for so many threads and users.
fn store(feed: Feed, threads: u64, users: u64) -> Arc<Store> {
    open(feed, crowd(threads, users), LITTLE).unwrap()
}

fn draw(feeds: &mut Feeds, user: u64) -> Result<Vec<String>, Undrawn> {
    let mut values = Values::new(4);
    feeds.draw(0, (0, user, user), &mut values)?;
    let all = (0..4).map_while(|slot| values.get(Slot(slot)));
    Ok(all
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect())
}

/// The first columns of what these users draw, one after another.
fn drawn(feeds: &mut Feeds, users: &[u64]) -> Vec<String> {
    let first = |user: &u64| match draw(feeds, *user) {
        Ok(row) => row.first().unwrap().clone(),
        Err(error) => error.to_string(),
    };
    users.iter().map(first).collect()
}

fn range(end: u64, order: RowOrder, at_end: AtEnd, slice: Slice) -> Feed {
    let source = Source::Range {
        start: 0,
        end,
        width: 2,
    };
    feed(source, order, at_end, slice)
}

#[test]
fn each_user_has_its_own_place_in_a_sequential_feed_and_all_share_that_of_a_circular_one() {
    for (order, expected) in [
        (RowOrder::Sequential, ["00", "00", "01", "01", "02", "00"]),
        (RowOrder::Circular, ["00", "01", "02", "00", "01", "02"]),
    ] {
        let store = store(range(3, order, AtEnd::Restart, Slice::All), 1, 2);
        let mut feeds = Feeds::new(&store, 0, 1);
        assert_eq!(drawn(&mut feeds, &[0, 1, 0, 1, 0, 7]), expected);
    }
}

#[test]
fn after_the_last_row_a_feed_restarts_stops_or_fails() {
    let stop = "`data.user` has no more rows";
    let fail = "`data.user` has no more rows, and `at_end: fail` ends the run";
    for order in [RowOrder::Sequential, RowOrder::Circular, RowOrder::Unique] {
        for (at_end, expected) in [
            (AtEnd::Restart, ["00", "01", "00", "01"]),
            (AtEnd::Stop, ["00", "01", stop, stop]),
            (AtEnd::Fail, ["00", "01", fail, fail]),
        ] {
            let store = store(range(2, order, at_end, Slice::All), 1, 1);
            let mut feeds = Feeds::new(&store, 0, 1);
            assert_eq!(drawn(&mut feeds, &[0; 4]), expected, "{order:?}");
        }
    }
}

#[test]
fn a_slice_is_every_nth_row_of_a_user_a_thread_or_a_process() {
    let users = |slice, order| {
        let store = store(range(7, order, AtEnd::Stop, slice), 2, 3);
        let mut feeds = Feeds::new(&store, 1, 1);
        drawn(&mut feeds, &[0, 1, 2, 0, 1, 0, 1])
    };
    let none = "`data.user` has no more rows";
    for order in [RowOrder::Sequential, RowOrder::Circular, RowOrder::Unique] {
        assert_eq!(
            users(Slice::User, order),
            ["00", "01", "02", "03", "04", "06", none]
        );
    }
    for order in [RowOrder::Circular, RowOrder::Unique] {
        assert_eq!(
            users(Slice::Thread, order),
            ["01", "03", "05", none, none, none, none]
        );
    }
    assert_eq!(
        users(Slice::Thread, RowOrder::Sequential),
        ["01", "01", "01", "03", "03", "05", "05"]
    );
}

#[test]
fn no_unique_row_of_a_slice_comes_twice_whoever_draws() {
    let ends = |feeds: &mut Feeds| drawn(feeds, &[0, 2, 4]).pop();
    for slice in [Slice::User, Slice::Thread, Slice::Connection] {
        let mut feed = range(8, RowOrder::Unique, AtEnd::Stop, slice);
        feed.connections = 2;
        let store = store(feed, 2, 2);
        // Setup has feeds of its own. An order may add users.
        let (mut setup, mut load) = (Feeds::new(&store, 0, 1), Feeds::new(&store, 0, 1));
        let mut rows = drawn(&mut setup, &[0]);
        rows.extend(drawn(&mut load, &[0, 2, 4]));
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), 4, "{slice:?}");
        let end = Some("`data.user` has no more rows".to_owned());
        assert_eq!((ends(&mut setup), ends(&mut load)), (end.clone(), end));
    }
}

#[test]
fn users_of_several_loads_have_slices_and_places_of_their_own() {
    let users = Crowd {
        users: vec![vec![2, 0, 3]],
        ..crowd(1, 0)
    };
    let all = [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)];
    let rows = |feed: Feed, who: &[(usize, u64)]| {
        let store = open(feed, users.clone(), LITTLE).unwrap();
        let (mut feeds, mut values) = (Feeds::new(&store, 0, 1), Values::new(1));
        let draw = |(load, user): &(usize, u64)| {
            feeds.draw(0, (*load, *user, 0), &mut values).unwrap();
            String::from_utf8(values.get(Slot(0)).unwrap().to_vec()).unwrap()
        };
        who.iter().map(draw).collect::<Vec<_>>()
    };
    let sliced = range(5, RowOrder::Unique, AtEnd::Stop, Slice::User);
    assert_eq!(rows(sliced, &all), ["00", "01", "02", "03", "04"]);
    // The last ones were added by an order, or are iterations of a rate.
    let more = [&all[..], &[(0, 2), (1, 0), (2, 3)]].concat();
    let own = range(5, RowOrder::Sequential, AtEnd::Stop, Slice::All);
    assert_eq!(rows(own, &more), ["00"; 8]);
}

#[test]
fn what_draws_but_once_takes_one_row_of_those_that_all_share() {
    let feed = range(99_999, RowOrder::Circular, AtEnd::Restart, Slice::All);
    let store = store(feed, 1, 1);
    let mut setup = Feeds::new(&store, 0, 1);
    setup.take_singly();
    assert_eq!(drawn(&mut setup, &[0]), ["00"]);
    assert_eq!(drawn(&mut Feeds::new(&store, 0, 1), &[0]), ["01"]);
}

#[test]
fn processes_share_the_rows_of_a_slice_and_of_a_unique_feed() {
    let process = |number, slice, order| {
        let crowd = Crowd {
            share: Share { number, of: 2 },
            ..crowd(1, 2)
        };
        let store = open(range(4, order, AtEnd::Stop, slice), crowd, LITTLE).unwrap();
        drawn(&mut Feeds::new(&store, 0, 1), &[0, 1])
    };
    for (slice, order, first, second) in [
        (Slice::Share, RowOrder::Circular, ["00", "02"], ["01", "03"]),
        (
            Slice::User,
            RowOrder::Sequential,
            ["00", "02"],
            ["01", "03"],
        ),
        (Slice::All, RowOrder::Unique, ["00", "02"], ["01", "03"]),
        (Slice::All, RowOrder::Circular, ["00", "01"], ["00", "01"]),
    ] {
        assert_eq!(process(1, slice, order), first, "{slice:?} {order:?}");
        assert_eq!(process(2, slice, order), second, "{slice:?} {order:?}");
    }
}

#[test]
fn a_feed_without_rows_or_with_too_few_for_its_slices_is_refused() {
    for (rows, slice, words) in [
        (0, Slice::All, "no rows: add one"),
        (2, Slice::User, "2 rows for 3 users: "),
        (1, Slice::Thread, "1 rows for 2 threads: "),
        (3, Slice::Connection, "3 rows for 4 connections: "),
    ] {
        let mut feed = range(rows, RowOrder::Sequential, AtEnd::Stop, slice);
        feed.connections = 4;
        let error = open(feed, crowd(2, 3), LITTLE).unwrap_err();
        let remedy = match rows {
            0 => "",
            _ => "add rows, or use `slice: all`",
        };
        assert_eq!(
            error.to_string(),
            format!("`data.user` has {words}{remedy}")
        );
    }
}

#[test]
fn few_unique_rows_are_not_all_taken_by_the_first_thread() {
    let store = store(
        range(32, RowOrder::Unique, AtEnd::Restart, Slice::All),
        2,
        2,
    );
    let (mut first, mut second) = (Feeds::new(&store, 0, 1), Feeds::new(&store, 1, 1));
    drawn(&mut first, &[0]);
    assert_eq!(drawn(&mut second, &[1]), ["02"]);
}

#[test]
fn when_one_thread_finds_no_more_rows_no_other_thread_has_any_left() {
    for at_end in [AtEnd::Stop, AtEnd::Fail] {
        let store = store(range(32, RowOrder::Unique, at_end, Slice::All), 2, 2);
        let (mut first, mut second) = (Feeds::new(&store, 0, 1), Feeds::new(&store, 1, 1));
        draw(&mut first, 0).unwrap();
        drawn(&mut second, &[1; 31]);
        assert!(draw(&mut second, 1).is_err() && draw(&mut first, 0).is_err());
    }
}

#[test]
fn a_random_feed_gives_every_row_and_the_same_ones_for_the_same_seed() {
    let store = store(range(10, RowOrder::Random, AtEnd::Stop, Slice::All), 2, 1);
    let rows = |thread, seed| drawn(&mut Feeds::new(&store, thread, seed), &[0; 200]);
    let all: BTreeSet<String> = rows(0, 1).into_iter().collect();
    assert_eq!(all.len(), 10);
    assert_eq!(rows(0, 1), rows(0, 1));
    assert_ne!(rows(0, 1), rows(1, 1));
    assert_ne!(rows(0, 1), rows(0, 2));
}

#[test]
fn rows_of_the_scenario_file_itself_are_a_feed() {
    let row = |name: &str, age: &str| vec![name.as_bytes().into(), age.as_bytes().into()];
    let source = Source::Rows(vec![row("ann", "3"), row("bob", "")]);
    let store = store(
        feed(source, RowOrder::Circular, AtEnd::Restart, Slice::All),
        1,
        1,
    );
    let mut feeds = Feeds::new(&store, 0, 1);
    assert_eq!(
        draw(&mut feeds, 0),
        Ok(vec!["ann".to_owned(), "3".to_owned()])
    );
    assert_eq!(
        draw(&mut feeds, 0),
        Ok(vec!["bob".to_owned(), String::new()])
    );
}

#[test]
fn values_without_rows_have_their_form() {
    let made = |source: Source| {
        let store = store(
            feed(source, RowOrder::Unique, AtEnd::Fail, Slice::User),
            1,
            1,
        );
        let mut feeds = Feeds::new(&store, 0, 1);
        let all = drawn(&mut feeds, &[0; 300]);
        assert!(all.iter().all(|value| !value.is_empty()));
        all
    };
    let numbers = made(Source::Random { low: -2, high: 2 });
    let numbers: BTreeSet<i64> = numbers.iter().map(|one| one.parse().unwrap()).collect();
    assert!(numbers.into_iter().eq(-2..=2));
    for text in made(Source::RandomText { length: 12 }) {
        assert!(text.len() == 12 && text.chars().all(|c| c.is_ascii_alphanumeric()));
    }
    let form =
        regex::Regex::new("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
            .unwrap();
    let mut ids = made(Source::Uuid);
    assert!(ids.iter().all(|id| form.is_match(id)), "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 300);
    for (format, form) in [
        (
            TimeFormat::Rfc3339,
            r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
        ),
        (TimeFormat::UnixSeconds, r"^\d{10}$"),
        (TimeFormat::UnixMillis, r"^\d{13}$"),
        (TimeFormat::UnixNanos, r"^\d{19}$"),
    ] {
        let form = regex::Regex::new(form).unwrap();
        let times = made(Source::Time(format));
        assert!(times.iter().all(|time| form.is_match(time)), "{times:?}");
    }
}

proptest! {
    #[test]
    fn connections_have_parts_that_follow_each_other_and_differ_by_one_row_at_most(
        rows in 1u64..200,
        parts in 1u32..20,
        processes in 1u32..4,
    ) {
        let all = parts * processes;
        prop_assume!(rows >= u64::from(all));
        let mut next = 0;
        for number in 1..=processes {
            let mut feed = range(rows, RowOrder::Unique, AtEnd::Stop, Slice::Connection);
            feed.connections = parts;
            let share = Share { number, of: processes };
            let store = open(feed, Crowd { share, ..crowd(1, 1) }, LITTLE).unwrap();
            let mut feeds = Feeds::new(&store, 0, 1);
            for connection in 0..u64::from(parts) {
                let before = next;
                while let Ok(row) = draw(&mut feeds, connection) {
                    prop_assert_eq!(row[0].parse::<u64>().unwrap(), next);
                    next += 1;
                }
                let least = rows / u64::from(all);
                prop_assert!((least..=least + 1).contains(&(next - before)));
            }
        }
        prop_assert_eq!(next, rows);
    }
}
