//! Targets: hosts, and how they are spoken to.

use std::ops::Not as _;

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::{Http, TargetMap, Time, Tls};
use crate::plan::{Load, Phases, Request, Scenario, Step, Target, TlsFiles, Url, Version};
use volley_http::http::HttpUrl;
use volley_load::pace::PhasedUsers;
use volley_load::spec::{Endpoint, HostError, address};
use volley_request::schema::suggest;

/// The most connections to a target, and requests on each.
const MOST: u32 = 65_535;

/// So many connections has a target that says nothing of them; over HTTP/1.1, one for each user if there are more.
const CONNECTIONS: u32 = 8;

/// The longest path of a Unix socket on Linux.
const LONGEST_PATH: usize = 107;

/// A server of a URL, and whether it speaks TLS; `None`: a Unix socket, which has no scheme.
pub(super) fn host(url: &str) -> Result<(Endpoint, Option<bool>), String> {
    if let Some(path) = url.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return match path.len() {
            0 => Err("a Unix socket has a path: write `unix:/path`".to_owned()),
            length if length > LONGEST_PATH => Err(format!(
                "the path of a Unix socket has at most {LONGEST_PATH} bytes: shorten it"
            )),
            _ => Ok((Endpoint::Unix(path.to_owned()), None)),
        };
    }
    let forms = "write `https://host:port`, `http://host:port` or `unix:/path`";
    let wrong = || format!("`{url}` is no URL of a server: {forms}");
    let (rest, is_tls, port) = match url.split_once("://") {
        Some(("https", rest)) => (rest, true, 443),
        Some(("http", rest)) => (rest, false, 80),
        _ => return Err(wrong()),
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return Err(format!(
            "`{url}`: a target has no path: write it in the URLs of the steps"
        ));
    }
    if rest.contains('@') {
        return Err(format!(
            "`{url}`: write the credentials as a header `authorization`"
        ));
    }
    let address = address(rest, Some(port)).map_err(|error| match error {
        HostError::Port { port, .. } => format!("`{url}`: `{port}` is no port: 1 to 65535 are"),
        _ => wrong(),
    })?;
    Ok((Endpoint::Name(address), Some(is_tls)))
}

impl Compiler<'_> {
    pub(super) fn read_targets(&mut self, at: &Path) {
        let file = self.file;
        self.check_http(&Path::default().key("http"), &file.http);
        for (name, target) in file.targets.iter() {
            let at = at.key(name);
            self.check_name(&at, name);
            if file.data.iter().any(|(feed, _)| feed == name) {
                self.wrong(
                    &at,
                    format!("`{name}` is the name of data, too: choose another"),
                );
            }
            self.read_target(&at, name, &target.0);
        }
    }

    /// A name that can stand in `${}`.
    pub(super) fn check_name(&mut self, at: &Path, name: &str) {
        let is_fine = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_fine) || matches!(name, "env" | "last") {
            let rule = "a name has letters, digits, `_` and `-`, and is not `env` or `last`";
            self.wrong(at, format!("`{name}` cannot be used in `${{}}`: {rule}"));
        }
    }

    fn read_target(&mut self, at: &Path, name: &str, written: &TargetMap) {
        // A target that is a text or a list has no key `hosts`.
        let at_hosts = Some(at.key("hosts")).filter(|at| self.node.has(at));
        let at_hosts = at_hosts.unwrap_or(at.clone());
        if written.hosts.is_empty() {
            self.wrong(at, "no host: give `https://host:port`");
        }
        let mut hosts = Vec::new();
        let mut is_tls = None;
        for (at, url) in written.hosts.at(&at_hosts) {
            // Of the names, only the environment's are known here.
            let url = self.constant(&at, url);
            let Some((endpoint, scheme)) = url.and_then(|url| self.noted(&at, host(&url))) else {
                continue;
            };
            let scheme = scheme.unwrap_or(written.tls.is_some());
            if *is_tls.get_or_insert(scheme) != scheme {
                self.wrong(
                    &at,
                    "the hosts of a target are all `https` or all `http`: make two targets",
                );
            }
            hosts.push(endpoint);
        }
        let is_tls = is_tls.unwrap_or(true);
        if written.tls.is_some() && !is_tls {
            self.wrong(
                &at.key("tls"),
                "the target is plaintext: write `https://`, or drop `tls`",
            );
        }
        self.check_http(&at.key("http"), &written.http);
        if let Some(authority) = &written.authority
            && HttpUrl::parse(format!("http://{authority}").as_bytes())
                .is_ok_and(|url| url.authority == authority.as_bytes())
                .not()
        {
            self.wrong(
                &at.key("authority"),
                "it is a name such as `shop.example.com`",
            );
        }
        let tls = written.tls.as_ref();
        let tls = tls.map(|tls| self.tls(&at.key("tls"), tls));
        self.add_target(
            Target {
                authority: written.authority.clone(),
                fails_back: written.failback.unwrap_or(true),
                tls: tls.unwrap_or_default(),
                ..self.target(name, hosts, is_tls, &written.http)
            },
            &written.http,
        );
    }

    fn add_target(&mut self, target: Target, http: &Http) -> usize {
        let timeout = http.timeout.or(self.file.http.timeout);
        self.timeouts
            .push(timeout.map_or(30_000_000_000, |time| time.0));
        if http.connections.or(self.file.http.connections).is_none() {
            self.unset.push(self.targets.len());
        }
        self.targets.push(target);
        self.targets.len() - 1
    }

    /// A target with what `http` says of it, here and for all.
    fn target(&self, name: &str, hosts: Vec<Endpoint>, is_tls: bool, http: &Http) -> Target {
        let all = &self.file.http;
        let version = http.version.or(all.version);
        let version = version.map_or(Version::Auto, |version| version.0);
        let connect = http.connect_timeout.or(all.connect_timeout);
        Target {
            name: name.to_owned(),
            hosts,
            is_tls,
            version,
            connections: http.connections.or(all.connections).unwrap_or(CONNECTIONS),
            streams: match version {
                Version::Http1 => 1,
                _ => http.streams.or(all.streams).unwrap_or(100),
            },
            connect_timeout_ns: connect.map_or(10_000_000_000, |time| time.0),
            fails_back: true,
            route: http.route.or(all.route).unwrap_or_default(),
            authority: None,
            tls: TlsFiles::default(),
        }
    }

    /// The target of a URL that a step writes out: `https://host:port`.
    pub(super) fn unnamed_target(&mut self, at: &Path, origin: &str) -> Option<usize> {
        if let Some(index) = self.target_named(origin) {
            return Some(index);
        }
        let (endpoint, scheme) = self.noted(at, host(origin))?;
        let http = Http::default();
        let target = self.target(origin, vec![endpoint], scheme.unwrap_or(false), &http);
        Some(self.add_target(target, &http))
    }

    /// The target that a URL begins with.
    pub(super) fn target_named(&self, name: &str) -> Option<usize> {
        self.targets.iter().position(|target| target.name == name)
    }

    /// Which targets there are, for a message.
    pub(super) fn target_hint(&self, typed: &str) -> String {
        let known = self.targets.iter().map(|target| target.name.clone());
        suggest::hint(typed, &known.collect::<Vec<_>>(), "name one in `targets`")
    }

    fn check_http(&mut self, at: &Path, http: &Http) {
        let counts = [("connections", http.connections), ("streams", http.streams)];
        for (key, count) in counts {
            if count.is_some_and(|count| !(1..=MOST).contains(&count)) {
                self.wrong(&at.key(key), format!("it is from 1 to {MOST}"));
            }
        }
        for (key, time) in [
            ("timeout", http.timeout),
            ("connect_timeout", http.connect_timeout),
        ] {
            self.check_time(&at.key(key), time);
        }
        let version = http.version.or(self.file.http.version);
        let is_first = version.is_some_and(|version| version.0 == Version::Http1);
        if is_first && http.streams.is_some_and(|streams| streams > 1) {
            let remedy = "drop `streams`, and raise `connections`";
            self.wrong(
                &at.key("streams"),
                format!("HTTP/1.1 has one request on a connection: {remedy}"),
            );
        }
    }

    /// Notes a time that is none.
    pub(super) fn check_time(&mut self, at: &Path, time: Option<Time>) {
        if time.is_some_and(|time| time.0 == 0) {
            self.wrong(at, "it leaves no time: give a time such as `2s`");
        }
    }

    fn tls(&mut self, at: &Path, tls: &Tls) -> TlsFiles {
        match (&tls.cert, &tls.key) {
            (Some(_), None) => self.wrong(&at.key("cert"), "it needs `key`: its private key"),
            (None, Some(_)) => self.wrong(&at.key("key"), "it needs `cert`: the certificate"),
            _ => {}
        }
        if tls.insecure && tls.ca.is_some() {
            self.wrong(
                &at.key("ca"),
                "`insecure` accepts any certificate: drop one of them",
            );
        }
        let mut file = |key: &str, path: &Option<String>| {
            let path = path.as_ref()?;
            self.existing(&at.key(key), path)
        };
        TlsFiles {
            ca: file("ca", &tls.ca),
            cert: file("cert", &tls.cert),
            key: file("key", &tls.key),
            server_name: tls.server_name.clone(),
            skips_verification: tls.insecure,
        }
    }

    /// The path of a file that exists, seen from the scenario's folder.
    pub(super) fn existing(&mut self, at: &Path, path: &str) -> Option<std::path::PathBuf> {
        let path = self.folder.join(path);
        let read = crate::file::readable(&path);
        let read = read.map_err(|reason| format!("cannot read `{}`: {reason}", path.display()));
        self.noted(at, read)?;
        self.files.push(path.clone());
        Some(path)
    }

    /// A connection of HTTP/1.1 has one request at a time. So if the file does not say how many there are, each user of the
    /// load has its own.
    pub(super) fn settle_connections(&mut self, loads: &[Load], scenarios: &[Scenario]) {
        for at in std::mem::take(&mut self.unset) {
            let asks = |scenario: &Scenario| {
                let leads_there =
                    |step: &Step| step.scenario == scenario.name && step.url.target() == at;
                // Each connection has its part of the rows.
                scenario.keeps_to.is_none() && self.steps.iter().any(leads_there)
            };
            let users = |load: &Load| match &load.phases {
                Phases::Users(phases)
                    if load
                        .scenarios
                        .iter()
                        .any(|(one, _)| scenarios.get(*one).is_some_and(asks)) =>
                {
                    PhasedUsers::new(phases).most()
                }
                _ => 0,
            };
            let users: u64 = loads.iter().map(users).sum();
            let Some(target) = self.targets.get_mut(at) else {
                continue;
            };
            if target.version.is_http1(target.is_tls) {
                let users = u32::try_from(users).unwrap_or(u32::MAX);
                target.connections = users.clamp(CONNECTIONS, MOST);
            }
        }
    }

    /// Nothing connects to a target that no request can lead to.
    pub(super) fn settle_unused(&mut self) {
        let leads_anywhere = |step: &Step| match &step.request {
            Request::Http(request) if request.redirects > 0 => true,
            _ => matches!(step.url, Url::Value { .. }),
        };
        if self.steps.iter().any(leads_anywhere) {
            return;
        }
        for (at, target) in self.targets.iter_mut().enumerate() {
            if !self.steps.iter().any(|step| step.url.target() == at) {
                target.connections = 0;
            }
        }
    }

    /// gRPC needs HTTP/2, so a target that may choose speaks it.
    pub(super) fn settle_versions(&mut self) {
        for step in &self.steps {
            if let (Request::Grpc(_), Url::Target { target, .. }) = (&step.request, &step.url)
                && let Some(target) = self.targets.get_mut(*target)
                && target.version == Version::Auto
            {
                target.version = Version::Http2;
            }
        }
    }
}
