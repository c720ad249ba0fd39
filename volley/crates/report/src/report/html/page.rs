//! What every page has, whatever it reports.

use std::fmt::Write;

use crate::report::escape::html;

pub const STYLE: &str = include_str!("style.css");

/// All before the page's header. The title is escaped here.
pub fn begin(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{} · volley</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n",
        html(title)
    )
}

/// All after the page's main part.
pub fn end(version: &str) -> String {
    let version = html(version);
    format!("<footer>Made by volley {version}</footer>\n</body>\n</html>\n")
}

/// The tags of a run; nothing without any.
pub fn tags<'a>(tags: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (tag, value) in tags {
        let _ = write!(out, "<li>{} <b>{}</b></li>", html(tag), html(value));
    }
    match out.is_empty() {
        true => out,
        false => format!("<ul class=\"tags\">{out}</ul>\n"),
    }
}

/// The main figures: name, value, and a line below it, none of which is escaped.
pub fn tiles(tiles: &[(&str, String, String)]) -> String {
    let mut out = "<dl class=\"tiles\">\n".to_owned();
    for (place, (name, value, more)) in tiles.iter().enumerate() {
        let class = if place == 0 { " class=\"first\"" } else { "" };
        let _ = writeln!(
            out,
            "<div{class}><dt>{name}</dt><dd class=\"value\">{value}</dd><dd class=\"more\">{more}</dd></div>"
        );
    }
    out + "</dl>\n"
}

/// The warnings of a run, escaped, words in backticks as code; nothing without any.
pub fn warnings(warnings: impl IntoIterator<Item = impl ToString>) -> String {
    let out = items(warnings);
    match out.is_empty() {
        true => out,
        false => format!("<ul class=\"warnings\" aria-label=\"Warnings\">\n{out}</ul>\n"),
    }
}

/// A list of lines, escaped, words in backticks as code.
pub fn list(lines: &[String]) -> String {
    format!("<ul>\n{}</ul>\n", items(lines))
}

fn items(lines: impl IntoIterator<Item = impl ToString>) -> String {
    let mut out = String::new();
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", with_code(&line.to_string()));
    }
    out
}

/// Escaped text; words in backticks become code.
fn with_code(text: &str) -> String {
    let mut out = String::new();
    for (place, part) in text.split('`').enumerate() {
        let part = html(part);
        out += &if place % 2 == 1 {
            format!("<code>{part}</code>")
        } else {
            part
        };
    }
    out
}
