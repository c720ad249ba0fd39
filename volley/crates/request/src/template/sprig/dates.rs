//! Dates. A time is a text in RFC 3339, or a number of seconds since 1970; it is shown in UTC.

use gotmpl::{TemplateError, Value};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use volley_base::units::duration::parse;

use super::args::{Args, Functions, int, string};

/// Parts of Go's layouts, and how strftime writes them. Of two that begin alike, the longer one comes first.
const PARTS: [(&str, &str); 36] = [
    ("January", "%B"),
    ("Jan", "%b"),
    ("Monday", "%A"),
    ("Mon", "%a"),
    ("MST", "%Z"),
    ("2006", "%Y"),
    ("-07:00", "%:z"),
    ("-0700", "%z"),
    ("-07", "%:::z"),
    ("Z07:00", "Z"),
    ("Z0700", "Z"),
    ("Z07", "Z"),
    (".000000000", ".%9f"),
    (".000000", ".%6f"),
    (".000", ".%3f"),
    (".00", ".%2f"),
    (".0", ".%1f"),
    (".999999999", "%.f"),
    (".999999", "%.6f"),
    (".999", "%.3f"),
    ("002", "%j"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("15", "%H"),
    ("PM", "%p"),
    ("pm", "%P"),
    ("_2", "%e"),
    ("1", "%-m"),
    ("2", "%-d"),
    ("3", "%-I"),
    ("4", "%-M"),
    ("5", "%-S"),
];

pub fn add(all: &mut Functions) {
    all.add(&["now"], |_| string(Timestamp::now().to_string()));
    all.add(&["date"], |args| {
        let (layout, time) = (args.text(0)?, time(args, 1)?);
        let text = strtime::format(strftime(&layout), &time.to_zoned(TimeZone::UTC));
        string(text.map_err(|error| args.wrong(format_args!("`{layout}`: {error}")))?)
    });
    all.add(
        &[
            "dateModify",
            "date_modify",
            "mustDateModify",
            "must_date_modify",
        ],
        |args| {
            let by = signed(args, &args.text(0)?)?;
            let later = time(args, 1)?.checked_add(by);
            string(later.map_err(|error| args.wrong(error))?.to_string())
        },
    );
    all.add(&["unixEpoch"], |args| {
        string(time(args, 0)?.as_second().to_string())
    });
}

/// The time in an argument; without one, the moment.
fn time(args: &Args, place: usize) -> Result<Timestamp, TemplateError> {
    let moment = match args.values.get(place) {
        None | Some(Value::Nil) => Ok(Timestamp::now()),
        Some(Value::String(text)) => match text.parse::<i64>() {
            Ok(seconds) => Timestamp::from_second(seconds),
            Err(_) => text.parse(),
        },
        Some(value) => Timestamp::from_second(int(value).unwrap_or(0)),
    };
    moment.map_err(|error| args.wrong(error))
}

/// Go's layout for strftime.
fn strftime(layout: &str) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some(next) = rest.chars().next() {
        let part = PARTS
            .iter()
            .find_map(|(part, form)| Some((rest.strip_prefix(part)?, *form)));
        if let Some((after, form)) = part {
            (rest, out) = (after, out + form);
            continue;
        }
        out.push(next);
        if next == '%' {
            out.push('%');
        }
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    out
}

/// A duration as Go writes it, perhaps with a sign.
fn signed(args: &Args, text: &str) -> Result<SignedDuration, TemplateError> {
    let (digits, is_negative) = match text.trim().strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let duration = parse(digits).map_err(|error| args.wrong(error))?;
    let duration = SignedDuration::try_from(duration).map_err(|error| args.wrong(error))?;
    Ok(if is_negative { -duration } else { duration })
}
