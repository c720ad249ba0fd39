//! The HTTP proxy of the environment, chosen as grpc-go chooses it: for TCP targets, plaintext or not.
//!
//! `https_proxy` and `no_proxy`, or the same in capitals; the names in lower case take precedence, as in Go.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use volley_load::spec::{Address, address};

/// The longest head of a proxy's answer.
const LONGEST_ANSWER: usize = 16 * 1024;

/// The most header fields in it.
const MOST_FIELDS: usize = 64;

/// Why the environment's proxy cannot be used. No message shows its value, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProxyError {
    #[error(
        "`HTTPS_PROXY` is not a proxy: give `http://host:port`, or exclude the target with `NO_PROXY`"
    )]
    Form,
    #[error(
        "`HTTPS_PROXY` is not an HTTP proxy in plaintext: give `http://host:port`, or exclude the target with `NO_PROXY`"
    )]
    Scheme,
}

/// An HTTP proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Where it listens.
    pub address: Address,
    /// `user:password` in base64.
    credentials: Option<String>,
}

/// Which targets a proxy is used for.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    proxy: Option<Result<Proxy, ProxyError>>,
    excluded: Vec<Excluded>,
}

/// An entry of `NO_PROXY`, with its port if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Excluded {
    All,
    Network {
        base: IpAddr,
        bits: u8,
    },
    Ip(IpAddr, Option<u16>),
    /// `.example.com`; whether `example.com` itself is meant too.
    Domain {
        suffix: String,
        itself: bool,
        port: Option<u16>,
    },
}

/// Asks a proxy for a connection to the target: bytes out, bytes in.
pub struct Handshake {
    request: Vec<u8>,
    sent: usize,
    answer: Vec<u8>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(out)
    }
}

impl Proxies {
    /// Reads the environment; `variable` gets a variable by name.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let any = |names: [&str; 2]| {
            let mut values = names.into_iter().filter_map(&variable);
            values.find(|value| !value.is_empty())
        };
        let no_proxy = any(["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Self {
            proxy: any(["https_proxy", "HTTPS_PROXY"]).map(|value| Proxy::parse(&value)),
            excluded: no_proxy.split(',').filter_map(Excluded::parse).collect(),
        }
    }

    /// Those of this process's environment.
    pub fn of_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// The proxy for a target. This host itself needs none.
    ///
    /// # Errors
    ///
    /// The target needs the proxy, and its value is of no use.
    pub fn of(&self, target: &Address) -> Result<Option<Proxy>, ProxyError> {
        let Some(proxy) = &self.proxy else {
            return Ok(None);
        };
        let host = target.host.to_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        let is_local = host == "localhost" || ip.is_some_and(|ip| ip.to_canonical().is_loopback());
        let mut excluded = self.excluded.iter();
        if is_local || excluded.any(|entry| entry.covers(&host, ip, target.port)) {
            return Ok(None);
        }
        proxy.clone().map(Some)
    }
}

impl Proxy {
    fn parse(value: &str) -> Result<Self, ProxyError> {
        let value = value.trim();
        let rest = match value.split_once("://") {
            None => value,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err(ProxyError::Scheme),
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = match rest.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, rest),
        };
        let credentials = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let plain = [&unescape(name), &b":"[..], &unescape(password)].concat();
            STANDARD.encode(plain)
        });
        Ok(Self {
            address: address(host, None).map_err(|_| ProxyError::Form)?,
            credentials,
        })
    }

    /// Asks for a connection to a target.
    pub fn connect(&self, target: &Address) -> Handshake {
        let agent = env!("CARGO_PKG_VERSION");
        let mut request = format!(
            "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nUser-Agent: volley/{agent}\r\n"
        );
        if let Some(credentials) = &self.credentials {
            request += &format!("Proxy-Authorization: Basic {credentials}\r\n");
        }
        request += "\r\n";
        Handshake {
            request: request.into_bytes(),
            sent: 0,
            answer: Vec::new(),
        }
    }
}

/// Resolves `%41`.
fn unescape(text: &str) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((first, rest)) = bytes.split_first() {
        let digits = rest.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                bytes = rest.get(2..).unwrap_or_default();
            }
            None => {
                plain.push(*first);
                bytes = rest;
            }
        }
    }
    plain
}

impl Excluded {
    /// As golang.org/x/net/http/httpproxy reads it; `None` for what means nothing.
    fn parse(entry: &str) -> Option<Self> {
        let entry = entry.trim().to_lowercase();
        if entry == "*" {
            return Some(Self::All);
        }
        if let Some((base, bits)) = entry.split_once('/')
            && let (Ok(base), Ok(bits)) = (base.parse::<IpAddr>(), bits.parse())
        {
            let most = if base.is_ipv4() { 32 } else { 128 };
            return (bits <= most).then_some(Self::Network { base, bits });
        }
        let is_ip = entry.parse::<IpAddr>().is_ok();
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) if !is_ip => (host, port.parse().ok()),
            _ => (entry.as_str(), None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = host.parse() {
            return Some(Self::Ip(ip, port));
        }
        let host = host
            .strip_prefix('*')
            .filter(|rest| rest.starts_with('.'))
            .unwrap_or(host);
        (!host.is_empty()).then(|| Self::Domain {
            suffix: format!(".{}", host.trim_start_matches('.')),
            itself: !host.starts_with('.'),
            port,
        })
    }

    fn covers(&self, host: &str, ip: Option<IpAddr>, to: u16) -> bool {
        let is_port = |port: &Option<u16>| port.is_none_or(|port| port == to);
        match self {
            Self::All => true,
            Self::Network { base, bits } => ip.is_some_and(|ip| is_within(ip, *base, *bits)),
            Self::Ip(excluded, port) => ip == Some(*excluded) && is_port(port),
            Self::Domain {
                suffix,
                itself,
                port,
            } => {
                let is_it = *itself && suffix.strip_prefix('.') == Some(host);
                ip.is_none() && (is_it || host.ends_with(suffix)) && is_port(port)
            }
        }
    }
}

fn is_within(ip: IpAddr, base: IpAddr, bits: u8) -> bool {
    let start = |number: u128, width: u8| number.checked_shr(u32::from(width - bits)).unwrap_or(0);
    match (ip.to_canonical(), base) {
        (IpAddr::V4(ip), IpAddr::V4(base)) => {
            start(ip.to_bits().into(), 32) == start(base.to_bits().into(), 32)
        }
        (IpAddr::V6(ip), IpAddr::V6(base)) => {
            start(ip.to_bits(), 128) == start(base.to_bits(), 128)
        }
        _ => false,
    }
}

impl Handshake {
    /// What is to be sent.
    pub fn output(&self) -> &[u8] {
        self.request.get(self.sent..).unwrap_or_default()
    }

    /// So many bytes of it were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.sent += bytes;
    }

    /// Takes bytes of the proxy. `Some`: the target is connected, and so many of these bytes belonged to the answer.
    ///
    /// # Errors
    ///
    /// What the proxy answered instead.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let before = self.answer.len();
        let room = LONGEST_ANSWER.saturating_sub(before);
        self.answer
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        match response.parse(&self.answer) {
            Ok(httparse::Status::Complete(length)) => match response.code {
                Some(200) => Ok(Some(length.saturating_sub(before))),
                code => {
                    let code = code.unwrap_or_default();
                    let reason = response.reason.unwrap_or_default();
                    Err(
                        format!("the proxy (`HTTPS_PROXY`) refused it: {code} {reason}")
                            .trim_end()
                            .to_owned(),
                    )
                }
            },
            Ok(httparse::Status::Partial) if self.answer.len() < LONGEST_ANSWER => Ok(None),
            _ => Err("the proxy (`HTTPS_PROXY`) does not speak HTTP/1.1".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(https: &str, no: &str) -> Proxies {
        Proxies::new(|name| match name {
            "https_proxy" => Some(https.to_owned()),
            "NO_PROXY" => Some(no.to_owned()),
            _ => None,
        })
    }

    fn target(text: &str) -> Address {
        address(text, None).unwrap()
    }

    fn request(proxy: &str) -> String {
        let proxy = proxies(proxy, "").of(&target("a.b:80")).unwrap().unwrap();
        String::from_utf8(proxy.connect(&target("a.b:80")).output().to_vec()).unwrap()
    }

    #[test]
    fn no_proxy_excludes_hosts_as_gos_httpproxy_does() {
        for (no, host, is_excluded) in [
            ("", "a.b:80", false),
            ("", "localhost:80", true),
            ("", "127.9.9.9:80", true),
            ("", "[::1]:80", true),
            ("*", "a.b:80", true),
            ("b", "a.b:80", true),
            ("b", "b:80", true),
            ("b", "ab:80", false),
            (".b", "a.b:80", true),
            (".b", "b:80", false),
            ("*.b", "a.b:80", true),
            ("*.b", "b:80", false),
            ("A.B", "a.b:80", true),
            ("a.b", "A.b:80", true),
            ("a.b:80", "a.b:80", true),
            ("a.b:81", "a.b:80", false),
            ("10.0.0.1", "10.0.0.1:80", true),
            ("10.0.0.1:81", "10.0.0.1:80", false),
            ("0.0.1", "10.0.0.1:80", false),
            (" x , 10.0.0.0/8", "10.1.2.3:80", true),
            ("10.0.0.0/8", "11.1.2.3:80", false),
            ("0.0.0.0/0", "11.1.2.3:80", true),
            ("fd00::/8", "[fd00::1]:80", true),
            ("fd00::/8", "[fe00::1]:80", false),
            ("[fd00::1]:80", "[fd00::1]:80", true),
            ("fd00::1", "[fd00::1]:80", true),
            (",:,/,[", "a.b:80", false),
        ] {
            let proxy = proxies("http://p:1", no).of(&target(host)).unwrap();
            assert_eq!(proxy.is_none(), is_excluded, "`{no}` {host}");
        }
        assert_eq!(Proxies::new(|_| None).of(&target("a.b:80")), Ok(None));
    }

    #[test]
    fn a_proxy_is_asked_with_the_user_of_its_url_which_no_debug_text_shows() {
        assert!(!request("p:3128").contains("Authorization"));
        let asked = request("http://us%65r:p%40ss@p:3128/");
        assert!(asked.starts_with("CONNECT a.b:80 HTTP/1.1\r\nHost: a.b:80\r\n"));
        let basic = STANDARD.encode("user:p@ss");
        assert!(asked.ends_with(&format!("Proxy-Authorization: Basic {basic}\r\n\r\n")));
        let shown = format!("{:?}", proxies("http://user:secret@p:1", ""));
        assert!(
            !shown.contains("secret") && !shown.contains(&basic),
            "{shown}"
        );
    }

    #[test]
    fn a_proxy_that_is_none_is_an_error_only_for_targets_that_need_it() {
        for (value, error) in [
            ("http://p", ProxyError::Form),
            ("http://:@/", ProxyError::Form),
            ("socks5://p:1", ProxyError::Scheme),
            ("https://p:1", ProxyError::Scheme),
        ] {
            assert_eq!(
                proxies(value, "").of(&target("a.b:80")),
                Err(error),
                "{value}"
            );
            assert_eq!(proxies(value, "").of(&target("localhost:80")), Ok(None));
        }
    }

    #[test]
    fn what_follows_the_proxys_answer_belongs_to_the_target() {
        let answer = b"HTTP/1.1 200 Connection established\r\nVia: p\r\n\r\nrest";
        for cut in 0..answer.len() - 4 {
            let proxy = proxies("p:1", "").of(&target("a.b:80")).unwrap().unwrap();
            let mut handshake = proxy.connect(&target("a.b:80"));
            let (first, second) = answer.split_at(cut);
            assert_eq!(handshake.receive(first), Ok(None), "{cut}");
            assert_eq!(
                handshake.receive(second),
                Ok(Some(second.len() - 4)),
                "{cut}"
            );
        }
    }

    #[test]
    fn an_answer_that_is_no_connection_is_an_error() {
        for (answer, words) in [
            (
                &b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"[..],
                "407 Proxy Auth",
            ),
            (b"\0\0\x12\x04\0\0\0\0\0", "does not speak HTTP/1.1"),
            (&[b'A'; LONGEST_ANSWER + 1], "does not speak HTTP/1.1"),
        ] {
            let proxy = proxies("p:1", "").of(&target("a.b:80")).unwrap().unwrap();
            let error = proxy
                .connect(&target("a.b:80"))
                .receive(answer)
                .unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let endless = [b"HTTP/1.1 200 ".to_vec(), vec![b'a'; LONGEST_ANSWER]].concat();
        let proxy = proxies("p:1", "").of(&target("a.b:80")).unwrap().unwrap();
        assert!(proxy.connect(&target("a.b:80")).receive(&endless).is_err());
    }
}
