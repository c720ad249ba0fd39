//! Requests of a thread: from the coroutine to a connection, and what came of them back to the coroutine.

use std::sync::Arc;

use super::MEMORY;
use super::answer::Answer;
use super::links::make_room;
use super::open_request::{Draft, Fields, OpenRequest, Response};
use super::task::Waiter;
use super::turn::is_open;
use super::worker::Worker;
use crate::Text;
use crate::Values;
use crate::engine::flight::{Fault, FlightKey};
use crate::engine::heads::{field, indexing};
use crate::engine::wire::Http;
use crate::plan::HttpRequest;
use crate::request::{Ask as Rendered, Http1Head};
use crate::script::Trouble;
use crate::tally::{Failure, Reason};
use volley_http::grpc::{Code, Status, status};
use volley_http::http::is_idempotent;
use volley_http::http2::hpack::{HeaderList, Indexing, literal, literal_name};
use volley_http::http2::{Closed, Head, Own};

/// After so many refusals, a request fails.
const MOST_REFUSALS: u8 = 10;

impl Worker {
    /// A request of a coroutine.
    pub(super) fn send_new(&mut self, waiter: Waiter, draft: Box<Draft>, waits: bool, now_ns: u64) {
        let known = (draft.row.clone(), draft.is_grpc);
        let row = match self.rows.get(&known) {
            Some(row) => *row,
            None => {
                let row = self.shared.rows.of(&known.0, known.1);
                make_room(&mut self.rows, |_| false);
                self.rows.insert(known, row);
                row
            }
        };
        let pool = self.pool(&draft.base);
        self.hold(draft.bytes());
        self.serial += 1;
        let (serial, timeout_ns) = (self.serial, draft.timeout_ns);
        let key = self.calls.insert(OpenRequest {
            draft,
            serial,
            row,
            pool: pool.as_ref().copied().unwrap_or(usize::MAX),
            waiter: waits.then_some(waiter),
            sender: (!waits).then_some(waiter),
            place: None,
            id: (0, 0),
            asked_ns: now_ns,
            sent_ns: None,
            first_ns: None,
            is_answered: false,
            refusals: 0,
            received: 0,
            response: Response::default(),
            fault: None,
        });
        let (flight, calls) = (u32::try_from(key).unwrap_or(u32::MAX), &self.calls);
        self.deadlines
            .add(timeout_ns, now_ns, flight, serial, |key, serial| {
                is_open(calls, key, serial)
            });

        match pool {
            Ok(at) => self.send(at, key, now_ns),
            Err(words) => self.finish(key, Err(Fault::new(Reason::Connect, words)), now_ns),
        }
    }

    /// Counts bytes of a request that is not over. Too many end the run.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
        if self.held > MEMORY {
            let words = format!(
                "{}: requests that are not over, and their responses, have more than {} MiB",
                self.shared.script.name,
                MEMORY >> 20
            );
            self.fail(Trouble::Broken(words));
        }
    }

    /// Writes a request to a connection with room.
    pub(super) fn write(&mut self, key: usize, at: usize, now_ns: u64) {
        let (Some(call), Some(wire)) = (self.calls.get_mut(key), self.net.wires.get_mut(at)) else {
            return;
        };
        let flight = FlightKey(u32::try_from(key).unwrap_or(u32::MAX));
        let draft = &call.draft;
        let scheme = if draft.base.is_tls { "https" } else { "http" };
        let before = wire.http.unsent(0);
        let stream = match &mut wire.http {
            Http::Two(http) => {
                let kind = (
                    draft.method.clone(),
                    draft.base.is_tls,
                    draft.authority.clone(),
                );
                make_room(&mut self.heads, |_| false);
                let place = self.heads.len() + 1;
                let head = self.heads.entry(kind).or_insert_with(|| {
                    let fields = [
                        (":method", draft.method.as_bytes()),
                        (":scheme", scheme.as_bytes()),
                        (":authority", draft.authority.as_bytes()),
                    ];
                    let fields = fields.into_iter().map(|(name, value)| field(name, value));
                    Arc::new(Head {
                        fields: fields.collect(),
                        before_own: 3,
                        place,
                    })
                });
                let (mut first, mut last, mut begin) = (Vec::new(), Vec::new(), Vec::new());
                literal_name(b":path", Indexing::Without, &mut begin);
                literal(&begin, &draft.path, &mut first);
                for (name, value) in &draft.fields {
                    begin.clear();
                    let text = String::from_utf8_lossy(name);
                    literal_name(name, indexing(&text, Indexing::Without), &mut begin);
                    literal(&begin, value, &mut last);
                }
                let own = Own {
                    first: &first,
                    last: &last,
                };
                let ends = draft.body.is_empty() && !draft.is_grpc;
                let stream = http.open_with(flight, head, own, ends);
                if !ends {
                    http.send(stream, &draft.body, true);
                }
                stream
            }
            Http::One(http) => {
                let headers = draft.fields.iter().map(|(name, value)| {
                    let name = String::from_utf8_lossy(name).into_owned();
                    (name.into(), Text::fixed(&value[..]))
                });
                let request = HttpRequest {
                    method: draft.method.as_str().into(),
                    headers: headers.collect(),
                    body: None,
                    redirects: 0,
                };
                let lines = Http1Head::new(&request);
                let ask = Rendered {
                    authority: draft.authority.as_bytes(),
                    body: (!draft.body.is_empty()).then_some(draft.body.len()),
                    ..Rendered::default()
                };
                let write_path = |out: &mut Vec<u8>| {
                    out.extend_from_slice(&draft.path);
                    Ok(())
                };
                let mut out = Vec::new();
                // Without slots, nothing can be missing.
                let _ = lines.render(&ask, &Values::new(0), write_path, &mut out);
                http.open(flight, &out, lines.is_head());
                http.send(&draft.body);
                u32::try_from(http.opened()).unwrap_or(u32::MAX)
            }
        };
        let bytes = wire.http.unsent(stream).saturating_sub(before) as u64;
        call.place = Some((at, stream));
        match call.sent_ns {
            None => {
                // Sent again, it is still known by this.
                call.id = (wire.owner.number, stream.into());
                call.sent_ns = Some(now_ns);
                self.tally.sent(call.row, now_ns, bytes);
                if now_ns > call.asked_ns {
                    self.tally.waited(call.row);
                }
            }
            Some(sent_ns) => self.tally.sent_again(call.row, sent_ns, bytes),
        }
        let id = call.id;
        if let Some(sender) = call.sender.take() {
            self.sent.insert(id, key);
            self.wake(sender, Answer::Sent(Some(id)));
        }
        self.net.touch(at);
    }

    /// Whether a request may be sent again that its server has perhaps not seen: once, if it changes nothing twice.
    pub(super) fn may_repeat(&mut self, key: usize) -> bool {
        let Some(call) = self.calls.get_mut(key) else {
            return false;
        };
        let may = is_idempotent(&call.draft.method) && call.refusals == 0;
        if may {
            call.refusals += 1;
            call.place = None;
        }
        may
    }

    /// A request's stream is over.
    pub(super) fn closed(&mut self, key: usize, why: Closed, now_ns: u64) {
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        let fault = |reason, words: &str| Err(Fault::new(reason, words.to_owned()));
        let done = match (call.fault.take(), why) {
            (Some(fault), _) => Err(fault),
            (None, Closed::Ended) => Ok(()),
            (None, Closed::Refused) if call.is_answered => fault(
                Reason::Reset,
                "the server refused it after its answer had begun",
            ),
            (None, Closed::Refused) if call.refusals < MOST_REFUSALS => {
                call.refusals += 1;
                call.place = None;
                let at = call.pool;
                if let Some(pool) = self.pools.get_mut(at) {
                    pool.waiting.push_back(key);
                }
                return;
            }
            (None, Closed::Refused) => {
                fault(Reason::GoAway, "the server refused it again and again")
            }
            (None, Closed::Reset(code)) => {
                let words = match code {
                    Ok(code) => format!("the server reset it: {code}"),
                    Err(number) => format!("the server reset it: code {number}"),
                };
                Err(Fault::new(Reason::Reset, words))
            }
            (None, Closed::Malformed(rule)) => fault(Reason::Protocol, rule),
            (None, Closed::Cancelled) => fault(Reason::Closed, "it was given up"),
        };
        self.finish(key, done, now_ns);
    }

    /// A request has taken too long.
    pub(super) fn give_up(&mut self, key: usize, now_ns: u64) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (place, at) = (call.place, call.pool);
        let sent_ns = call.sent_ns.unwrap_or(now_ns);
        let timeout_ns = call.draft.timeout_ns;
        if let Some((wire, stream)) = place
            && let Some(wire) = self.net.wires.get_mut(wire)
        {
            wire.http.cancel(stream);
        }
        if let Some(pool) = self.pools.get_mut(at) {
            pool.waiting.retain(|waiting| *waiting != key);
        }
        self.finish(key, Err(too_late(timeout_ns)), now_ns);
        if let Some((wire, _)) = place {
            self.net.touch(wire);
            self.net.overdue(wire, sent_ns, now_ns);
            self.look_at(wire, now_ns);
        }
    }

    /// A request is over: it is counted, and its coroutine goes on.
    pub(super) fn finish(&mut self, key: usize, done: Result<(), Fault>, now_ns: u64) {
        let Some(mut call) = self.calls.try_remove(key) else {
            return;
        };
        self.held -= call.draft.bytes() + call.response.bytes();
        let timeout_ns = call.draft.timeout_ns;
        let is_late = now_ns.saturating_sub(call.asked_ns) >= timeout_ns;
        let done = match is_late {
            true => done.and(Err(too_late(timeout_ns))),
            false => done,
        };
        let is_complete = done.is_ok();
        let (status, done) = match done {
            Err(fault) => (None, Err(fault)),
            Ok(()) => judge(&call),
        };
        let failure = done.as_ref().err().map(|fault| Failure {
            reason: fault.reason,
            what: &fault.words,
        });
        match &failure {
            Some(failure) if call.sent_ns.is_none() => {
                self.tally.unsent(call.row, &call.timing(now_ns), failure);
            }
            _ => self.tally.ended(
                call.row,
                &call.timing(now_ns),
                status,
                call.received,
                failure.as_ref().map_or(Ok(()), Err),
            ),
        }
        if call.draft.is_grpc {
            call.response.decode_texts();
        }
        let response = is_complete.then(|| Box::new(std::mem::take(&mut call.response)));
        if let Some(sender) = call.sender {
            self.wake(sender, Answer::Sent(None));
            return;
        }
        let is_unawaited = self.sent.remove(&call.id).is_some() && call.waiter.is_none();
        match call.waiter {
            Some(waiter) => self.wake(waiter, Answer::Response(response)),
            None if is_unawaited => self.kept.insert(call.id, response),
            None => {}
        }
    }

    pub(super) fn await_response(&mut self, waiter: Waiter, id: (u64, u64)) {
        if let Some(response) = self.kept.take(id) {
            return self.wake(waiter, Answer::Response(response));
        }
        let open = self.sent.get(&id).and_then(|key| self.calls.get_mut(*key));
        match open {
            Some(call) if call.waiter.is_none() => call.waiter = Some(waiter),
            _ => self.wake(waiter, Answer::Response(None)),
        }
    }
}

/// Why a request has failed that was not over within its time.
#[cold]
fn too_late(timeout_ns: u64) -> Fault {
    let ms = timeout_ns / 1_000_000;
    Fault::new(
        Reason::Timeout,
        format!("no complete response within {ms} ms"),
    )
}

/// The status of a complete response, and whether it is a good one.
fn judge(call: &OpenRequest) -> (Option<u16>, Result<(), Fault>) {
    let response = &call.response;
    if !call.draft.is_grpc {
        let status = response.status;
        let done = match status {
            200..400 => Ok(()),
            _ => Err(Fault::new(Reason::Status, format!("status {status}"))),
        };
        return (Some(status), done);
    }
    let list = |fields: &Fields| {
        let mut list = HeaderList::new();
        fields
            .iter()
            .for_each(|(name, value)| list.push(name, value));
        list
    };
    let (head, trailers) = (list(&response.fields), list(&response.trailers));
    let is_head_only = response.is_head_only;
    let of_head =
        Status::from_headers(&head, is_head_only).filter(|status| is_head_only || !status.is_ok());
    let status = match of_head {
        Some(status) if trailers.is_empty() || !status::has_grpc(&head) => status,
        _ if !trailers.is_empty() => Status::from_trailers(&trailers),
        _ => Status::new(
            Code::Internal,
            "the server closed the stream without sending trailers",
        ),
    };
    let done = match status.is_ok() {
        true => Ok(()),
        false => Err(Fault::new(Reason::Status, status.to_string())),
    };
    (Some(status.code as u16), done)
}
