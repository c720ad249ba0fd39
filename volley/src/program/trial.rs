//! `volley try`: makes one call and prints all that is seen of it.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::look::nobody;
use super::status::success_if;
use super::{Failure, Out, warn};
use crate::cli::{Format, Trial};
use crate::grpc::{Code, Status};
use crate::plain::{Asked, Caller, Event, LoadError, Lost, Wanted, enough_replies};
use crate::report::trial::{self, Seen};
use crate::report::{write_json, write_pretty_json};
use crate::request::schema::{self, any};
use crate::request::{Method, Request, Shape, Source};
use crate::spec::{SchemaSource, Spec, some};

/// Without a time limit, a call may take this long.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Makes the call and prints what is seen of it. Succeeds if its status is OK, and its replies are what a run takes.
///
/// # Errors
///
/// Whatever prevented the call.
pub fn try_once(trial: &Trial) -> Result<ExitCode, Failure> {
    let Trial { spec, output, .. } = trial;
    warn(&trial.warnings, output);
    warn(spec.request.raised_words().as_slice(), output);
    let out = Out::open(output.file.as_deref())?;
    let (mut method, mut caller, connect) = prepare(spec)?;
    let warning = caller.warning().map(|warning| warning.to_string());
    warn(warning.as_slice(), output);
    let mut source = Source::new(spec, &method).map_err(LoadError::from)?;
    let request = source.next(0, 0).map_err(LoadError::from)?.clone();
    let mut seen = call(trial, method.shape, &mut caller, &request);
    seen.connect = connect;
    let mut json = trial::json(spec, &method, &request, &seen);
    if spec.request.schema == SchemaSource::Reflection {
        let mut server = Asked::over(spec, caller);
        let mut types = any::types_of(&spec.request.data);
        // A type that becomes known may hold others. If they cannot be had, messages are shown as they are.
        while more(&mut types, any::unknown(&json, &method.input))
            && let Ok(found) = server.method_with(&types)
        {
            method = found;
            json = trial::json(spec, &method, &request, &seen);
        }
    }
    out.print(|out| match output.format {
        Format::Json => write_json(&json, out),
        _ => write_pretty_json(&json, out),
    })?;
    Ok(success_if(seen.status.is_ok()))
}

/// Adds names, and says whether there are new ones.
fn more(types: &mut BTreeSet<String>, new: BTreeSet<String>) -> bool {
    let before = types.len();
    types.extend(new);
    types.len() > before
}

/// Finds the method and connects. What can be said against a file is said before the server is asked.
fn prepare(spec: &Spec) -> Result<(Method, Caller, Duration), LoadError> {
    let Some(pool) = schema::read(&spec.request.schema)? else {
        let began = Instant::now();
        let mut server = Asked::connect(spec, &nobody())?;
        let connect = began.elapsed();
        return Ok((server.method()?, server.into_caller(), connect));
    };
    let method = schema::find(&pool, &spec.request.call)?;
    Source::new(spec, &method)?;
    let began = Instant::now();
    let until = began + spec.target.connect_timeout;
    let caller = Caller::connect(&spec.target, spec.request.budget(), &nobody(), until)?;
    Ok((method, caller, began.elapsed()))
}

/// Makes the call as a run makes its first one, and sends all messages at once.
fn call(trial: &Trial, shape: Shape, caller: &mut Caller, request: &Request) -> Seen {
    let spec = &trial.spec;
    let sent = Instant::now();
    let until = sent + some(spec.request.timeout).unwrap_or(LONGEST);
    // When, and after how many replies, the client ends a server's stream.
    let ends = some(trial.stream_duration).filter(|_| shape == Shape::ServerStreaming);
    let ends = ends.and_then(|after| sent.checked_add(after));
    let replies = Wanted {
        expected: Arc::clone(&request.expected),
        longest: spec.request.max_reply as usize,
        enough: enough_replies(spec, shape),
    };
    let mut seen = Seen::default();
    let begun = caller.begin(&request.head, &request.literals, replies);
    if begun.is_ok() {
        caller.send(&request.body.bytes, true);
    }
    let until_next = ends.map_or(until, |ends| ends.min(until));
    let mut next = begun.and_then(|()| caller.next(until_next));
    loop {
        match next {
            Ok((Event::Headers(fields), at)) => {
                seen.headers = Some((fields, at.duration_since(sent)));
            }
            Ok((Event::Reply(reply), at)) => {
                seen.count += 1;
                if seen.count <= trial.max_replies {
                    seen.replies.push((reply, at.duration_since(sent)));
                }
            }
            Ok((Event::Ended { trailers, status }, at)) => {
                (seen.trailers, seen.status) = (trailers, status);
                seen.end = at.duration_since(sent);
                return seen;
            }
            Err(lost) => {
                let wrong = caller.cancel();
                seen.status = wrong.unwrap_or_else(|| match lost {
                    // The client has ended it.
                    Lost::TimedOut if until_next < until => seen.status,
                    Lost::TimedOut => {
                        let limit_s = spec.request.timeout.as_secs_f64();
                        let line = format!("no end within {limit_s} s (`--timeout`)");
                        Status::new(Code::DeadlineExceeded, line)
                    }
                    lost => Status::new(Code::Unavailable, lost.to_string()),
                });
                seen.end = sent.elapsed();
                return seen;
            }
        }
        next = caller.next(until_next);
    }
}
