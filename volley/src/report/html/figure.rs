//! A picture with its heading, its key, and the same numbers as a table.

use std::fmt::Write;

use super::drawing::{Drawing, SIZES};
use super::table::Table;
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
        let mut out = format!(
            "<section>\n<h2>{}</h2>\n<p class=\"about\">{}</p>\n<figure>\n",
            html(self.title),
            html(self.about)
        );
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
