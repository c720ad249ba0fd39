//! A request as lines for people.

use super::line::{reply_text, status};
use super::{Kept, Record, Records};
use crate::secrets::Secrets;
use volley_base::units::numbers::duration;
use volley_report::report::visible;

/// No more of a body is shown, in characters.
const MOST_SHOWN: usize = 4_000;

/// What was sent, after `>`, what came back, after `<`, what was saved, and what was wrong, without secrets.
#[must_use]
pub fn page(records: &Records, record: &Record) -> String {
    let Some(label) = records.labels.get(record.step) else {
        return String::new();
    };
    let mut out = vec![label.names.label()];
    let mut secrets = Secrets::default();
    if let Some(exchange) = record.exchange.as_deref() {
        let reply = reply_text(exchange, label.replies.as_ref());
        secrets = Secrets::of(exchange, &reply);
        let url = secrets.masked(&String::from_utf8_lossy(&exchange.url));
        out.push(format!("  > {} {url}", exchange.method));
        fields(&mut out, '>', secrets.fields(&exchange.headers));
        let body = String::from_utf8_lossy(&exchange.body.bytes);
        text(&mut out, '>', &secrets.masked(&body), &exchange.body);
        if exchange.is_answered {
            let took_ns = record.timing.end_ns.saturating_sub(record.timing.sent_ns);
            let status = match status(label, record.status) {
                serde_json::Value::String(name) => name,
                status => status.to_string(),
            };
            let mut line = format!("  < {status}, after {}", duration(took_ns));
            if label.replies.is_some() {
                let s = if exchange.replies == 1 { "y" } else { "ies" };
                line += &format!(", {} repl{s}", exchange.replies);
            }
            out.push(line);
            fields(&mut out, '<', secrets.fields(&exchange.fields));
            text(&mut out, '<', &secrets.masked(&reply), &exchange.reply);
            fields(&mut out, '<', secrets.fields(&exchange.trailers));
        }
        for (name, value) in secrets.fields(&exchange.saved) {
            out.push(format!("  saved ${{{name}}} = {value}"));
        }
    }
    if record.faults.is_empty() {
        out.push("  ok".to_owned());
    }
    for (reason, words) in &record.faults {
        let reason = label.names.reason(*reason);
        out.push(format!("  FAILED: {reason}: {}", secrets.masked(words)));
    }
    let lines = out.iter().map(|line| format!("{}\n", visible(line)));
    lines.collect()
}

fn fields(out: &mut Vec<String>, mark: char, fields: Vec<(String, String)>) {
    let lines = fields
        .into_iter()
        .map(|(name, value)| format!("  {mark} {name}: {value}"));
    out.extend(lines);
}

fn text(out: &mut Vec<String>, mark: char, text: &str, kept: &Kept) {
    if text.is_empty() {
        return;
    }
    out.push(format!("  {mark}"));
    let shown: String = text.chars().take(MOST_SHOWN).collect();
    out.extend(shown.lines().map(|line| format!("  {mark} {line}")));
    if shown.len() < text.len() || kept.is_cut() {
        out.push(format!("  {mark} … ({} bytes in all)", kept.length));
    }
}
