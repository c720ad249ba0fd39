//! Keeping what was sent and received, for those who asked for it.

use std::collections::HashSet;

use super::flight::Flight;
use super::prepared_request::Aim;
use crate::plan::{Plan, Request, Step};
use crate::record::{Exchange, Fields, Record};
use crate::script::Rewritten;
use crate::secrets::{is_lifetime, is_secret_slot};
use crate::tally::Timing;
use crate::{Slot, Text, Values};
use volley_http::grpc::status;
use volley_http::http2::hpack::HeaderList;

use super::flight::Fault;

/// What is sent to a path, with the value of `cookie`.
#[cold]
pub fn request(
    plan: &Plan,
    step: &Step,
    aim: Aim<'_>,
    path: &[u8],
    cookies: &[u8],
    values: &Values,
) -> Exchange {
    let mut url = Vec::new();
    if let Some(host) = aim.site.hosts.get(aim.host) {
        host.write_url(path, &mut url);
    }
    let rendered = |text: &Text| {
        let mut bytes = Vec::new();
        // What cannot be rendered is not sent.
        let _ = text.render(values, &mut bytes);
        bytes
    };
    let fields = |fields: &[(Box<str>, Text)]| {
        let sent = fields.iter().filter(|(name, _)| aim.sends(name));
        sent.map(|(name, value)| (name.to_string(), rendered(value)))
            .collect()
    };
    let (method, mut headers, body): (_, Fields, _) = match &step.request {
        Request::Http(request) => {
            let own = || request.body.as_ref().map(rendered);
            let body = aim.own_body().map(<[u8]>::to_vec).or_else(own);
            let mut headers: Fields = fields(&request.headers);
            headers.retain(|(name, _)| !aim.changes(name));
            let written = aim.rewritten.into_iter().flat_map(Rewritten::sent);
            let written = written.filter(|(name, _)| aim.sends(name));
            headers.extend(written.map(|(name, value)| (name.to_owned(), value.to_vec())));
            let body = body.filter(|_| !aim.drops_body());
            (aim.method(&request.method), headers, body)
        }
        Request::Grpc(request) => {
            let messages: Vec<_> = request.messages.iter().map(rendered).collect();
            let body = messages.join(&b'\n');
            ("gRPC", fields(&request.metadata), Some(body))
        }
    };
    if !cookies.is_empty() {
        headers.push(("cookie".to_owned(), cookies.to_vec()));
    }
    Exchange {
        method: method.to_owned(),
        url,
        headers,
        body: body.unwrap_or_default().as_slice().into(),
        secrets: secrets(plan, values),
        ..Exchange::default()
    }
}

/// Values whose names promise a secret, whichever step saved them.
pub fn secrets(plan: &Plan, values: &Values) -> Fields {
    let slots = (0..=u16::MAX).map(Slot).zip(&plan.slots);
    let secret = slots.filter(|(_, name)| is_secret_slot(name));
    let filled = secret.filter_map(|(slot, name)| Some((name.clone(), values.get(slot)?.to_vec())));
    filled.collect()
}

/// The beginning of a response for a message.
#[cold]
pub fn said(plan: &Plan, exchange: &mut Exchange, values: &Values) -> Option<String> {
    exchange.secrets.extend(secrets(plan, values));
    exchange.said()
}

/// Headers or trailers as plain data, without pseudo-headers.
#[cold]
pub fn fields(list: &HeaderList) -> Fields {
    let text = |(name, value): (&[u8], &[u8])| {
        let value = status::shown(name, value).into_owned();
        (String::from_utf8_lossy(name).into_owned(), value)
    };
    let named = list.iter().filter(|(name, _)| !name.starts_with(b":"));
    named.map(text).collect()
}

/// A request that is over. `iteration`: its number and its values.
#[cold]
pub fn over(
    plan: &Plan,
    flight: &mut Flight,
    (iteration, values): (Option<u64>, Option<&Values>),
    timing: Timing,
    faults: Vec<Fault>,
) -> Record {
    let mut exchange = flight.exchange.take();
    if let (Some(exchange), Some(step), Some(values)) =
        (&mut exchange, plan.steps.get(flight.step), values)
    {
        exchange.replies = flight.replies;
        let name = |slot: usize| plan.slots.get(slot).cloned().unwrap_or_default();
        let sets = step
            .lua
            .iter()
            .flat_map(|script| script.sets.iter().copied());
        let mut slots: Vec<Slot> = step
            .saves
            .iter()
            .map(|save| save.slot)
            .chain(sets)
            .collect();
        let mut seen = HashSet::new();
        slots.retain(|slot| seen.insert(*slot));
        let saved = slots.into_iter().filter_map(|slot| {
            let value = values.get(slot)?;
            Some((name(slot.0.into()), value.to_vec()))
        });
        exchange.saved = saved.filter(|(name, _)| !is_lifetime(name)).collect();
        // A value that was saved again: both are secrets.
        exchange.secrets.extend(secrets(plan, values));
    }
    Record {
        step: flight.step,
        iteration,
        timing,
        was_sent: flight.was_sent,
        status: flight.status,
        received: flight.received,
        redirects: flight.redirects,
        faults: faults
            .into_iter()
            .map(|fault| (fault.reason, fault.words))
            .collect(),
        exchange,
        is_whole: false,
    }
}
