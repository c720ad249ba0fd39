//! Any bytes as a file of a feed: it is refused, or gives the rows that the csv crate reads, whether the file counts as
//! small or as large.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use volley_load::spec::Share;
use volley_scenario::data::{Crowd, Feeds, Room, Store, Undrawn};
use volley_scenario::plan::{AtEnd, Feed, RowOrder, Slice, Source};
use volley_scenario::{Slot, Values};

/// All rows; `None` if the file is refused.
fn rows(source: Source, folder: &Path, room: Room) -> Option<Vec<Vec<Vec<u8>>>> {
    let feed = Feed {
        name: "feed".to_owned(),
        source,
        order: RowOrder::Sequential,
        at_end: AtEnd::Stop,
        slice: Slice::All,
        connections: 0,
        columns: vec![(0, Slot(0)), (1, Slot(1))],
    };
    let crowd = Crowd {
        threads: 1,
        users: vec![vec![1]],
        share: Share { number: 1, of: 1 },
    };
    let store = Store::open_within(&[feed], folder, crowd, room).ok()?;
    let mut feeds = Feeds::new(&store, 0, 1);
    let mut all = Vec::new();
    loop {
        let mut values = Values::new(2);
        match feeds.draw(0, (0, 0, 0), &mut values) {
            Ok(()) => all.push(
                [0, 1]
                    .map(|slot| values.get(Slot(slot)).expect("it is drawn").to_vec())
                    .to_vec(),
            ),
            Err(Undrawn::Stop(_)) => return Some(all),
            Err(error) => panic!("{error}"),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("volley-fuzz-csv-{}", std::process::id()));
    let small = Room::default();
    let large = Room {
        rows: 0,
        index: 3,
        cache: 1000,
    };
    let names = || vec!["a".to_owned(), "b".to_owned()];
    std::fs::write(&path, data).expect("the file can be written");
    let folder = Path::new("/");
    let file = || path.clone();
    let lines = || Source::JsonLines {
        file: file(),
        names: names(),
    };
    assert_eq!(rows(lines(), folder, small), rows(lines(), folder, large));

    let csv = || Source::Csv {
        file: file(),
        names: names(),
    };
    let found = rows(csv(), folder, small);
    assert_eq!(found, rows(csv(), folder, large));
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(data);
    let all: Result<Vec<_>, _> = reader.byte_records().collect();
    match (found, all) {
        // A quote that is left open is refused, and so is a file without rows, or with bytes that are not UTF-8.
        (None, Ok(all)) => {
            let has_two = all.first().is_some_and(|header| header.len() == 2);
            let is_text = std::str::from_utf8(data).is_ok();
            assert!(!is_text || !has_two || all.len() < 2 || data.contains(&b'"'));
        }
        (None, Err(_)) => {}
        (Some(found), all) => {
            let all = all.expect("the csv crate reads it");
            let expected = all
                .iter()
                .skip(1)
                .map(|row| row.iter().map(<[u8]>::to_vec).collect::<Vec<_>>());
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
});
