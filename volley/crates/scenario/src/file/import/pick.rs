//! `value-pickers`: values that later requests use.

use regex::Regex;
use serde_json::Value;

use super::Importer;
use super::object::Object;
use super::request::Sent;
use super::tree::{Entries, Tree, put};
use super::variables::{Piece, Scope, Text, constant};
use crate::file::mistake::Path;

/// The whole value.
const ALL: &str = ".*";

impl Importer<'_> {
    /// The names that a request's pickers fill.
    pub(super) fn picked(&mut self, request: &mut Object<'_>, scope: &mut Scope) {
        for (_, item) in self.items(request, "value-pickers") {
            if let Some(name) = item.get("save-to-variable").and_then(Value::as_str) {
                scope.expect(name);
            }
        }
    }

    /// Reads the pickers of a request. What is left is `save`.
    pub(super) fn pick(
        &mut self,
        request: &mut Object<'_>,
        sent: &Sent,
        scope: &mut Scope,
    ) -> Entries {
        let mut saves = Entries::new();
        for mut picker in self.objects(request, "value-pickers") {
            let place = self.needed(&mut picker, "where-to-pickup-from");
            let source = self.needed(&mut picker, "source");
            let regex = self.text(&mut picker, "regexp");
            if regex.is_none() {
                self.fault(&picker.at, "regexp-needed");
            }
            let name = self.needed(&mut picker, "save-to-variable");
            let at = picker.at.clone();
            self.finish(picker);
            if let (Some(place), Some(source), Some(name)) = (place, source, name) {
                let regex = regex.unwrap_or(ALL);
                self.picker(&at, place, source, regex, name, sent, scope, &mut saves);
            }
        }
        saves
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the four of a picker, and what is around it"
    )]
    fn picker(
        &mut self,
        at: &Path,
        place: &str,
        source: &str,
        regex: &str,
        name: &str,
        sent: &Sent,
        scope: &mut Scope,
        saves: &mut Entries,
    ) {
        let mut save = Entries::new();
        match place {
            "Response-Header" if source == ":status" => put(&mut save, "from", "status"),
            "Response-Header" => put(&mut save, "header", source.to_ascii_lowercase()),
            "Json-Pointer-In-Response-Payload" => {
                self.fault(at, "json-text");
                put(&mut save, "json", source);
            }
            "Json-Pointer-In-Request-Payload" => {
                self.fault(at, "pick-pointer");
                if !self.how.as_run {
                    let text = self.of_payload(at, source, sent, scope);
                    self.alias(at, name, text, regex, scope);
                    return;
                }
                put(&mut save, "json", source);
            }
            "Request-Header" => {
                let text = self.of_header(at, source, sent);
                self.alias(at, name, text, regex, scope);
                return;
            }
            _ => {
                let problem = "it is Request-Header, Response-Header, Json-Pointer-In-Request-Payload or Json-Pointer-In-Response-Payload";
                self.wrong(&at.key("where-to-pickup-from"), problem);
                return;
            }
        }
        if regex != ALL {
            put(&mut save, "regex", regex);
            put(&mut save, "group", 0);
        }
        self.fault(at, "pick-nothing");
        if self.how.as_run {
            put(&mut save, "default", "");
        }
        let own = self.saved_name(name, scope);
        let value = Piece::Value {
            name: own.clone(),
            is_plain: false,
        };
        scope.fill(name, vec![value]);
        // Of two pickers with one name, the last one counts.
        saves.retain(|(known, _)| *known != own);
        saves.push((own, Tree::map(save).at(at)));
    }

    /// The name of a saved value: that which it has already, or one that nothing else has.
    fn saved_name(&mut self, name: &str, scope: &mut Scope) -> String {
        if let Some(own) = scope
            .value_of(name)
            .filter(|own| scope.saved.contains(*own))
        {
            return own.to_owned();
        }
        self.new_saved(name, scope)
    }

    /// A name for a saved value, which nothing else has.
    pub(super) fn new_saved(&mut self, wanted: &str, scope: &mut Scope) -> String {
        let own = self.new_name(wanted, |name| scope.saved.contains(name));
        scope.saved.insert(own.clone());
        self.saved.insert(own.clone());
        own
    }

    /// A name becomes what a part of a text says.
    fn alias(&mut self, at: &Path, name: &str, text: Option<Text>, regex: &str, scope: &mut Scope) {
        let Some(text) = text else {
            return;
        };
        if regex == ALL {
            scope.fill(name, text);
            return;
        }
        let at = at.key("regexp");
        let Some(regex) = self.regex(&at, regex, regex) else {
            return;
        };
        let Some(text) = constant(&text) else {
            let problem =
                "volley takes no part of a request that has variables: take all of it, with `.*`";
            self.wrong(&at, problem);
            return;
        };
        let found = regex.find(text).map_or("", |found| found.as_str());
        scope.fill(name, vec![Piece::Fixed(found.to_owned())]);
    }

    /// A regular expression; `written`: as the old file has it.
    pub(super) fn regex(&mut self, at: &Path, written: &str, regex: &str) -> Option<Regex> {
        let regex = Regex::new(regex).ok();
        if regex.is_none() {
            let problem = format!(
                "`{written}` is no regular expression of volley: it has no look-around and no back-references"
            );
            self.wrong(at, problem);
        }
        regex
    }

    /// A header of the request. One that is not there is an empty text.
    fn of_header(&mut self, at: &Path, source: &str, sent: &Sent) -> Option<Text> {
        let fixed = |text: &str| Some(vec![Piece::Fixed(text.to_owned())]);
        if source.starts_with(':') {
            self.fault(at, "pick-pseudo");
            if self.how.as_run {
                return Some(Text::new());
            }
        }
        let uri = sent.uri.as_ref();
        let found = match source {
            ":method" => return fixed(&sent.method),
            ":scheme" => uri.map(|uri| vec![Piece::Fixed(uri.scheme.clone())]),
            ":authority" => uri.map(|uri| vec![Piece::Fixed(uri.authority.clone())]),
            ":path" => uri.map(|uri| uri.path.clone()),
            name => {
                let mut headers = sent.headers.iter();
                let header = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
                return Some(header.map(|(_, text)| text.clone()).unwrap_or_default());
            }
        };
        if found.is_none() {
            let problem = "the URI of this request comes from a response: pick it there";
            self.wrong(&at.key("source"), problem);
        }
        found
    }

    /// A value of the request's payload.
    fn of_payload(&mut self, at: &Path, pointer: &str, sent: &Sent, scope: &Scope) -> Option<Text> {
        let Ok(value) = serde_json::from_str::<Value>(&sent.payload) else {
            let problem = "the payload is no JSON before its variables are filled in";
            self.wrong(&at.key("source"), problem);
            return None;
        };
        let found = match value.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        Some(self.pieces(at, &found, scope, true))
    }
}
