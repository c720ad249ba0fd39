//! Tables: the first column and those marked so hold words, all others figures.

use std::fmt::Write;

use crate::report::escape::html;

/// A table in the making.
pub struct Table {
    /// Column headers, units included.
    pub columns: Vec<String>,
    /// Cells, as many a row as there are columns.
    pub rows: Vec<Vec<String>>,
    /// Columns of words, aligned to the left; from 0.
    pub words: &'static [usize],
    /// As wide as the page.
    pub full: bool,
    /// What it shows, for those who cannot see where it stands.
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
