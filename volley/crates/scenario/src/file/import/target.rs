//! Hosts, and how they are spoken to.

use std::net::Ipv6Addr;

use serde_json::Value;

use super::Importer;
use super::object::Object;
use super::tree::{Entries, Tree, put};
use crate::file::mistake::Path;

/// The name of the first target.
pub(super) const API: &str = "api";

/// Streams of a connection, if `max-concurrent-streams` is missing: as the schema says, and as h2loadrunner has it.
const STREAMS: [u64; 2] = [32, 1];

/// Keys that volley has nothing for, and what that means.
const NO_EQUAL: [(&str, &str); 11] = [
    (
        "warm-up-time",
        "volley has no warm-up: the figures begin with the load, so the first seconds are in them",
    ),
    (
        "rate",
        "volley opens all connections before the load, as fast as it can",
    ),
    (
        "rate-period",
        "volley opens all connections before the load, as fast as it can",
    ),
    (
        "interval-between-ping-frames",
        "volley sends no PING frames: a server may close connections that are idle",
    ),
    (
        "ciphers",
        "volley offers the cipher suites of rustls: those with forward secrecy and AEAD",
    ),
    (
        "max-tls-version",
        "volley offers TLS 1.2 and 1.3, and the server chooses",
    ),
    (
        "header-table-size",
        "volley's HPACK decoder has 4,096 bytes",
    ),
    (
        "encoder-header-table-size",
        "volley's HPACK encoder has at most 4,096 bytes",
    ),
    (
        "window-bits",
        "volley sets flow control itself: responses are not held up by it",
    ),
    (
        "connection-window-bits",
        "volley sets flow control itself: responses are not held up by it",
    ),
    (
        "connection-inactive-timeout",
        "volley keeps connections open, even if they are idle",
    ),
];

/// `host:port`, in the form of a URL.
fn authority(host: &str, port: u64) -> String {
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
        .to_ascii_lowercase();
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]:{port}"),
        Err(_) => format!("{host}:{port}"),
    }
}

impl Importer<'_> {
    /// Reads what is said of hosts and connections, and adds the first target. What is left is `http`.
    pub(super) fn target(&mut self, file: &mut Object<'_>) -> Entries {
        let scheme = self.needed(file, "schema").unwrap_or("http");
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            self.wrong(&file.at.key("schema"), "it is `http` or `https`");
        }
        self.top.is_tls = scheme == "https";
        let host = self.needed(file, "host").unwrap_or("localhost");
        let port = self.whole(file, "port").unwrap_or(80);
        self.top.authority = authority(host, port);
        self.top.hosts = self.hosts(file);
        self.top.tls = self.tls(file);
        let version = self.version(file);
        self.top.is_http1 = version.as_u64() == Some(1);
        self.top.by_authority = self
            .flag(file, "open-new-connection-based-on-authority-header")
            .unwrap_or(false);
        self.top.clients = self.whole(file, "clients").unwrap_or(1);
        let streams = self.streams(file);
        let timeout = self.timeout(file);
        self.connections(file);
        self.names.insert(API.to_owned());
        let mut target = self.target_of(self.top.hosts.clone(), None);
        let returns = self.flag(file, "switch-back-after-connection-retry");
        if self.top.hosts.len() > 1 {
            put(&mut target, "failback", returns.unwrap_or(false));
        }
        let place = file.at.key("host");
        put(&mut self.targets, API, Tree::map(target).at(&place));
        let mut http = Entries::new();
        put(&mut http, "version", version);
        let clients = Tree::from(self.top.clients);
        let clients = clients.at(&file.at.key("clients"));
        put(&mut http, "connections", clients);
        if !self.top.is_http1 {
            let place = file.at.key("max-concurrent-streams");
            put(&mut http, "streams", Tree::from(streams).at(&place));
        }
        self.top.streams = streams;
        if let Some(timeout) = timeout {
            let place = file.at.key("stream-timeout");
            put(&mut http, "timeout", Tree::from(timeout).at(&place));
        }
        if self.top.by_authority {
            put(&mut http, "route", "authority");
        }
        http
    }

    /// All hosts that share the load, as URLs.
    fn hosts(&mut self, file: &mut Object<'_>) -> Vec<String> {
        let mut hosts = Vec::new();
        for mut item in self.objects(file, "load-share-hosts") {
            let host = self.needed(&mut item, "host");
            let port = self.whole(&mut item, "port").unwrap_or(80);
            hosts.extend(host.map(|host| authority(host, port)));
            self.finish(item);
        }
        if !hosts.contains(&self.top.authority) {
            hosts.push(self.top.authority.clone());
        }
        let scheme = self.scheme();
        let url = |host| format!("{scheme}://{host}");
        hosts.into_iter().map(url).collect()
    }

    pub(super) fn scheme(&self) -> &'static str {
        if self.top.is_tls { "https" } else { "http" }
    }

    /// The map of a target with these hosts.
    fn target_of(&self, hosts: Vec<String>, authority: Option<&str>) -> Entries {
        let mut target = Entries::new();
        match &hosts[..] {
            [host] => put(&mut target, "hosts", host.as_str()),
            hosts => {
                let hosts = hosts.iter().map(|host| Tree::from(host.as_str()));
                put(&mut target, "hosts", Tree::list(hosts));
            }
        }
        if let Some(authority) = authority {
            put(&mut target, "authority", authority);
        }
        let is_tls = hosts.iter().any(|host| host.starts_with("https:"));
        if is_tls && !self.top.tls.is_empty() {
            let entries = self.top.tls.iter();
            let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), value.clone().into());
            put(&mut target, "tls", Tree::map(entries.map(entry).collect()));
        }
        target
    }

    /// The target of a URI that names its host.
    pub(super) fn target_named(&mut self, at: &Path, scheme: &str, authority: &str) -> String {
        let port = if scheme == "https" { 443 } else { 80 };
        let is_whole = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let whole = match is_whole {
            true => authority.to_owned(),
            false => format!("{authority}:{port}"),
        };
        if scheme == self.scheme() && whole == self.top.authority {
            return API.to_owned();
        }
        let origin = format!("{scheme}://{authority}");
        if let Some((_, name)) = self.top.named.iter().find(|(known, _)| *known == origin) {
            return name.clone();
        }
        let target = if self.top.by_authority {
            self.target_of(vec![format!("{scheme}://{whole}")], None)
        } else {
            if scheme != self.scheme() {
                let problem = format!("all connections are those of `schema`: {}", self.scheme());
                self.wrong(at, problem);
            }
            let text = format!(
                "h2loadrunner sends it on the connections to `host`, volley on as many others, with the authority {authority}"
            );
            self.note(at, "own-connections", text);
            self.target_of(self.top.hosts.clone(), Some(authority))
        };
        let name = self.own_name(authority);
        self.targets.push((name.clone(), Tree::map(target).at(at)));
        self.top.named.push((origin, name.clone()));
        name
    }

    /// What `tls` says of targets of TLS.
    fn tls(&mut self, file: &mut Object<'_>) -> Vec<(&'static str, Value)> {
        let mode = "certVerificationMode";
        let checks = self.whole(file, mode) == Some(1);
        let mut tls = Vec::new();
        if !checks {
            tls.push(("insecure", true.into()));
        } else if self.top.is_tls {
            self.fault(&file.at.key(mode), "server-name");
        }
        for (key, name) in [("caCert", "ca"), ("cert", "cert"), ("privateKey", "key")] {
            let Some(value) = self.text(file, key).filter(|name| !name.is_empty()) else {
                continue;
            };
            let at = file.at.key(key);
            if value.contains("-----BEGIN") {
                self.wrong(
                    &at,
                    "it is PEM itself: save it as a file, and write its name here",
                );
            } else if !self.top.is_tls {
                let text = "it is for TLS, and `schema` is `http`: left out";
                self.note(&at, "not-used", text.to_owned());
            } else if name == "ca" && !checks {
                let text = "no certificate is checked unless `certVerificationMode` is 1: left out";
                self.note(&at, "not-used", text.to_owned());
            } else {
                tls.push((name, self.file_name(value).into()));
            }
        }
        tls
    }

    /// 1, 2 or `auto`.
    fn version(&mut self, file: &mut Object<'_>) -> Value {
        let plain = self.text(file, "no-tls-proto").unwrap_or("h2c");
        if !matches!(plain, "h2c" | "http/1.1") {
            self.wrong(&file.at.key("no-tls-proto"), "it is `h2c` or `http/1.1`");
        }
        let offered = self.text(file, "npn-list");
        let offered = offered.unwrap_or("h2,h2-16,h2-14,http/1.1");
        if !self.top.is_tls {
            return if plain == "h2c" { 2.into() } else { 1.into() };
        }
        let place = |name: &str| offered.split(',').position(|offer| offer == name);
        match (place("h2"), place("http/1.1")) {
            (Some(_), None) => 2.into(),
            (None, Some(_)) => 1.into(),
            (Some(second), Some(first)) => {
                if first < second {
                    let text = "volley offers h2 first, and the server chooses";
                    self.note(&file.at.key("npn-list"), "no-equal", text.to_owned());
                }
                "auto".into()
            }
            (None, None) => {
                self.wrong(
                    &file.at.key("npn-list"),
                    "volley speaks h2 and http/1.1: name one",
                );
                2.into()
            }
        }
    }

    fn streams(&mut self, file: &mut Object<'_>) -> u64 {
        let key = "max-concurrent-streams";
        let streams = self.whole(file, key);
        if self.top.is_http1 {
            return 1;
        }
        let [by_schema, as_run] = STREAMS;
        streams.unwrap_or_else(|| {
            self.fault(&file.at.key(key), "default-streams");
            if self.how.as_run { as_run } else { by_schema }
        })
    }

    fn timeout(&mut self, file: &mut Object<'_>) -> Option<String> {
        let key = "stream-timeout";
        let given = self.whole(file, key);
        let ms = given.unwrap_or(5000);
        if !self.top.is_http1 {
            return Some(format!("{ms}ms"));
        }
        if given.is_some() {
            let text = "h2loadrunner waits forever over HTTP/1.1, volley 30 s: `http: {timeout: 1h}` changes that";
            self.note(&file.at.key(key), "no-equal", text.to_owned());
        }
        None
    }

    /// What is said of connections, and has no equal.
    fn connections(&mut self, file: &mut Object<'_>) {
        if let Some(threads) = self.whole(file, "threads") {
            let text = format!("a flag of `volley run` has it: `--threads {threads}`");
            self.note(&file.at.key("threads"), "use-flag", text);
        }
        let key = "connection-retry";
        if self.flag(file, key) == Some(false) {
            let text = "volley opens connections again that are lost";
            self.note(&file.at.key(key), "no-equal", text.to_owned());
        }
        for (key, effect) in NO_EQUAL {
            self.no_equal(file, key, effect);
        }
        for (key, fault) in [
            ("connection-active-timeout", "active-timeout"),
            ("connection-inactivity-timeout", "inactivity-timeout"),
            ("socket-receive-buffer-size", "buffers"),
            ("socket-send-buffer-size", "buffers"),
        ] {
            if self.value(file, key).is_some() {
                self.fault(&file.at.key(key), fault);
            }
        }
    }
}
