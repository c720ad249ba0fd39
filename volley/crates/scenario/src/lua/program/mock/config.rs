//! The file of a server, with the keys that h2loadrunner's servers have.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::reply::{Argument, Static, Template};
use super::rule::{Condition, Matches, Rule};
use crate::plan::Pointer;

/// Keys that mean nothing here.
type Unknown = BTreeMap<String, IgnoredAny>;

/// A server's file.
#[derive(Debug, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    expecting = "a map with `port` and `Service`"
)]
pub struct Config {
    #[serde(default = "loopback")]
    pub address: String,
    #[serde(default = "http_port")]
    pub port: u16,
    pub private_key_file: Option<String>,
    pub cert_file: Option<String>,
    #[serde(default, rename = "mTLS")]
    mutual_tls: bool,
    #[serde(default = "most_streams")]
    pub max_concurrent_streams: u32,
    #[serde(default, rename = "Service")]
    services: Vec<Service>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
struct Service {
    #[serde(rename = "Request")]
    request: Request,
    #[serde(default, rename = "Responses")]
    responses: Vec<Response>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
struct Request {
    name: String,
    #[serde(default)]
    headers: Vec<Match>,
    #[serde(default)]
    payload: Vec<Match>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
struct Match {
    #[serde(rename = "header-name")]
    header: Option<String>,
    #[serde(rename = "JsonPointer")]
    pointer: Option<String>,
    #[serde(rename = "matchType")]
    kind: String,
    input: String,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Response {
    #[serde(default = "whole")]
    weight: u64,
    #[serde(default)]
    throttle_ratio: f64,
    #[serde(default = "ok")]
    status_code: u16,
    payload: Option<Payload>,
    #[serde(default, rename = "additonalHeaders", alias = "additionalHeaders")]
    headers: Vec<Header>,
    #[serde(default, rename = "luaScript")]
    script: String,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
struct Payload {
    #[serde(default, rename = "msg-payload")]
    text: String,
    #[serde(default)]
    placeholder: String,
    #[serde(default)]
    arguments: Vec<Source>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
struct Header {
    #[serde(default)]
    header: String,
    #[serde(default)]
    placeholder: String,
    #[serde(default)]
    arguments: Vec<Source>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Source {
    type_of_value: String,
    #[serde(default)]
    value_identifier: String,
    #[serde(default)]
    regex: String,
    #[serde(default)]
    sub_string_start: usize,
    #[serde(default = "to_the_end")]
    sub_string_length: i64,
    #[serde(flatten)]
    unknown: Unknown,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

fn http_port() -> u16 {
    80
}

fn most_streams() -> u32 {
    2048
}

fn whole() -> u64 {
    100
}

fn ok() -> u16 {
    200
}

fn to_the_end() -> i64 {
    -1
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It is no such file, or asks for what these servers cannot do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match config.mutual_tls {
            true => Err("`mTLS`: certificates of clients cannot be asked for".to_owned()),
            false => Ok(config),
        }
    }

    /// The keys that mean nothing, with their places.
    pub fn unknown(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut note = |place: &str, unknown: &Unknown| {
            all.extend(unknown.keys().map(|key| format!("{place}{key}")));
        };
        note("", &self.unknown);
        for (at, service) in self.services.iter().enumerate() {
            service.unknown(&format!("Service[{at}]."), &mut note);
        }
        all
    }

    /// Its rules, in order.
    ///
    /// # Errors
    ///
    /// Which one is wrong, and why.
    pub fn rules(&self) -> Result<Vec<Rule>, String> {
        let services = self.services.iter();
        let rule = |service: &Service| {
            let name = &service.request.name;
            service
                .rule()
                .map_err(|why| format!("request `{name}`: {why}"))
        };
        services.map(rule).collect()
    }
}

impl Service {
    fn unknown(&self, place: &str, note: &mut impl FnMut(&str, &Unknown)) {
        note(place, &self.unknown);
        let Request {
            headers, payload, ..
        } = &self.request;
        note(&format!("{place}Request."), &self.request.unknown);
        for (key, list) in [("headers", headers), ("payload", payload)] {
            for (at, one) in list.iter().enumerate() {
                note(&format!("{place}Request.{key}[{at}]."), &one.unknown);
            }
        }
        for (at, response) in self.responses.iter().enumerate() {
            let place = format!("{place}Responses[{at}].");
            note(&place, &response.unknown);
            let mut filled = |place: String, unknown: &Unknown, arguments: &[Source]| {
                note(&place, unknown);
                for (at, one) in arguments.iter().enumerate() {
                    note(&format!("{place}arguments[{at}]."), &one.unknown);
                }
            };
            if let Some(payload) = &response.payload {
                let place = format!("{place}payload.");
                filled(place, &payload.unknown, &payload.arguments);
            }
            for (at, header) in response.headers.iter().enumerate() {
                let place = format!("{place}additonalHeaders[{at}].");
                filled(place, &header.unknown, &header.arguments);
            }
        }
    }

    fn rule(&self) -> Result<Rule, String> {
        let all = self.request.headers.iter().chain(&self.request.payload);
        Ok(Rule {
            name: self.request.name.clone(),
            conditions: all.map(Match::condition).collect::<Result<_, _>>()?,
            responses: self
                .responses
                .iter()
                .map(Response::fixed)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Match {
    fn condition(&self) -> Result<Condition, String> {
        let matches = Matches::new(&self.kind, &self.input)?;
        Ok(match (&self.header, &self.pointer) {
            (Some(name), _) => Condition::Header(name.to_ascii_lowercase(), matches),
            (None, Some(text)) if !text.is_empty() => Condition::Json(pointer(text)?, matches),
            _ => Condition::Body(matches),
        })
    }
}

impl Response {
    fn fixed(&self) -> Result<Static, String> {
        if !self.script.is_empty() {
            let remedy = "let a function of the program answer (`register_service_handler`)";
            return Err(format!("`luaScript` of a response: {remedy}"));
        }
        if !(200..600).contains(&self.status_code) {
            return Err(format!(
                "`status-code`: {} is none of 200 to 599",
                self.status_code
            ));
        }
        let headers = self
            .headers
            .iter()
            .filter(|header| !header.header.is_empty());
        Ok(Static {
            weight: self.weight,
            dropped_share: self.throttle_ratio / 100.0,
            status: self.status_code,
            headers: headers.map(Header::template).collect::<Result<_, _>>()?,
            body: match &self.payload {
                Some(payload) => Template::new(
                    &payload.text,
                    &payload.placeholder,
                    arguments(&payload.arguments)?,
                ),
                None => Template::default(),
            },
        })
    }
}

impl Header {
    fn template(&self) -> Result<(String, Template), String> {
        let (name, value) = self
            .header
            .split_once(':')
            .ok_or_else(|| format!("header `{}` has no colon", self.header))?;
        let template = Template::new(value.trim(), &self.placeholder, arguments(&self.arguments)?);
        Ok((name.trim().to_ascii_lowercase(), template))
    }
}

fn arguments(sources: &[Source]) -> Result<Vec<Argument>, String> {
    sources.iter().map(Source::argument).collect()
}

impl Source {
    fn argument(&self) -> Result<Argument, String> {
        use super::reply::Kind;
        let kind = match self.type_of_value.as_str() {
            "JsonPointer" => Kind::Json(pointer(&self.value_identifier)?),
            "Header" => Kind::Header(self.value_identifier.to_ascii_lowercase()),
            "RandomHex" => Kind::RandomHex,
            "TimeStamp" => Kind::Time,
            "Pseudo-UUID" => Kind::Uuid,
            "RawPayload" => Kind::Body,
            other => return Err(format!("`type-of-value: {other}` is no source")),
        };
        let regex = match &*self.regex {
            "" => None,
            regex => Some(
                regex::bytes::Regex::new(regex).map_err(|error| format!("`{regex}`: {error}"))?,
            ),
        };
        Ok(Argument {
            kind,
            regex,
            start: self.sub_string_start,
            length: usize::try_from(self.sub_string_length).ok(),
        })
    }
}

fn pointer(text: &str) -> Result<Pointer, String> {
    Pointer::parse(text).ok_or_else(|| format!("`{text}` is no JSON pointer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_names_no_address_is_for_this_host_alone() {
        assert_eq!(Config::parse("{}").unwrap().address, "127.0.0.1");
    }

    #[test]
    fn keys_that_mean_nothing_are_found_with_their_places() {
        let text = r#"{"Sevice": [], "Service": [{"Request": {"name": "a", "Headers": []}, "Responses":
            [{"statuscode": 201, "payload": {"arguments": [{"type-of-value": "RandomHex", "x": 1}]}}]}]}"#;
        let places = [
            "Sevice",
            "Service[0].Request.Headers",
            "Service[0].Responses[0].statuscode",
            "Service[0].Responses[0].payload.arguments[0].x",
        ];
        assert_eq!(Config::parse(text).unwrap().unknown(), places);
        let error = Config::parse("[]").unwrap_err();
        assert!(error.contains("expected a map with `port`"), "{error}");
    }
}
