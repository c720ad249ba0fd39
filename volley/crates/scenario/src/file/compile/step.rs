//! Steps: what one entry of `steps` does.

use super::Compiler;
use super::names::LAST_URL;
use crate::file::mistake::{Mistake, Path};
use crate::file::model::Step as Written;
use crate::plan::{Action, Part, Request, Save, Step};
use crate::response::Reading;
use volley_base::words;

/// Keys of a request; of what they say, HTTP and gRPC have some for themselves.
const REQUEST: [&str; 18] = words! {
    name headers json text form multipart body metadata message messages repeat expect save
    timeout redirects lua think draw
};
const ONLY_HTTP: [&str; 8] = words! {
    headers json text form multipart body redirects lua
};
const ONLY_GRPC: [&str; 4] = ["metadata", "message", "messages", "repeat"];

/// What a step is sent with.
enum Verb<'a> {
    Http {
        key: &'static str,
        method: &'a str,
        url: &'a str,
    },
    Grpc(&'a str),
}

impl Verb<'_> {
    fn key(&self) -> &'static str {
        match self {
            Self::Http { key, .. } => key,
            Self::Grpc(_) => "grpc",
        }
    }
}

fn verbs(step: &Written) -> Vec<Verb<'_>> {
    let plain = [
        ("get", "GET", &step.get),
        ("post", "POST", &step.post),
        ("put", "PUT", &step.put),
        ("patch", "PATCH", &step.patch),
        ("delete", "DELETE", &step.delete),
        ("head", "HEAD", &step.head),
        ("options", "OPTIONS", &step.options),
    ];
    let plain = plain.into_iter().filter_map(|(key, method, url)| {
        let url = url.as_deref()?;
        Some(Verb::Http { key, method, url })
    });
    let explicit = step.request.iter().map(|request| Verb::Http {
        key: "request",
        method: &request.method,
        url: &request.url,
    });
    let grpc = step.grpc.iter().map(|url| Verb::Grpc(url));
    plain.chain(explicit).chain(grpc).collect()
}

/// Whether a step has a request.
pub(super) fn asks(step: &Written) -> bool {
    step.together.is_some() || !verbs(step).is_empty()
}

/// Several keys in a message.
fn list(keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    keys.join(" and ")
}

impl Compiler<'_> {
    /// Compiles a list of steps.
    pub(super) fn actions(&mut self, at: &Path, steps: &[Written]) -> Vec<Action> {
        let first = self.steps.len();
        let mut actions = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let refreshes = self.refreshes.len();
            let action = self.action(&at.index(index), step);
            for refresh in self.refreshes.iter_mut().skip(refreshes) {
                refresh.action = actions.len();
            }
            actions.extend(action);
            actions.extend(step.think.map(|think| Action::Think {
                least_ns: think.0.least.0,
                most_ns: think.0.most.0,
            }));
        }
        if self.scope.uses_last_url
            && let Some(slot) = self.slot(at, LAST_URL)
        {
            for step in self.steps.iter_mut().skip(first) {
                step.saves.push(Save {
                    slot,
                    part: Part::Url,
                    regex: None,
                    default: None,
                });
            }
        }
        for step in self.steps.iter().skip(first) {
            if let Err(error) = Reading::new(step, &self.names.slots) {
                let problem = format!("step `{}`: {error}", step.name);
                self.mistakes
                    .push(Mistake::new(step.line, at.clone(), problem));
            }
        }
        actions
    }

    fn action(&mut self, at: &Path, step: &Written) -> Vec<Action> {
        let verbs = verbs(step);
        let mut kinds: Vec<&str> = verbs.iter().map(Verb::key).collect();
        kinds.extend(step.together.is_some().then_some("together"));
        kinds.extend(step.draw.is_some().then_some("draw"));
        match (kinds.len(), &step.together, &step.draw, verbs.first()) {
            (0, ..) => {
                if step.think.is_none() {
                    let remedy = "add one with its URL, such as `get: ${api}/`";
                    self.wrong(at, format!("the step has no request: {remedy}"));
                    if let Some(name) = &step.name {
                        self.note_unplanned(name.clone());
                    }
                } else {
                    self.refuse(
                        at,
                        &REQUEST,
                        &["think"],
                        "belongs to a request, and the step has none: add a URL, or drop it",
                    );
                }
                Vec::new()
            }
            (1, Some(steps), ..) => {
                self.refuse(
                    at,
                    &REQUEST,
                    &["think"],
                    "belongs to one request: move it into `together`",
                );
                self.together(&at.key("together"), steps)
            }
            (1, _, Some(names), _) => {
                self.refuse(
                    at,
                    &REQUEST,
                    &["think", "draw"],
                    "belongs to a request: make a step of its own for `draw`",
                );
                let names: Vec<_> = names.at(&at.key("draw")).collect();
                let draws = names.into_iter().map(|(at, name)| self.draw(&at, name));
                let draws: Vec<Option<usize>> = draws.collect();
                draws.into_iter().flatten().map(Action::Draw).collect()
            }
            (1, .., Some(verb)) => {
                let sent = self.request(at, step, verb);
                let Some((index, target)) = sent else {
                    // Later steps may use what this one would have saved.
                    let target = self.scope.last.unwrap_or(0);
                    self.saved(step, target);
                    return Vec::new();
                };
                self.saved(step, target);
                self.scope.last = Some(target);
                vec![Action::Step(index)]
            }
            _ => {
                let kinds = list(&kinds);
                let problem =
                    format!("{kinds} are several actions: keep one, or make a step of each");
                self.wrong(at, problem);
                // What else is wrong with it shows, too.
                if let Some((last, others)) = verbs.split_last()
                    && !matches!(last, Verb::Grpc(_))
                {
                    for verb in others {
                        if let Verb::Http { key, url, .. } = verb {
                            self.url(&at.key(key), url);
                        }
                    }
                    self.request(at, step, last);
                }
                self.saved(step, 0);
                Vec::new()
            }
        }
    }

    /// Requests at the same time. None knows what the others save.
    fn together(&mut self, at: &Path, steps: &[Written]) -> Vec<Action> {
        let mut sent = Vec::new();
        let mut targets = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let at = at.index(index);
            match verbs(step)[..] {
                [ref verb] if step.together.is_none() && step.draw.is_none() => {
                    if step.think.is_some() {
                        self.wrong(
                            &at.key("think"),
                            "a request in `together` has no `think`: write it after `together`",
                        );
                    }
                    let request = self.request(&at, step, verb);
                    sent.extend(request.map(|(index, _)| index));
                    targets.push((step, request.map_or(0, |(_, target)| target)));
                }
                _ => self.wrong(&at, "`together` has only requests, one in each item"),
            }
        }
        if steps.is_empty() {
            self.wrong(at, "it is empty: add requests, or drop it");
        }
        for (step, target) in targets {
            self.saved(step, target);
            self.scope.last = Some(target);
        }
        vec![Action::Together(sent)]
    }

    /// From here on, what a step saves can be used.
    fn saved(&mut self, step: &Written, target: usize) {
        for (name, _) in step.save.iter() {
            self.scope.saved.insert(name.to_owned(), target);
        }
        for name in self.assigned(step) {
            self.scope.saved.insert(name, target);
        }
    }

    /// One request: its index, and its target.
    fn request(&mut self, at: &Path, step: &Written, verb: &Verb<'_>) -> Option<(usize, usize)> {
        let before = self.mistakes.len();
        let (Verb::Http { url: written, .. } | Verb::Grpc(written)) = verb;
        let lua = self.lua(&at.key("lua"), step);
        let (url, request) = match verb {
            Verb::Http { key, method, url } => {
                self.refuse(
                    at,
                    &ONLY_GRPC,
                    &[],
                    "is for `grpc`: an HTTP request has `headers` and a body",
                );
                let place = match *key {
                    "request" => at.key("request").key("url"),
                    key => at.key(key),
                };
                let url = self.url(&place, url);
                let method = self.method(&at.key("request").key("method"), method);
                let request = self.http(at, step);
                let request = method.zip(request).map(|(method, request)| {
                    Request::Http(crate::plan::HttpRequest { method, ..request })
                });
                (url, request)
            }
            Verb::Grpc(text) => {
                self.refuse(
                    at,
                    &ONLY_HTTP,
                    &[],
                    "is for HTTP: a `grpc` call has `metadata` and `message`",
                );
                let url = self.url(&at.key("grpc"), text);
                let request = self.grpc(at, step, url.as_ref());
                (url, request.map(|request| Request::Grpc(Box::new(request))))
            }
        };
        let name = self.step_name(at, step, verb);
        let method = match &request {
            Some(Request::Grpc(grpc)) => Some(&grpc.method),
            _ => None,
        };
        let is_grpc = matches!(verb, Verb::Grpc(_));
        let expected = at.key("expect");
        let mut expect = self.expect(&expected, &step.expect, is_grpc, method);
        let saves = self.saves(&at.key("save"), step, is_grpc, method);
        self.check_time(&at.key("timeout"), step.timeout);
        if lua
            .as_ref()
            .is_some_and(|script| script.names("validate_response"))
            && expect.status.is_empty()
        {
            // That function alone decides.
            expect.status.push((100, 999));
        }
        self.scope.step += 1;
        let sent = url.zip(request).filter(|_| self.mistakes.len() == before);
        let Some(((url, target), request)) = sent else {
            self.note_unplanned(name);
            return None;
        };
        let timeout = self.timeouts.get(target).copied();
        self.steps.push(Step {
            name,
            scenario: self.scope.scenario.clone(),
            line: self.node.line(at),
            written_url: (*written).into(),
            url,
            request,
            timeout_ns: step.timeout.map(|time| time.0).or(timeout),
            expect,
            saves,
            lua,
            keeps_response: false,
        });
        Some((self.steps.len() - 1, target))
    }

    /// A step that is wrong: thresholds may name it all the same.
    fn note_unplanned(&mut self, name: String) {
        let full = format!("{}.{name}", self.scope.scenario);
        self.unplanned.extend([full, name]);
    }

    /// The step's name, which no other step of the scenario has.
    fn step_name(&mut self, at: &Path, step: &Written, verb: &Verb<'_>) -> String {
        let name = step.name.clone().unwrap_or_else(|| match verb {
            Verb::Http { method, url, .. } => format!("{method} {url}"),
            Verb::Grpc(url) => url.rsplit('/').next().unwrap_or(url).to_owned(),
        });
        if name.trim().is_empty() {
            self.wrong(&at.key("name"), "a name is not empty");
        }
        if !self.scope.names.insert(name.clone()) {
            let remedy = "give each a `name` of its own";
            self.wrong(at, format!("two steps are named `{name}`: {remedy}"));
        }
        name
    }
}
