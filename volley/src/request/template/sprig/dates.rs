//! Dates. A time is a text in RFC 3339, or a number of seconds since 1970; it is shown in UTC unless a zone is given.

use std::time::Duration;

use gotmpl::{TemplateError, Value};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::args::{Args, Functions, Outcome, int, string};
use crate::units::duration::{GoDuration, parse};

const HTML: &str = "2006-01-02";

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
    all.add(&["date"], |args| shown(&args.text(0)?, &time(args, 1)?));
    all.add(&["dateInZone", "date_in_zone"], |args| {
        shown(&args.text(0)?, &in_zone(args, 1, 2)?)
    });
    all.add(&["htmlDate"], |args| shown(HTML, &time(args, 0)?));
    all.add(&["htmlDateInZone"], |args| {
        shown(HTML, &in_zone(args, 0, 1)?)
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
            string(
                later
                    .map_err(|error| args.wrong(error))?
                    .timestamp()
                    .to_string(),
            )
        },
    );
    all.add(&["toDate", "mustToDate"], |args| {
        let (layout, text) = (args.text(0)?, args.text(1)?);
        let parsed = strtime::parse(strftime(&layout, false), &text);
        let moment = parsed.and_then(|parsed| match parsed.to_timestamp() {
            Ok(moment) => Ok(moment),
            Err(_) => Ok(parsed
                .to_datetime()
                .or_else(|_| parsed.to_date().map(Into::into))?
                .to_zoned(TimeZone::UTC)?
                .timestamp()),
        });
        string(moment.map_err(|error| args.wrong(error))?.to_string())
    });
    all.add(&["unixEpoch"], |args| {
        string(time(args, 0)?.timestamp().as_second().to_string())
    });
    all.add(&["ago"], |args| {
        let passed = Timestamp::now().duration_since(time(args, 0)?.timestamp());
        string(go(SignedDuration::from_secs(passed.as_secs())))
    });
    all.add(&["duration"], |args| {
        string(go(SignedDuration::from_secs(args.int(0)?)))
    });
    all.add(&["durationRound"], |args| string(rounded(span(args, 0)?)));
}

/// The time in an argument; without one, the moment.
fn time(args: &Args, place: usize) -> Result<Zoned, TemplateError> {
    let moment = match args.values.get(place) {
        None | Some(Value::Nil) => Ok(Timestamp::now()),
        Some(Value::String(text)) => match text.parse::<Timestamp>() {
            Err(error) => match text.parse::<i64>() {
                Ok(seconds) => Timestamp::from_second(seconds),
                Err(_) => Err(error),
            },
            moment => moment,
        },
        Some(value) => Timestamp::from_second(int(value).unwrap_or(0)),
    };
    Ok(moment
        .map_err(|error| args.wrong(error))?
        .to_zoned(TimeZone::UTC))
}

fn in_zone(args: &Args, place: usize, zone: usize) -> Result<Zoned, TemplateError> {
    let name = args.text(zone)?;
    let zone = match name.as_str() {
        "" | "UTC" | "Local" => TimeZone::UTC,
        name => TimeZone::get(name).map_err(|error| args.wrong(error))?,
    };
    Ok(time(args, place)?.with_time_zone(zone))
}

fn shown(layout: &str, time: &Zoned) -> Outcome {
    let is_utc = time.offset().is_zero();
    let text = strtime::format(strftime(layout, is_utc), time);
    string(
        text.map_err(|error| TemplateError::Exec(format!("the date layout `{layout}`: {error}")))?,
    )
}

/// Go's layout for strftime. The parts that begin with `Z` show a `Z` in UTC, and an offset elsewhere.
fn strftime(layout: &str, is_utc: bool) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some(next) = rest.chars().next() {
        let part = PARTS
            .iter()
            .find_map(|(part, form)| Some((rest.strip_prefix(part)?, *form)));
        (rest, out) = match part {
            Some((after, "Z")) if is_utc => (after, out + "Z"),
            Some((after, "Z")) => (after, out + "%:z"),
            Some((after, form)) => (after, out + form),
            None => {
                out.push(next);
                if next == '%' {
                    out.push('%');
                }
                (rest.get(next.len_utf8()..).unwrap_or_default(), out)
            }
        };
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

fn go(duration: SignedDuration) -> String {
    let sign = if duration.is_negative() { "-" } else { "" };
    format!("{sign}{}", GoDuration(duration.unsigned_abs()))
}

/// How long: nanoseconds, a duration, or the time since a moment.
fn span(args: &Args, place: usize) -> Result<Duration, TemplateError> {
    match args.at(place)? {
        Value::String(text) => match signed(args, text) {
            Ok(duration) => Ok(duration.unsigned_abs()),
            Err(_) => {
                let passed = Timestamp::now().duration_since(time(args, place)?.timestamp());
                Ok(passed.unsigned_abs())
            }
        },
        value => Ok(Duration::from_nanos(int(value).unwrap_or(0).unsigned_abs())),
    }
}

/// Its greatest unit.
fn rounded(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [
        ("y", 31_536_000),
        ("mo", 2_592_000),
        ("d", 86_400),
        ("h", 3600),
        ("m", 60),
        ("s", 1),
    ];
    for (unit, length) in units {
        if let Some(count @ 1..) = seconds.checked_div(length) {
            return format!("{count}{unit}");
        }
    }
    "0s".to_owned()
}
