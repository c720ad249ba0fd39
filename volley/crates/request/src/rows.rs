//! Rows of a file: lines of JSON, or CSV whose header names fields.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use volley_base::excerpt::excerpt;
use volley_base::input::table::{self, Fault, Table};
use volley_load::spec::Data;
use volley_protobuf::{Field, Kind, Message};

use super::schema::suggest;
use super::{RequestError, messages, template};

/// Passes each row on as JSON, in which templates stay as they are if there may be `actions`.
///
/// # Errors
///
/// If CSV is malformed, or its header names no field; and what `take` refuses, with the line.
pub fn each(
    data: &Data,
    input: &Message,
    actions: bool,
    mut take: impl FnMut(&str) -> Result<(), RequestError>,
) -> Result<(), RequestError> {
    let wrong = |line: u64, column: Option<&str>, error| RequestError::Row {
        line,
        column: column.map(|name| excerpt(name, 60)),
        error: Box::new(error),
    };
    match data {
        Data::JsonLines(text) => {
            let lines = (1..).zip(unmarked(text).lines());
            let mut rows = lines.filter(|(_, line)| !line.trim().is_empty());
            rows.try_for_each(|(number, line)| {
                // Of JSON in one line, only the column is worth a word.
                let shorten = |reason: &mut String| {
                    *reason = reason.replace(" at line 1 column ", " at column ")
                };
                take(line).map_err(|error| wrong(number, None, error.with_reason(shorten)))
            })
        }
        Data::Csv(text) => {
            let text = unmarked(text).as_bytes();
            let mut table = Table::new(text, u64::MAX);
            let header = table.header().map_err(|fault| malformed(&fault))?;
            let columns = columns(&header, input)?;
            let mut record = csv::StringRecord::new();
            loop {
                let at = table.at();
                match table.next(&mut record) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(Fault::Row(reason)) => {
                        let line = table::line_at(text, at);
                        return Err(malformed(&format!("line {line}: {reason}")));
                    }
                    Err(fault) => return Err(malformed(&fault)),
                }
                let row = columns.row(&record, actions);
                let Err(error) = take(row.as_deref().unwrap_or("{}")) else {
                    continue;
                };
                // The first column that is wrong without the others. What must be there may be in those.
                let alone = |(place, name)| {
                    let cells = record.iter().enumerate();
                    let cells = cells.map(|(at, cell)| if at == place { cell } else { "" });
                    let row = columns.row(&cells.collect(), actions)?;
                    let read = match actions {
                        true => take(&row),
                        false => messages::require_known(&row, input),
                    };
                    Some((name, read.err()?))
                };
                let (column, error) = match header.iter().enumerate().find_map(alone) {
                    Some((name, error)) => (Some(name.as_str()), error),
                    None => (None, error),
                };
                let line = table::line_at(text, at);
                // The JSON is not the user's.
                return Err(wrong(line, column, error.without_line()));
            }
        }
        Data::Json(_) | Data::Binary(_) => Ok(()),
    }
}

/// What text that is not JSON may be, and how names of such files end.
pub(super) fn kind(text: &str) -> Option<(&'static str, &'static str)> {
    let mut lines = unmarked(text)
        .lines()
        .filter(|line| !line.trim().is_empty());
    let (first, _) = (lines.next()?, lines.next()?);
    if serde_json::from_str::<Map<String, Value>>(first).is_ok() {
        return Some(("JSON lines", ".jsonl"));
    }
    let is_name = |name: &str| {
        let name = name.trim().trim_matches('"');
        let is_part = |c: char| c.is_alphanumeric() || "_.[]".contains(c);
        let first = name.trim_start_matches('[').chars().next();
        first.is_some_and(|c| c.is_alphabetic() || c == '_') && name.chars().all(is_part)
    };
    first.split(',').all(is_name).then_some(("CSV", ".csv"))
}

/// Without a byte order mark.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn malformed(reason: &impl ToString) -> RequestError {
    RequestError::Csv {
        reason: excerpt(&reason.to_string(), 200),
    }
}

/// How many names a column's name may consist of. JSON is hardly read deeper.
const DEEPEST: usize = 100;

/// What a message of a row has: its columns, by their places, and messages within it.
#[derive(Default)]
struct Columns(Vec<(String, Node)>);

enum Node {
    Cell(usize, Field),
    Message(Columns),
}

fn columns(header: &[String], input: &Message) -> Result<Columns, RequestError> {
    let mut all = Columns::default();
    for (place, name) in header.iter().enumerate() {
        if name.is_empty() {
            let number = place + 1;
            let reason = format!("column {number} has no name: give it that of a field");
            return Err(RequestError::Csv { reason });
        }
        let parts = messages::keys(name);
        let added = match parts.len() > DEEPEST {
            true => Err("is nested too deeply".to_owned()),
            false => all.add(&parts, place, input),
        };
        added.map_err(|reason| {
            let name = excerpt(name, 60);
            RequestError::Csv {
                reason: format!("the column `{name}` {reason}"),
            }
        })?;
    }
    Ok(all)
}

impl Columns {
    fn add(&mut self, parts: &[&str], place: usize, message: &Message) -> Result<(), String> {
        let (part, rest) = parts.split_first().ok_or("has no name")?;
        let field = message.field_by_key(part).ok_or_else(|| {
            let fields = suggest::keys(message, part);
            let hint = match suggest::closest(part, &fields) {
                None if part.contains([';', '\t']) => "commas separate columns".to_owned(),
                _ => suggest::hint_of(part, &fields, "its fields are ", "its fields are"),
            };
            format!("is no field of `{}`; {hint}", message.full_name())
        })?;
        let name = match part.starts_with('[') {
            true => (*part).to_owned(),
            false => field.json_name().to_owned(),
        };
        let known = self.0.iter_mut().find(|(known, _)| *known == name);
        match (rest, known, field.kind()) {
            ([_, ..], _, Kind::Message(message)) if message.has_own_json() => {
                let (of, within) = (message.full_name(), rest.join("."));
                return Err(format!(
                    "reaches into a `{of}`, which is one value in JSON: leave out `.{within}`"
                ));
            }
            ([], None, _) => self.0.push((name, Node::Cell(place, field))),
            ([_, ..], Some((_, Node::Message(inner))), Kind::Message(message)) => {
                inner.add(rest, place, &message)?;
            }
            ([_, ..], None, Kind::Message(message)) if !field.is_list() && !field.is_map() => {
                let mut inner = Self::default();
                inner.add(rest, place, &message)?;
                self.0.push((name, Node::Message(inner)));
            }
            (_, Some(_), _) => return Err("is there twice".to_owned()),
            _ => return Err(format!("reaches into `{name}`, which is not one message")),
        }
        Ok(())
    }

    /// A row as JSON; `None` if all of its cells are empty.
    fn row(&self, record: &csv::StringRecord, actions: bool) -> Option<String> {
        let mut json = String::new();
        for (name, node) in &self.0 {
            let value = match node {
                Node::Message(inner) => inner.row(record, actions),
                Node::Cell(place, field) => {
                    let cell = record.get(*place).filter(|cell| !cell.is_empty());
                    cell.map(|cell| value(field, cell, actions))
                }
            };
            if let Some(value) = value {
                json.push(if json.is_empty() { '{' } else { ',' });
                json += &format!("\"{name}\":{value}");
            }
        }
        (!json.is_empty()).then(|| json + "}")
    }
}

/// A cell as JSON, by the type of its field.
fn value(field: &Field, cell: &str, actions: bool) -> String {
    let kind = match field.kind() {
        // The value of a wrapper such as `google.protobuf.BoolValue`.
        Kind::Message(message)
            if message.has_own_json() && message.full_name().ends_with("Value") =>
        {
            message.field(1).map_or(field.kind(), |value| value.kind())
        }
        kind => kind,
    };
    let bare = cell.trim();
    let is_bare = match kind {
        _ if field.is_list() || field.is_map() => true,
        Kind::String | Kind::Bytes => false,
        // Spreadsheets write `TRUE`.
        Kind::Bool
            if ["true", "false"]
                .iter()
                .any(|word| bare.eq_ignore_ascii_case(word)) =>
        {
            return bare.to_ascii_lowercase();
        }
        Kind::Bool => true,
        _ => serde_json::from_str::<IgnoredAny>(bare).is_ok(),
    };
    let text = match kind {
        Kind::String => cell,
        _ => bare,
    };
    match is_bare {
        true => bare.to_owned(),
        false if actions => template::json_string(text),
        false => Value::from(text).to_string(),
    }
}
