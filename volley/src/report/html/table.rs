//! Tables: the first column and those in `words` hold words, all others numbers.

use std::fmt::Write;

use crate::report::escape::html;

/// The contents of a table.
pub struct Table {
    /// Column headers, units included.
    pub columns: Vec<String>,
    /// Cells; one per column in each row.
    pub rows: Vec<Vec<String>>,
    /// Columns of words, aligned left; numbered from 0.
    pub words: &'static [usize],
    /// Whether it is as wide as the page.
    pub full: bool,
    /// A label for screen readers.
    pub label: String,
}

impl Table {
    pub fn html(&self) -> String {
        let class = |column: usize| {
            if self.words.contains(&column) {
                " class=\"words\""
            } else {
                ""
            }
        };
        let mut out = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table{}>\n<thead><tr>",
            html(&self.label),
            if self.full { " class=\"full\"" } else { "" }
        );
        for (column, name) in self.columns.iter().enumerate() {
            let _ = write!(
                out,
                "<th scope=\"col\"{}>{}</th>",
                class(column),
                html(name)
            );
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for (column, cell) in row.iter().enumerate() {
                let (tag, scope) = if column == 0 {
                    ("th", " scope=\"row\"")
                } else {
                    ("td", "")
                };
                let _ = write!(out, "<{tag}{scope}{}>{}</{tag}>", class(column), html(cell));
            }
            out += "</tr>\n";
        }
        out + "</tbody>\n</table>\n</div>\n"
    }
}
