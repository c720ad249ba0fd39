//! Values that are taken from responses.

use std::sync::Arc;

use regex::bytes::Regex;

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::{Save as Written, Step, Taken};
use crate::plan::{After, Part, Pointer, Refresh, Save};
use crate::request::is_token;
use crate::secrets::lifetime_name;
use volley_base::units::duration;
use volley_request::Method;

impl Compiler<'_> {
    pub(super) fn saves(
        &mut self,
        at: &Path,
        step: &Step,
        is_grpc: bool,
        method: Option<&Method>,
    ) -> Vec<Save> {
        let mut saves = Vec::new();
        for (name, Written(taken)) in step.save.iter() {
            let at = at.key(name);
            self.check_save_name(&at, name);
            let part = self.part(&at, taken, is_grpc, method);
            let regex = self.group(&at, taken);
            let slot = self.slot(&at, name);
            let default = taken.default.as_ref().and_then(|value| {
                let at = at.key("default");
                let text = self.as_written(&at, value);
                self.constant(&at, &text)
            });
            let save = part.zip(regex).zip(slot).map(|((part, regex), slot)| Save {
                slot,
                part,
                regex,
                default: default.map(|text| text.into_bytes().into()),
            });
            saves.extend(save);
            if let Some(refresh) = &taken.refresh {
                let age = self.refresh(&at.key("refresh"), name, refresh, is_grpc);
                saves.extend(age.flatten());
            }
        }
        saves
    }

    /// A name that nothing else has.
    fn check_save_name(&mut self, at: &Path, name: &str) {
        self.check_name(at, name);
        let other = if self.target_named(name).is_some() {
            "a target"
        } else if self.feed_named(name).is_some() {
            "data"
        } else if self.scope.common.contains(name) && !self.scope.is_setup {
            "a value of `setup`"
        } else {
            return;
        };
        self.wrong(
            at,
            format!("`{name}` is the name of {other}: choose another"),
        );
    }

    /// Where a value is taken from.
    fn part(
        &mut self,
        at: &Path,
        taken: &Taken,
        is_grpc: bool,
        method: Option<&Method>,
    ) -> Option<Part> {
        let given = [
            ("header", &taken.header),
            ("trailer", &taken.trailer),
            ("cookie", &taken.cookie),
            ("json", &taken.json),
            ("field", &taken.field),
            ("from", &taken.from),
        ];
        let mut given = given
            .iter()
            .filter_map(|(key, text)| Some((*key, text.as_deref()?)));
        let (Some((key, text)), None) = (given.next(), given.next()) else {
            return self.none(
                at,
                "a value has one source: `header`, `trailer`, `cookie`, `json`, `field` or `from`",
            );
        };
        let at = at.key(key);
        match key {
            "header" => Some(Part::Header(self.response_header(&at, text)?)),
            "trailer" => Some(Part::Trailer(self.response_header(&at, text)?)),
            "cookie" => Some(Part::Cookie(text.into())),
            "json" if is_grpc => self.none(&at, "a gRPC reply has fields: write `field: a.b`"),
            "json" => self.pointer(&at, text).map(Part::Field),
            "field" if !is_grpc => {
                self.none(&at, "an HTTP response has a body: write `json: /a/b`")
            }
            "field" => self
                .field(&at, text, method)
                .map(|(pointer, _)| Part::Field(pointer)),
            _ => match text {
                "status" => Some(Part::Status),
                "body" => Some(Part::Body),
                "url" => Some(Part::Url),
                _ => self.none(
                    &at,
                    format!("there is no `{text}`: write `status`, `body` or `url`"),
                ),
            },
        }
    }

    /// The name of a header of a response, in lower case.
    pub(super) fn response_header(&mut self, at: &Path, name: &str) -> Option<Box<str>> {
        let lower = name.to_ascii_lowercase();
        if !is_token(&lower) {
            return self.none(
                at,
                format!("`{name}` is no name of a header: use letters, digits and `-`"),
            );
        }
        Some(lower.into())
    }

    /// A JSON pointer.
    pub(super) fn pointer(&mut self, at: &Path, text: &str) -> Option<Pointer> {
        let pointer = Pointer::parse(text);
        if pointer.is_none() {
            let remedy = "it begins with `/`, and `~` is written `~0`, such as `/items/0/id`";
            self.wrong(at, format!("`{text}` is no JSON pointer: {remedy}"));
        }
        pointer
    }

    /// A regular expression that never changes.
    pub(super) fn regex(&mut self, at: &Path, text: &str) -> Option<Arc<Regex>> {
        let regex = Regex::new(text).map_err(|error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            format!("`{text}` is no regular expression: {reason}")
        });
        self.noted(at, regex).map(Arc::new)
    }

    fn group(&mut self, at: &Path, taken: &Taken) -> Option<Option<(Arc<Regex>, usize)>> {
        let Some(text) = &taken.regex else {
            if taken.group.is_some() {
                self.wrong(&at.key("group"), "it needs `regex`");
            }
            return Some(None);
        };
        let regex = self.regex(&at.key("regex"), text)?;
        let groups = regex.captures_len() - 1;
        let group = taken.group.unwrap_or(groups.min(1));
        if group > groups {
            self.wrong(
                &at.key("group"),
                format!("the regular expression has {groups} groups: lower it"),
            );
        }
        Some(Some((regex, group)))
    }

    /// Notes when a value is asked for again; the value that says so is saved, too.
    fn refresh(
        &mut self,
        at: &Path,
        name: &str,
        written: &crate::file::model::Refresh,
        is_grpc: bool,
    ) -> Option<Option<Save>> {
        if !self.scope.is_setup {
            return self.none(
                at,
                "only values of `setup` are refreshed: move the step there",
            );
        }
        let at = at.key("after");
        let early_ns = written.early.map_or(0, |time| time.0);
        let (after, save) = if written.after.starts_with('/') {
            if is_grpc {
                return self.none(&at, "a gRPC reply has no JSON: give a time such as `30m`");
            }
            let pointer = self.pointer(&at, &written.after)?;
            let slot = self.slot(&at, &lifetime_name(name))?;
            let save = Save {
                slot,
                part: Part::Field(pointer),
                regex: None,
                default: None,
            };
            (After::Seconds(slot), Some(save))
        } else {
            let remedy = "give a time such as `30m`, or a JSON pointer such as `/expires_in`";
            let time =
                duration::parse(&written.after).map_err(|error| format!("{error}; {remedy}"));
            let time = volley_load::pace::whole_ns(self.noted(&at, time)?);
            if time <= early_ns {
                self.wrong(&at, "it must be longer than `early`");
            }
            (After::Fixed(time), None)
        };
        self.refreshes.push(Refresh {
            action: 0,
            after,
            early_ns,
        });
        Some(save)
    }
}
