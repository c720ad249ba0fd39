//! Feeds of files.

use std::fmt::Write as _;

use super::*;
use crate::testkit::texts::begins;

/// All rows that a user draws until there are no more.
fn all(store: &Arc<Store>) -> Vec<Vec<String>> {
    let mut feeds = Feeds::new(store, 0, 1);
    let mut rows = Vec::new();
    loop {
        match draw(&mut feeds, 0) {
            Ok(row) => rows.push(row),
            Err(Undrawn::Stop(_)) => return rows,
            Err(other) => panic!("{other}"),
        }
    }
}

fn sequential(source: Source) -> Feed {
    feed(source, RowOrder::Sequential, AtEnd::Stop, Slice::All)
}

#[test]
fn a_hundred_thousand_unique_rows_come_once_each_and_whole_to_two_threads_of_eight_users() {
    const ROWS: usize = 100_000;
    let mut text = String::from("id,check\n");
    for id in 0..ROWS {
        // Some fields have line ends and quotes.
        let end = if id % 1000 == 0 { "\"\n\"\"\"" } else { "" };
        let start = if end.is_empty() { "" } else { "\"" };
        writeln!(
            text,
            "{id},{start}c{}{}",
            id * 7,
            end.trim_start_matches('"')
        )
        .unwrap();
    }
    let file = Temporary::new("unique", text.as_bytes());
    let unique = feed(
        file.csv(&["id", "check"]),
        RowOrder::Unique,
        AtEnd::Stop,
        Slice::All,
    );
    let store = Store::open(&[unique], Path::new("/"), crowd(2, 16)).unwrap();
    let draw_all = |thread: u64| {
        let (mut feeds, mut values) = (Feeds::new(&store, thread, 1), Values::new(2));
        let mut ids = Vec::new();
        for user in (thread..16).step_by(2).cycle() {
            match feeds.draw(0, (0, user, 0), &mut values) {
                Ok(()) => {}
                Err(Undrawn::Stop(_)) => return ids,
                Err(other) => panic!("{other}"),
            }
            let text = |slot| std::str::from_utf8(values.get(Slot(slot)).unwrap()).unwrap();
            let id: usize = text(0).parse().unwrap();
            let check = text(1).strip_prefix('c').unwrap();
            let check = if id.is_multiple_of(1000) {
                check.strip_suffix("\n\"").unwrap()
            } else {
                check
            };
            assert_eq!(check.parse(), Ok(id * 7));
            ids.push(id);
        }
        ids
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| draw_all(1));
        (draw_all(0), other.join().unwrap())
    });
    assert!(!first.is_empty() && !second.is_empty());
    let mut ids = [first, second].concat();
    assert_eq!(ids.len(), ROWS);
    ids.sort_unstable();
    assert!(ids.iter().enumerate().all(|(place, id)| place == *id));
}

#[test]
fn a_large_file_takes_little_memory_in_every_order() {
    // A sixty-fourth of 1 GB, in a sixty-fourth of 64 MB.
    const MOST: usize = 1 << 20;
    let room = Room::default();
    let room = Room {
        rows: room.rows / 64,
        index: room.index / 64,
        cache: room.cache / 64,
    };
    let mut text = String::from("id,name,note\n");
    let mut rows = 0;
    while text.len() < 16 << 20 {
        writeln!(text, "{rows},\"name {rows}\",{}", "x".repeat(rows % 150)).unwrap();
        rows += 1;
    }
    let file = Temporary::new("large", text.as_bytes());
    drop(text);
    let source = file.csv(&["id", "name", "note"]);
    for order in [
        RowOrder::Sequential,
        RowOrder::Circular,
        RowOrder::Random,
        RowOrder::Unique,
    ] {
        let feed = feed(source.clone(), order, AtEnd::Restart, Slice::All);
        let store = open(feed, crowd(2, 20), room).unwrap();
        let mut threads = [0, 1].map(|thread| Feeds::new(&store, thread, 1));
        for draws in 0..2000_u64 {
            for (thread, feeds) in (0..).zip(&mut threads) {
                let row = draw(feeds, draws % 10 * 2 + thread).unwrap();
                let [id, name, note] = row.as_slice() else {
                    panic!("{row:?}")
                };
                let id: usize = id.parse().unwrap();
                assert!(
                    name.strip_prefix("name ").unwrap() == id.to_string() && note.len() == id % 150
                );
            }
        }
        let kept = store.kept() + threads.iter().map(Feeds::kept).sum::<usize>();
        assert!(store.kept() > 0 && kept <= MOST, "{order:?}: {kept}");
    }
}

#[test]
fn what_is_broken_in_a_file_is_named_with_its_line() {
    let long = format!("a,b\n1,2\n\"{}", "x\n".repeat(1 << 20));
    let csv = |text: &str| (text.to_owned(), false);
    let lines = |text: &str| (text.to_owned(), true);
    let one = "the row has 1 column, the header 2";
    let three = "the row has 3 columns, the header 2";
    let open_quote = "a quote is left open";
    let too_long = "the row is longer than 1048576 bytes: a quote may be left open";
    let (no_b, half) = ("the object has no `b`", "`b` has half of a surrogate pair");
    let cut = "invalid JSON at byte 8: it is cut short";
    for ((text, is_lines), line, problem) in [
        (csv("a,b\n1,2\n3\n"), 3, one),
        (csv("a,b\r\n1,2\r\n\r\n3,4,5\r\n"), 4, three),
        (csv("a,b\n1,\"x\ny\"\n3\n"), 4, one),
        (csv("\u{feff}a,b\n1,2\n3,\"4\n5,6\n"), 3, open_quote),
        (csv("a,b\n1,2\nx\"y,\"z\n"), 3, open_quote),
        (csv("a,b\n1,\"2\"\"\n"), 2, open_quote),
        (csv(&long), 3, too_long),
        (csv("a\n"), 1, one),
        (lines("{\"a\":1,\"b\":2}\n\n{\"a\":1}\n"), 3, no_b),
        (lines("{\"a\":1,\"b\":2}\n{\"a\":1,\n\"b\":2}"), 2, cut),
        (lines("[1]\n"), 1, "the line is no JSON object"),
        (lines("{\"a\":1,\"b\":\"\\ud800\"}"), 1, half),
    ] {
        let file = Temporary::new("broken", text.as_bytes());
        let source = match is_lines {
            true => file.lines(&["a", "b"]),
            false => file.csv(&["a", "b"]),
        };
        let error = open(sequential(source), crowd(1, 1), LITTLE).unwrap_err();
        let path = file.0.display();
        assert_eq!(error.to_string(), format!("{path}:{line}: {problem}"));
    }
    let source = Source::Csv {
        file: "no such file".into(),
        names: Vec::new(),
    };
    let error = open(sequential(source), crowd(1, 1), LITTLE).unwrap_err();
    begins(&error.to_string(), "cannot read `/no such file`: ");
}

#[test]
fn a_file_that_changes_during_the_run_is_reported_and_no_row_is_skipped() {
    let text = format!("a,b\n{}", "1234567,2\n".repeat(10_000));
    let broken = text.replacen("1234567,2\n", "1234567 2\n", 1);
    for (change, expected) in [
        (broken.as_str(), ":2: the row has 1 column, the header 2"),
        (
            "a,b\n",
            "`: row 1 is gone, the file has changed since the run began",
        ),
    ] {
        let file = Temporary::new("changed", text.as_bytes());
        let store = open(sequential(file.csv(&["a", "b"])), crowd(1, 1), LITTLE).unwrap();
        std::fs::write(&file.0, change).unwrap();
        let error = draw(&mut Feeds::new(&store, 0, 1), 0).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[test]
fn only_the_columns_that_are_used_are_kept_and_a_feed_may_use_none() {
    let file = Temporary::new("columns", b"a,b,c\n1,2,3\n4,5,6\n");
    for room in [LITTLE, Room::default()] {
        let mut last = sequential(file.csv(&["a", "b", "c"]));
        last.columns = vec![(2, Slot(0))];
        let rows = all(&open(last, crowd(1, 1), room).unwrap());
        assert_eq!(rows, [["3"], ["6"]]);
        let mut none = sequential(file.csv(&["a", "b", "c"]));
        none.columns = Vec::new();
        assert_eq!(all(&open(none, crowd(1, 1), room).unwrap()).len(), 2);
    }
}

#[test]
fn lines_of_json_give_texts_numbers_and_objects_as_they_are_written() {
    let text = "\u{feff}{\"a\": \"x\\ny\", \"b\": 1.50}\r\n\n  {\"b\": {\"c\": [1]}, \"a\": null}";
    let file = Temporary::new("lines", text.as_bytes());
    for room in [LITTLE, Room::default()] {
        let rows = all(&open(sequential(file.lines(&["a", "b"])), crowd(1, 1), room).unwrap());
        assert_eq!(rows, [["x\ny", "1.50"], ["null", "{\"c\": [1]}"]]);
    }
}

#[test]
fn a_quote_inside_of_a_field_is_a_letter_in_every_row() {
    let text = "a,b\nbob,6\" nail\nx\"y,z\n\"\"\"q\"\"\",\"\"\nbob,6\" nail\n";
    let file = Temporary::new("letters", text.as_bytes());
    let nail = ["bob", "6\" nail"];
    for room in [LITTLE, Room::default()] {
        let rows = all(&open(sequential(file.csv(&["a", "b"])), crowd(1, 1), room).unwrap());
        assert_eq!(rows, [nail, ["x\"y", "z"], ["\"q\"", ""], nail]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_csv_file_has_the_rows_that_the_csv_crate_reads(
        rows in prop::collection::vec(prop::collection::vec("[ab\"\r\n,\u{feff}]{0,4}", 2), 1..40),
        ends in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        mark in prop::sample::select(vec!["", "\u{feff}"]),
        has_last_end in any::<bool>(),
        index in 2_usize..8,
    ) {
        let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
        let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
        let lines: Vec<String> = std::iter::once("a,b".to_owned()).chain(rows.iter().map(line)).collect();
        let last = if has_last_end { ends } else { "" };
        let text = format!("{mark}{}{last}", lines.join(ends));
        let expected: Vec<Vec<String>> = csv::Reader::from_reader(text.as_bytes())
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        prop_assert_eq!(&expected, &rows);
        let file = Temporary::new("property", text.as_bytes());
        for room in [Room::default(), Room { rows: 0, index, cache: 100 }] {
            let store = open(sequential(file.csv(&["a", "b"])), crowd(1, 1), room).unwrap();
            prop_assert_eq!(&all(&store), &expected);
        }
    }
}
