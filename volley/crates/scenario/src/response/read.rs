//! A step's checks and saves, made ready.

use itoa::Buffer;
use regex::bytes::{CaptureLocations, Regex};
use serde_json::Value;

use super::part::{Fields, Known, ReadingError, Where};
use super::rule::{Hidden, SHOWN, check, differs, pattern};
use super::{Culprit, Verdicts};
use crate::json::Found;
use crate::plan::{JsonType, Part, Request, Rule, Save, Step};
use crate::secrets::is_secret_slot;
use crate::{Slot, Values};
use volley_base::excerpt::{excerpt, list};
use volley_http::grpc::{Code, status};
use volley_http::http2::hpack::HeaderList;

/// Longer bodies are not searched for the names that they have, in bytes.
const MOST_SEARCHED: usize = 64 << 10;

/// No more of these names are listed.
const MOST_NAMES: usize = 6;

/// The most checks of a step: one bit each.
const MOST: usize = 64;

/// What a response's head says.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub fields: &'a HeaderList,
    /// Where it came from; empty unless [`Reading::reads_url`].
    pub url: &'a [u8],
}

/// What the end of a response adds.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// HTTP: the body, decoded. gRPC: the last reply, `None` if there was none. Unread unless [`Reading::reads_body`].
    pub body: Option<&'a [u8]>,
    pub trailers: Option<&'a HeaderList>,
    /// gRPC: the status code.
    pub code: Option<u16>,
}

/// A step's checks and saves; each thread has its own.
#[derive(Debug)]
pub struct Reading {
    /// HTTP: ranges of good statuses; gRPC: the code.
    good: Good,
    head: Moment,
    end: Moment,
    fields: Fields,
    /// Whether checks or saves need values inside of a body.
    has_fields: bool,
    reads_body: bool,
    reads_url: bool,
    room: Room,
    /// The names of slots that checks compare with.
    names: Vec<(Slot, String)>,
    /// All slots whose names promise a secret.
    secrets: Vec<Slot>,
}

#[derive(Debug)]
enum Good {
    Http(Vec<(u16, u16)>),
    Grpc(u16),
}

/// Memory that is used for each response again.
#[derive(Debug, Default)]
struct Room {
    part: Vec<u8>,
    expected: Vec<u8>,
    found: Found,
}

/// What is done at the head, or at the end; with the indices that the plan has.
#[derive(Debug, Default)]
struct Moment {
    checks: Vec<Check>,
    saves: Vec<(usize, Where, Take)>,
}

#[derive(Debug)]
struct Check {
    index: usize,
    place: Where,
    rule: Rule,
    json_type: Option<JsonType>,
    is_secret: bool,
}

/// How a value is taken from a part.
#[derive(Debug)]
struct Take {
    slot: Slot,
    is_secret: bool,
    part: Part,
    regex: Option<Group>,
    default: Option<Box<[u8]>>,
}

#[derive(Debug)]
struct Group {
    regex: Regex,
    group: usize,
    places: CaptureLocations,
}

/// Whether a step needs the body of its response: of gRPC, the last reply.
#[must_use]
pub fn reads_body(step: &Step) -> bool {
    let parts = step.expect.checks.iter().map(|check| &check.part);
    let mut parts = parts.chain(step.saves.iter().map(|save| &save.part));
    step.keeps() || parts.any(|part| matches!(part, Part::Field(_) | Part::Body))
}

impl Reading {
    /// Makes a step's checks and saves ready. `slots`: the names of all slots.
    ///
    /// # Errors
    ///
    /// If there are more than 64 checks, a field of a gRPC reply does not exist, or a value that the end is compared with is
    /// saved from the head before.
    pub fn new(step: &Step, slots: &[String]) -> Result<Self, ReadingError> {
        let checks = &step.expect.checks;
        if checks.len() > MOST {
            return Err(ReadingError::Many(checks.len()));
        }
        let is_grpc = matches!(step.request, Request::Grpc(_));
        let (mut head, mut end) = (Moment::default(), Moment::default());
        let (mut count, mut names, mut reads_url) = (0, Vec::new(), false);
        let secrets = (0..=u16::MAX).map(Slot).zip(slots);
        let secrets = secrets.filter(|(_, name)| is_secret_slot(name));
        let secrets: Vec<Slot> = secrets.map(|(slot, _)| slot).collect();
        for (index, check) in checks.iter().enumerate() {
            let moment = match check.part.is_late(is_grpc) {
                true => &mut end,
                false => &mut head,
            };
            reads_url |= check.part == Part::Url;
            for slot in check.rule.slots() {
                let name = slots.get(usize::from(slot.0)).cloned().unwrap_or_default();
                let is_overwritten = |save: &Save| save.slot == slot && !save.part.is_late(is_grpc);
                if check.part.is_late(is_grpc) && step.saves.iter().any(is_overwritten) {
                    return Err(ReadingError::Overwritten(name));
                }
                names.push((slot, name));
            }
            let place = Where::new(&check.part, &mut count);
            let mut compared = check.rule.slots().into_iter();
            moment.checks.push(Check {
                index,
                place,
                rule: check.rule.own(),
                json_type: check.json_type,
                is_secret: check.part.is_secret() || compared.any(|slot| secrets.contains(&slot)),
            });
        }
        for (index, save) in step.saves.iter().enumerate() {
            let moment = match save.part.is_late(is_grpc) {
                true => &mut end,
                false => &mut head,
            };
            reads_url |= save.part == Part::Url;
            let place = Where::new(&save.part, &mut count);
            moment.saves.push((index, place, Take::new(save, &secrets)));
        }
        Ok(Self {
            good: match is_grpc {
                true => Good::Grpc(step.expect.code.unwrap_or(0)),
                false if step.expect.status.is_empty() => Good::Http(vec![(200, 399)]),
                false => Good::Http(step.expect.status.clone()),
            },
            head,
            end,
            fields: Fields::new(step)?,
            has_fields: count > 0,
            reads_body: reads_body(step),
            reads_url,
            room: Room::default(),
            names,
            secrets,
        })
    }

    /// Whether [`End::body`] is needed.
    #[must_use]
    pub fn reads_body(&self) -> bool {
        self.reads_body
    }

    /// Whether [`Head::url`] is needed.
    #[must_use]
    pub fn reads_url(&self) -> bool {
        self.reads_url
    }

    /// Reads the head of a response: status, header fields, cookies, URL.
    pub fn head(&mut self, head: Head, values: &mut Values, verdicts: &mut Verdicts) {
        if let Good::Http(ranges) = &self.good
            && !ranges
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&head.status))
        {
            verdicts.fail(
                Culprit::Status,
                format!("expected {}, was {}", listed(ranges), head.status),
            );
        }
        if self.head.is_empty() {
            return;
        }
        let mut digits = Buffer::new();
        let known = Known {
            status: digits.format(head.status),
            named: Some(head.fields),
            url: head.url,
            body: None,
        };
        let fields = Err("it is not in the head");
        let slots = (&self.names[..], &self.secrets[..]);
        self.head
            .run(known, fields, values, &mut self.room, slots, verdicts);
    }

    /// Reads the end of a response: gRPC code, trailers, body.
    pub fn end(&mut self, end: End, values: &mut Values, verdicts: &mut Verdicts) {
        let code = end.code.unwrap_or(2);
        if let Good::Grpc(good) = self.good
            && code != good
        {
            let message = end
                .trailers
                .and_then(|trailers| trailers.last(status::MESSAGE));
            let hidden = Hidden {
                is_secret: false,
                slots: &self.secrets,
            };
            let message = message.map(|message| {
                let message = status::shown(status::MESSAGE, message);
                hidden.shown(&message, values)
            });
            verdicts.fail(Culprit::Status, other_code(good, code, message.as_deref()));
        }
        if self.end.is_empty() {
            return;
        }
        let mut digits = Buffer::new();
        let known = Known {
            status: digits.format(code),
            named: end.trailers,
            url: &[],
            body: end.body,
        };
        let read = match end.body {
            Some(body) if self.has_fields => self.fields.find(body, &mut self.room.found),
            _ => Ok(()),
        };
        let fields = match &read {
            Ok(()) => Ok(&self.fields),
            Err(fault) => Err(fault.as_str()),
        };
        let slots = (&self.names[..], &self.secrets[..]);
        self.end
            .run(known, fields, values, &mut self.room, slots, verdicts);
    }
}

impl Moment {
    #[inline]
    fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.saves.is_empty()
    }

    #[inline]
    fn run(
        &mut self,
        known: Known,
        fields: Result<&Fields, &str>,
        values: &mut Values,
        room: &mut Room,
        (names, slots): (&[(Slot, String)], &[Slot]),
        verdicts: &mut Verdicts,
    ) {
        let fields = fields.map(|fields| (fields, &room.found));
        for one in &self.checks {
            let part = one.place.get(known, fields, &mut room.part);
            let hidden = Hidden {
                is_secret: one.is_secret,
                slots,
            };
            let other_type = one.json_type.and_then(|wanted| {
                let is = one.place.json_type(known, fields)?;
                (is != wanted).then_some((wanted, is))
            });
            let verdict = part.and_then(|part| match (other_type, part) {
                (Some(types), Some(part)) => differs(&one.rule, types, part, hidden, values),
                _ => check(&one.rule, part, hidden, values, &mut room.expected, names),
            });
            if let Err(words) = verdict {
                verdicts.fail(Culprit::Check(one.index), words);
            }
        }
        for (index, place, take) in &mut self.saves {
            let part = place.get(known, fields, &mut room.part);
            if let Err(words) = part.and_then(|part| take.save(part, known.body, slots, values)) {
                // What an earlier response gave is no value of this one.
                values.unset(take.slot);
                verdicts.fail(Culprit::Save(*index), words);
            }
        }
    }
}

impl Take {
    fn new(save: &Save, secrets: &[Slot]) -> Self {
        let group = save.regex.as_ref().map(|(regex, group)| Group {
            regex: Regex::clone(regex),
            group: *group,
            places: regex.capture_locations(),
        });
        Self {
            slot: save.slot,
            is_secret: save.part.is_secret() || secrets.contains(&save.slot),
            part: save.part.clone(),
            regex: group,
            default: save.default.clone(),
        }
    }

    #[inline]
    fn save(
        &mut self,
        part: Option<&[u8]>,
        body: Option<&[u8]>,
        slots: &[Slot],
        values: &mut Values,
    ) -> Result<(), String> {
        let value = match (&mut self.regex, part) {
            (Some(group), Some(part)) => group.find(part),
            _ => part,
        };
        let value = value
            .or(self.default.as_deref())
            .ok_or_else(|| match (&self.regex, part) {
                (Some(group), Some(part)) => {
                    let is_secret = self.is_secret;
                    let hidden = Hidden { is_secret, slots };
                    group.missing(part, &hidden.shown(part, values))
                }
                _ => lacks(&self.part, body),
            })?;
        values.set(self.slot, value);
        Ok(())
    }
}

/// What a response does not have; of JSON, the names that it has instead.
#[cold]
fn lacks(part: &Part, body: Option<&[u8]>) -> String {
    let name = match part {
        Part::Header(name) => format!("header `{name}`"),
        Part::Trailer(name) => format!("trailer `{name}`"),
        Part::Cookie(name) => format!("cookie `{name}`"),
        Part::Field(pointer) => {
            let instead = body.and_then(|body| instead(&pointer.keys, body));
            let instead = instead.map(|names| format!("; there is {names}"));
            let name = excerpt(&pointer.text, SHOWN);
            format!("`{name}`{}", instead.unwrap_or_default())
        }
        Part::Body => "body".to_owned(),
        Part::Status => "status".to_owned(),
        Part::Url => "URL".to_owned(),
    };
    format!("the response has no {name}")
}

/// The names that a JSON document has at the place where it lacks one of these keys.
fn instead(keys: &[Box<str>], body: &[u8]) -> Option<String> {
    let document = body.get(..MOST_SEARCHED).is_none().then_some(body)?;
    let document: Value = serde_json::from_slice(document).ok()?;
    let (mut at, mut path) = (&document, String::new());
    for key in keys {
        let next = match at {
            Value::Array(all) => key.parse().ok().and_then(|at: usize| all.get(at)),
            value => value.get(&**key),
        };
        let Some(next) = next else { break };
        (at, path) = (next, format!("{path}/{key}"));
    }
    let names = at.as_object()?.keys().take(MOST_NAMES);
    let names: Vec<String> = names.map(|key| format!("{path}/{key}")).collect();
    (!names.is_empty()).then(|| list(names.iter().map(String::as_str)))
}

impl Group {
    #[inline]
    fn find<'a>(&mut self, part: &'a [u8]) -> Option<&'a [u8]> {
        let range = match self.group {
            0 => self.regex.find(part)?.range(),
            group => {
                self.regex.captures_read(&mut self.places, part)?;
                let (start, end) = self.places.get(group)?;
                start..end
            }
        };
        part.get(range)
    }

    #[cold]
    fn missing(&self, part: &[u8], shown: &str) -> String {
        let regex = pattern(&self.regex);
        match self.regex.is_match(part) {
            true => format!("group {} of {regex} has no part in {shown}", self.group),
            false => format!("expected a match of {regex}, was {shown}"),
        }
    }
}

impl Rule {
    /// The slots that it compares with.
    fn slots(&self) -> Vec<Slot> {
        match self {
            Self::Equals(text)
            | Self::Differs(text)
            | Self::StartsWith(text)
            | Self::EndsWith(text)
            | Self::Contains(text) => text.slots().collect(),
            Self::EqualsNumber(_)
            | Self::DiffersFromNumber(_)
            | Self::Matches(_)
            | Self::Between(..)
            | Self::Exists
            | Self::IsAbsent => Vec::new(),
        }
    }

    /// The same with a regex of its own: threads that share one wait for each other.
    fn own(&self) -> Self {
        match self {
            Self::Matches(regex) => Self::Matches(Regex::clone(regex).into()),
            other => other.clone(),
        }
    }
}

/// Ranges as people write them.
#[cold]
fn listed(ranges: &[(u16, u16)]) -> String {
    let range = |(low, high): &(u16, u16)| match low == high {
        true => low.to_string(),
        false => format!("{low} to {high}"),
    };
    let ranges: Vec<String> = ranges.iter().map(range).collect();
    ranges.join(" or ")
}

#[cold]
fn other_code(good: u16, code: u16, message: Option<&str>) -> String {
    let message = message.map(|message| format!(", {message}"));
    format!(
        "expected {}, was {}{}",
        Code::words(good),
        Code::words(code),
        message.unwrap_or_default()
    )
}
