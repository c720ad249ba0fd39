//! Pictures with their headings and keys, and tables of the same numbers.

use std::fmt::Write;

use super::drawing::{Drawing, SIZES};
use crate::report::escape::html;

pub struct Figure<'a> {
    /// Unique in the page.
    pub id: &'a str,
    pub title: &'a str,
    /// One line below the title.
    pub about: &'a str,
    /// The picture in words.
    pub description: &'a str,
    /// Names of the curves: the accented one, then the dashed one; none if there is only one curve.
    pub keys: &'a [&'a str],
    pub table: Table,
}

impl Figure<'_> {
    /// Draws the picture for every window size.
    pub fn html(&self, draw: impl Fn(&mut Drawing)) -> String {
        let (title, about) = (html(self.title), html(self.about));
        let mut out =
            format!("<section>\n<h2>{title}</h2>\n<p class=\"about\">{about}</p>\n<figure>\n");
        if !self.keys.is_empty() {
            out += "<figcaption>";
            for (place, key) in self.keys.iter().enumerate() {
                let class = if place == 0 { "key" } else { "key other" };
                let _ = write!(out, "<span class=\"{class}\">{}</span>", html(key));
            }
            out += "</figcaption>\n";
        }
        for size in SIZES {
            let mut drawing = Drawing::new(size);
            draw(&mut drawing);
            out += &drawing.finish(self.id, self.title, self.description);
        }
        out += "<details>\n<summary>The same numbers as a table</summary>\n";
        out += &self.table.html();
        out + "</details>\n</figure>\n</section>\n"
    }
}

/// The contents of a table.
#[derive(Default)]
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
        let class = |column: usize| match self.words.contains(&column) {
            true => " class=\"words\"",
            false => "",
        };
        let mut out = format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table{}>\n<thead><tr>",
            html(&self.label),
            if self.full { " class=\"full\"" } else { "" }
        );
        for (column, name) in self.columns.iter().enumerate() {
            let (class, name) = (class(column), html(name));
            let _ = write!(out, "<th scope=\"col\"{class}>{name}</th>");
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for (column, cell) in row.iter().enumerate() {
                let (tag, scope) = match column {
                    0 => ("th", " scope=\"row\""),
                    _ => ("td", ""),
                };
                let _ = write!(out, "<{tag}{scope}{}>{}</{tag}>", class(column), html(cell));
            }
            out += "</tr>\n";
        }
        out + "</tbody>\n</table>\n</div>\n"
    }
}
