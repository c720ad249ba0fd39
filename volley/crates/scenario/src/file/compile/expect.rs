//! What a response must be.

use serde_json::Value;

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::{
    Conditions, Expect as Written, Named, OneOrMany, Rule as WrittenRule, Scalar,
};
use crate::plan::{Check, Expect, JsonType, Part, Rule};
use crate::{Escape, Text};
use volley_http::grpc::Code;
use volley_protobuf::Kind;
use volley_request::schema::suggest;
use volley_request::{Method, Rules};

/// Where a condition stands in the file: `json`.
type Group<'a> = (&'static str, &'a Named<WrittenRule>);

/// What a condition becomes.
type Make = fn(Text) -> Rule;

/// A condition's key and text, and what it becomes; the last one if it compares a field with a number.
type Condition<'a> = (&'static str, &'a Option<Scalar>, Make, Option<Make>);

impl Compiler<'_> {
    pub(super) fn expect(
        &mut self,
        at: &Path,
        written: &Written,
        is_grpc: bool,
        method: Option<&Method>,
    ) -> Expect {
        let (foreign, why): (&[&str], _) = if is_grpc {
            (
                &["json", "cookies", "body"],
                "is for HTTP: a gRPC reply has `fields`",
            )
        } else {
            (
                &["fields", "replies", "each", "first_within"],
                "is for `grpc`: an HTTP response has `json` and `body`",
            )
        };
        self.refuse(at, foreign, &[], why);
        let mut checks = Vec::new();
        let groups: [Group<'_>; 5] = [
            ("headers", &written.headers),
            ("trailers", &written.trailers),
            ("cookies", &written.cookies),
            ("json", &written.json),
            ("fields", &written.fields),
        ];
        for (key, rules) in groups {
            for (name, rule) in rules.iter() {
                let at = at.key(key).key(name);
                let part = match key {
                    "headers" => self.response_header(&at, name).map(Part::Header),
                    "trailers" => self.response_header(&at, name).map(Part::Trailer),
                    "cookies" => Some(Part::Cookie(name.into())),
                    "json" => self.pointer(&at, name).map(Part::Field),
                    _ if is_grpc => {
                        let field = self.field(&at, name, method);
                        field.map(|(pointer, kind)| {
                            if let Some(kind) = kind {
                                self.check_literals(&at, &rule.0, &kind);
                            }
                            Part::Field(pointer)
                        })
                    }
                    _ => None,
                };
                let label = format!("{} {name}", key.trim_end_matches('s'));
                if let Some(part) = part {
                    self.rule(&at, &label, &part, rule, &mut checks);
                }
            }
        }
        if let Some(rule) = &written.body {
            let at = at.key("body");
            self.rule(&at, "body", &Part::Body, rule, &mut checks);
        }
        let (status, code) = self.statuses(&at.key("status"), written.status.as_ref(), is_grpc);
        let each: Vec<String> = written.each.iter().cloned().collect();
        if let Some(method) = method
            && let Err(error) = Rules::new(&each, written.replies, method)
        {
            let key = if each.is_empty() { "replies" } else { "each" };
            // It is about the flags of a run.
            let error = error.to_string();
            let flag = ["--expect-replies ", "--expect "];
            let error = flag
                .into_iter()
                .find_map(|flag| error.strip_prefix(flag))
                .unwrap_or(&error);
            self.wrong(&at.key(key), error);
        }
        Expect {
            status,
            code,
            checks,
            within_ns: written.within.map(|time| time.0),
            replies: written.replies,
            each,
            first_within_ns: written.first_within.map(|time| time.0),
        }
    }

    fn statuses(
        &mut self,
        at: &Path,
        written: Option<&OneOrMany<Scalar>>,
        is_grpc: bool,
    ) -> (Vec<(u16, u16)>, Option<u16>) {
        let mut ranges = Vec::new();
        let mut code = None;
        let given: Vec<(Path, &Scalar)> = written.iter().flat_map(|list| list.at(at)).collect();
        for (place, Scalar(text)) in &given {
            if is_grpc {
                code = code.or(self.code(place, text));
                continue;
            }
            match range(text) {
                Some(range) => ranges.push(range),
                None => {
                    let remedy = "write a number such as `201`, or a class such as `2xx`";
                    self.wrong(place, format!("`{text}` is no HTTP status: {remedy}"));
                }
            }
        }
        if is_grpc && given.len() > 1 {
            self.wrong(at, "a gRPC call ends with one status: give one");
        }
        if written.is_some() && given.is_empty() {
            self.wrong(at, "no status is allowed: give one, or drop `status`");
        }
        (ranges, code)
    }

    /// A code of gRPC: `NOT_FOUND`, `NotFound` or 5.
    fn code(&mut self, at: &Path, text: &str) -> Option<u16> {
        let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
        let named = |code: &Code| {
            plain(&format!("{code:?}")) == plain(text) || (*code as u32).to_string() == text
        };
        let code = Code::ALL.iter().find(|code| named(code));
        if code.is_none() {
            let known: Vec<String> = Code::ALL
                .iter()
                .map(|code| screaming(&format!("{code:?}")))
                .collect();
            let hint = suggest::hint(text, &known, "");
            self.wrong(at, format!("`{text}` is no status of gRPC; {hint}"));
        }
        code.and_then(|code| u16::try_from(*code as u32).ok())
    }

    /// The type of a literal. A template has none: its values are texts, whatever they were.
    fn json_type(&self, at: &Path) -> Option<JsonType> {
        match self.node.scalar(at)? {
            Value::String(text) if text.contains("${") => None,
            Value::String(_) => Some(JsonType::Text),
            Value::Number(_) => Some(JsonType::Number),
            _ => Some(JsonType::Word),
        }
    }

    /// Refuses literals that no value of a reply's field can be.
    fn check_literals(&mut self, at: &Path, conditions: &Conditions, kind: &Kind) {
        let what = match kind {
            Kind::Bool => "true or false",
            Kind::String | Kind::Bytes | Kind::Enum(_) | Kind::Message(_) => return,
            _ => "a number",
        };
        for (key, literal) in [("equals", &conditions.equals), ("not", &conditions.not)] {
            let Some(Scalar(text)) = literal.as_ref().filter(|text| !text.0.contains("${")) else {
                continue;
            };
            let fits = match kind {
                Kind::Bool => matches!(text.as_str(), "true" | "false"),
                _ => text.parse::<f64>().is_ok(),
            };
            if !fits {
                let problem = format!("the field is {what}, and never `{text}`: give {what}");
                self.wrong(&at.key(key), problem);
            }
        }
    }

    /// Whether there is a number that a double holds exactly, or that is no whole one.
    fn is_exact(&self, at: &Path) -> bool {
        const MOST: f64 = 9_007_199_254_740_992.0;
        let number = self.node.number(at).and_then(|(number, _)| number.as_f64());
        number.is_some_and(|number| number.abs() < MOST)
    }

    /// One check for each condition.
    fn rule(
        &mut self,
        at: &Path,
        name: &str,
        part: &Part,
        rule: &WrittenRule,
        checks: &mut Vec<Check>,
    ) {
        let conditions = &rule.0;
        let mut add = |name: String, rule, json_type| {
            checks.push(Check {
                name,
                part: part.clone(),
                rule,
                json_type,
            });
        };
        let before = self.mistakes.len();
        let texts: [Condition<'_>; 5] = [
            (
                "equals",
                &conditions.equals,
                Rule::Equals,
                Some(Rule::EqualsNumber),
            ),
            (
                "not",
                &conditions.not,
                Rule::Differs,
                Some(Rule::DiffersFromNumber),
            ),
            (
                "starts_with",
                &conditions.starts_with,
                Rule::StartsWith,
                None,
            ),
            ("ends_with", &conditions.ends_with, Rule::EndsWith, None),
            ("contains", &conditions.contains, Rule::Contains, None),
        ];
        let mut any = false;
        for (key, text, make, of_number) in texts {
            let Some(text) = text else { continue };
            any = true;
            // The short form has no key.
            let long = at.key(key);
            let at = if self.node.has(&long) { &long } else { at };
            let of_number = of_number.filter(|_| matches!(part, Part::Field(_)));
            let (text, make) = match of_number.filter(|_| self.is_exact(at)) {
                // YAML has other forms, such as `0x1F`.
                Some(make) => (self.text(at, &text.0, Escape::Raw), make),
                None => (self.scalar(at, text, Escape::Raw), make),
            };
            let json_type = of_number.and_then(|_| self.json_type(at));
            if let Some(text) = text {
                let name = if key == "equals" {
                    name.to_owned()
                } else {
                    format!("{name} {key}")
                };
                add(name, make(text), json_type);
            }
        }
        if let Some(text) = &conditions.matches {
            any = true;
            if let Some(regex) = self.regex(&at.key("matches"), text) {
                add(format!("{name} matches"), Rule::Matches(regex), None);
            }
        }
        if conditions.at_least.is_some() || conditions.at_most.is_some() {
            any = true;
            let least = conditions.at_least.unwrap_or(f64::NEG_INFINITY);
            let most = conditions.at_most.unwrap_or(f64::INFINITY);
            if least > most {
                self.wrong(&at.key("at_most"), "it is below `at_least`: raise it");
            }
            let keys = match (conditions.at_least, conditions.at_most) {
                (Some(_), Some(_)) => "at_least, at_most",
                (Some(_), None) => "at_least",
                _ => "at_most",
            };
            add(format!("{name} {keys}"), Rule::Between(least, most), None);
        }
        if let Some(exists) = conditions.exists {
            if !exists && any {
                self.wrong(
                    &at.key("exists"),
                    "what is absent has no other conditions: drop them",
                );
            }
            any = true;
            let rule = if exists { Rule::Exists } else { Rule::IsAbsent };
            add(format!("{name} exists"), rule, None);
        }
        if !any && self.mistakes.len() == before {
            self.wrong(
                at,
                "no condition: give a value, or one such as `exists: true`",
            );
        }
    }
}

/// `201`, or `2xx`.
fn range(text: &str) -> Option<(u16, u16)> {
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let class: u16 = class.parse().ok()?;
        return (1..=5)
            .contains(&class)
            .then_some((class * 100, class * 100 + 99));
    }
    let status: u16 = text.parse().ok()?;
    (100..=599).contains(&status).then_some((status, status))
}

/// `NOT_FOUND` of `NotFound`.
fn screaming(name: &str) -> String {
    let mut text = String::new();
    for (place, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && place > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}
