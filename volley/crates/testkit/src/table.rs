//! Tables of tests.

/// The rows of a table: one a line, with `=>` between columns. `⏎` and `␍` stand for the ends of lines within them.
#[track_caller]
pub fn table<const N: usize>(rows: &str) -> Vec<[&'static str; N]> {
    let rows = rows.lines().map(str::trim).filter(|row| !row.is_empty());
    let cell = |cell: &str| &*cell.trim().replace('⏎', "\n").replace('␍', "\r").leak();
    let cells = |row: &str| {
        let cells: Vec<_> = row.split("=>").map(cell).collect();
        let cells = cells.try_into();
        cells.unwrap_or_else(|_| panic!("not {N} columns: {row}"))
    };
    let rows: Vec<_> = rows.map(cells).collect();
    assert!(!rows.is_empty(), "a table without rows");
    rows
}

/// What stands between the bars of a text.
pub fn words(text: &'static str) -> Vec<&'static str> {
    text.split('|').collect()
}
