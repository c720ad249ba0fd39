//! HOST: the target in gRPC's name syntax (<https://github.com/grpc/grpc/blob/master/doc/naming.md>).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;
use volley_base::words;

/// The port of a name without one, if its form allows that.
const DEFAULT_PORT: u16 = 443;

/// The longest path of a Unix socket on Linux.
const LONGEST_PATH: usize = 107;

/// Where HOST leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where to connect, in the user's order; never empty.
    pub endpoints: Vec<Endpoint>,
    /// The `:authority` that grpc-go sends to it. Of several endpoints, that of the first.
    pub authority: String,
}

/// One place that HOST names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP; the name may have several addresses.
    Name(Address),
    /// The path of a Unix socket. An abstract name begins with a NUL.
    Unix(String),
}

/// A host and a port. Its text has brackets around an IPv6 address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name or an address; IPv6 without brackets.
    pub host: String,
    /// Never 0.
    pub port: u16,
}

/// Names of commands, which are no hosts.
pub const COMMANDS: [&str; 15] = words! {
    blast check compare completions describe edit find import list man merge run schema serve try
};

/// Why a HOST cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostError {
    #[error("HOST `{0}` has no port: write `{0}:8080`, or the port your server has")]
    NoPort(String),
    #[error(
        "HOST `{0}` has no port: write `{0}:8080`, or the port your server has; or did you mean `volley {1}`?"
    )]
    Typo(String, &'static str),
    #[error("`{0}` is a command and must come first: `volley {0} [FLAGS]`")]
    Command(&'static str),
    #[error("HOST `{host}`: `{port}` is not a port: give a number from 1 to 65535")]
    Port { host: String, port: String },
    #[error("HOST `{0}`: an IPv6 address needs brackets, as in `[::1]:8080`")]
    Brackets(String),
    #[error(
        "HOST `{0}`: volley does not speak xDS: list the servers, as in `10.0.0.1:80,10.0.0.2:80`, or give a `dns:///` name"
    )]
    Xds(String),
    #[error("HOST `{0}`: volley has no `vsock`: give `host:port` or `unix:/path`")]
    Vsock(String),
    #[error(
        "HOST `{text}`: names are looked up as this host does it, not by `{server}`: write `dns:///{name}`"
    )]
    NameServer {
        text: String,
        server: String,
        name: String,
    },
    #[error("HOST `{0}`: a Unix socket is `unix:/path`, `unix:path` or `unix:///path`")]
    UnixForm(String),
    #[error("HOST `{0}`: the path of a Unix socket has at most {LONGEST_PATH} bytes")]
    LongPath(String),
    #[error("HOST `{text}`: `{part}` is not an {family} address: give those, or a `dns:///` name")]
    Family {
        text: String,
        part: String,
        family: &'static str,
    },
    #[error(
        "HOST `{0}` is a URL: give `host:port`, with `--insecure` for plaintext or without it for TLS"
    )]
    Url(String),
    #[error("HOST `{0}`: give only `host:port`, and name the method with `--call`")]
    Path(String),
    #[error("HOST `{0}` is not a host name: give `host:port`, such as `localhost:8080`")]
    Name(String),
}

/// The command from which a word is one slip away.
pub fn misspelt(word: &str) -> Option<&'static str> {
    let is_near = |name: &&str| !word.contains(':') && strsim::osa_distance(name, word) == 1;
    COMMANDS.into_iter().find(is_near)
}

/// Reads a target: `host:port`, `[address]:port`, `:port` for localhost, several of them with commas, or one of gRPC's
/// schemes.
pub fn parse(text: &str) -> Result<Target, HostError> {
    let text = text.trim();
    if let Some(command) = COMMANDS.into_iter().find(|name| *name == text) {
        return Err(HostError::Command(command));
    }
    if let Some(command) = misspelt(text) {
        return Err(HostError::Typo(text.to_owned(), command));
    }
    let whole = || text.to_owned();
    match scheme_of(text) {
        None => named(text, text, None),
        Some(("dns", rest)) => match split_authority(rest) {
            (Some(server), name) if !server.is_empty() => Err(HostError::NameServer {
                text: whole(),
                server: server.to_owned(),
                // `dns://a` lacks a slash.
                name: if name.is_empty() { server } else { name }.to_owned(),
            }),
            (_, name) => named(text, name, Some(DEFAULT_PORT)),
        },
        Some(("passthrough", rest)) => match split_authority(rest).1 {
            inner if inner.starts_with("unix:") => parse(inner),
            inner => named(text, inner, None),
        },
        Some(("ipv4", rest)) => numbers::<Ipv4Addr>(text, rest, "IPv4"),
        Some(("ipv6", rest)) => numbers::<Ipv6Addr>(text, rest, "IPv6"),
        Some(("unix", rest)) => {
            let path = match rest.strip_prefix("//") {
                Some(path) if !path.starts_with('/') => return Err(HostError::UnixForm(whole())),
                Some(path) => path,
                None => rest,
            };
            unix(text, path.to_owned())
        }
        Some(("unix-abstract", "")) => Err(HostError::UnixForm(whole())),
        Some(("unix-abstract", rest)) => unix(text, format!("\0{rest}")),
        Some(("vsock", _)) => Err(HostError::Vsock(whole())),
        Some(_) => Err(HostError::Xds(whole())),
    }
}

/// gRPC's scheme of a target, and what follows its colon. `dns:53` has none: it is a host named `dns`.
fn scheme_of(text: &str) -> Option<(&'static str, &str)> {
    const SCHEMES: [&str; 10] = [
        "dns",
        "google-c2p",
        "google-c2p-experimental",
        "ipv4",
        "ipv6",
        "passthrough",
        "unix",
        "unix-abstract",
        "vsock",
        "xds",
    ];
    let (scheme, rest) = text.split_once(':')?;
    let known = SCHEMES.into_iter().find(|known| *known == scheme)?;
    rest.parse::<u16>().is_err().then_some((known, rest))
}

/// What follows a scheme: `//authority/endpoint`, `/endpoint` or `endpoint`.
fn split_authority(rest: &str) -> (Option<&str>, &str) {
    match rest.strip_prefix("//").map(|rest| rest.split_once('/')) {
        Some(Some((authority, endpoint))) => (Some(authority), endpoint),
        Some(None) => (rest.strip_prefix("//"), ""),
        None => (None, rest.strip_prefix('/').unwrap_or(rest)),
    }
}

/// Hosts with ports, separated by commas. `text` is the whole target.
fn named(text: &str, list: &str, default: Option<u16>) -> Result<Target, HostError> {
    match list {
        _ if list.contains("://") => return Err(HostError::Url(text.to_owned())),
        _ if list.contains('/') => return Err(HostError::Path(text.to_owned())),
        _ => {}
    }
    let parts = list.split(',').map(|part| address(part.trim(), default));
    let addresses = parts.collect::<Result<Vec<_>, _>>()?;
    let first = list.split(',').next().unwrap_or_default().trim();
    Ok(Target {
        authority: authority_of(first, addresses.first()),
        endpoints: addresses.into_iter().map(Endpoint::Name).collect(),
    })
}

/// Addresses of one family, separated by commas; their ports may be left out.
fn numbers<Ip: FromStr>(text: &str, rest: &str, family: &'static str) -> Result<Target, HostError> {
    let target = named(text, split_authority(rest).1, Some(DEFAULT_PORT))?;
    let odd = target.endpoints.iter().find_map(|endpoint| match endpoint {
        Endpoint::Name(address) if address.host.parse::<Ip>().is_err() => Some(&address.host),
        _ => None,
    });
    match odd {
        None => Ok(target),
        Some(part) => Err(HostError::Family {
            text: text.to_owned(),
            part: part.clone(),
            family,
        }),
    }
}

/// The `:authority` of an address: as it is written, without a port if none is.
fn authority_of(written: &str, address: Option<&Address>) -> String {
    match address {
        Some(address) if written.ends_with(&format!(":{}", address.port)) => address.to_string(),
        Some(address) if address.host.contains(':') => format!("[{}]", address.host),
        Some(address) => address.host.clone(),
        None => written.to_owned(),
    }
}

fn unix(text: &str, path: String) -> Result<Target, HostError> {
    match path.len() {
        0 => Err(HostError::UnixForm(text.to_owned())),
        length if length > LONGEST_PATH => Err(HostError::LongPath(text.to_owned())),
        _ => Ok(Target {
            endpoints: vec![Endpoint::Unix(path)],
            authority: "localhost".to_owned(),
        }),
    }
}

/// Reads `host:port`, `[address]:port`, or `:port` for localhost; without a port, if there is a default.
pub fn address(text: &str, default: Option<u16>) -> Result<Address, HostError> {
    let owned = || text.to_owned();
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let split = rest.split_once(']').filter(|(host, _)| !host.is_empty());
            let (host, rest) = split.ok_or_else(|| HostError::Brackets(owned()))?;
            match rest.strip_prefix(':') {
                None if !rest.is_empty() => return Err(HostError::Name(owned())),
                port => (host, port),
            }
        }
        None if default.is_some() && text.parse::<IpAddr>().is_ok() => (text, None),
        None => match text.rsplit_once(':') {
            None => (text, None),
            Some((host, _)) if host.contains(':') => return Err(HostError::Brackets(owned())),
            Some((host, port)) => (if host.is_empty() { "localhost" } else { host }, Some(port)),
        },
    };
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "[]@,/".contains(c);
    if host.is_empty() || host.contains(is_odd) {
        return Err(HostError::Name(owned()));
    }
    let bad_port = |port: &str| HostError::Port {
        host: owned(),
        port: port.to_owned(),
    };
    let port = match (port, default) {
        (None, Some(default)) => default,
        (None | Some(""), _) => {
            return Err(HostError::NoPort(text.trim_end_matches(':').to_owned()));
        }
        (Some(port), _) => match port.parse() {
            Ok(number @ 1..) if !port.starts_with('+') => number,
            _ => return Err(bad_port(port)),
        },
    };
    Ok(Address {
        host: host.to_owned(),
        port,
    })
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(out, "[{}]:{}", self.host, self.port)
        } else {
            write!(out, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(address) => address.fmt(out),
            Self::Unix(path) => match path.strip_prefix('\0') {
                Some(name) => write!(out, "unix-abstract:{name}"),
                None => write!(out, "unix:{path}"),
            },
        }
    }
}

/// The endpoints, separated by commas.
impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{endpoint}")?;
        }
        Ok(())
    }
}

/// The host of an authority, without port and brackets.
pub fn without_port(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    /// The endpoints and the authority of a target.
    fn read(text: &str) -> (String, String) {
        let target = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        (target.to_string(), target.authority)
    }

    #[test]
    fn names_and_addresses_are_taken_with_their_port() {
        for (text, host, port) in [
            ("localhost:8080", "localhost", 8080),
            (" 127.0.0.1:1 ", "127.0.0.1", 1),
            ("[::1]:8080", "::1", 8080),
            ("[fe80::1%eth0]:443", "fe80::1%eth0", 443),
            (":50051", "localhost", 50051),
            ("dns:53", "dns", 53),
        ] {
            let host = host.to_owned();
            let endpoints = vec![Endpoint::Name(Address { host, port })];
            assert_eq!(parse(text).unwrap().endpoints, endpoints, "{text}");
        }
    }

    #[test]
    fn targets_lead_where_grpc_go_leads_them_with_its_authority() {
        let two = "ipv4:10.0.0.1:80,10.0.0.2";
        for (text, endpoints, authority) in [
            (":50051", "localhost:50051", "localhost:50051"),
            ("[::1]:80", "[::1]:80", "[::1]:80"),
            ("dns:///a.b:80", "a.b:80", "a.b:80"),
            ("dns:///a.b", "a.b:443", "a.b"),
            ("dns:a.b", "a.b:443", "a.b"),
            ("dns:///::1", "[::1]:443", "[::1]"),
            ("dns:///[::1]", "[::1]:443", "[::1]"),
            ("dns:///:80", "localhost:80", "localhost:80"),
            ("passthrough:///a.b:80", "a.b:80", "a.b:80"),
            ("passthrough:a.b:80", "a.b:80", "a.b:80"),
            ("passthrough:///unix:///run/a", "unix:/run/a", "localhost"),
            ("unix:/run/a,b", "unix:/run/a,b", "localhost"),
            ("unix:///run/a", "unix:/run/a", "localhost"),
            ("unix:a/b", "unix:a/b", "localhost"),
            ("unix-abstract:a", "unix-abstract:a", "localhost"),
            (two, "10.0.0.1:80,10.0.0.2:443", "10.0.0.1:80"),
            ("ipv6:[::1]:80,[::2]:81", "[::1]:80,[::2]:81", "[::1]:80"),
            ("a:1, b:2,[::1]:3", "a:1,b:2,[::1]:3", "a:1"),
        ] {
            let expected = (endpoints.to_owned(), authority.to_owned());
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_host_without_a_port_is_refused() {
        let line =
            "HOST `localhost` has no port: write `localhost:8080`, or the port your server has";
        assert_eq!(refusal("localhost"), line);
        assert_eq!(refusal("localhost:"), line);
        for text in ["[::1]", "dns:///[::1]:", "passthrough:///[::1]"] {
            let refused = HostError::NoPort("[::1]".into());
            assert_eq!(parse(text), Err(refused), "{text}");
        }
        assert_eq!(parse("serve"), Err(HostError::Command("serve")));
    }

    #[test]
    fn bad_ports_are_refused() {
        for port in ["0", "65536", "http", "+80", "-1"] {
            let host = format!("localhost:{port}");
            let line =
                format!("HOST `{host}`: `{port}` is not a port: give a number from 1 to 65535");
            assert_eq!(refusal(&host), line);
        }
    }

    #[test]
    fn an_ipv6_address_needs_brackets() {
        let line =
            |text| format!("HOST `{text}`: an IPv6 address needs brackets, as in `[::1]:8080`");
        for text in ["::1:8080", "::1", "[::1:8080", "[]:8080"] {
            assert_eq!(refusal(text), line(text));
        }
    }

    #[test]
    fn other_targets_are_refused_by_name_with_a_way_out() {
        for (text, way_out) in [
            ("xds:///a", "list the servers"),
            ("google-c2p:///a", "list the servers"),
            ("vsock:1:2", "give `host:port` or `unix:/path`"),
            ("dns://8.8.8.8/a:80", "write `dns:///a:80`"),
            ("unix://run/a", "`unix:///path`"),
            ("unix:", "`unix:/path`"),
            ("unix-abstract:", "`unix:/path`"),
            ("ipv4:a:80", "`a` is not an IPv4 address"),
            ("ipv4:[::1]:80", "`::1` is not an IPv4 address"),
            ("ipv6:10.0.0.1", "`10.0.0.1` is not an IPv6 address"),
            ("http://a:80", "is a URL: give `host:port`"),
            ("a:80/x", "name the method with `--call`"),
            ("a b:80", "give `host:port`, such as"),
            ("a:1,", "give `host:port`, such as"),
            ("dns:///", "give `host:port`, such as"),
            ("dns://a", "write `dns:///a`"),
            ("passthrough:///", "give `host:port`, such as"),
        ] {
            let line = refusal(text);
            let names_it = line.starts_with("HOST `");
            assert!(names_it && line.contains(way_out), "{text}: {line}");
        }
        let long = format!("unix:/{}", "x".repeat(107));
        assert_eq!(parse(&long), Err(HostError::LongPath(long.clone())));
    }

    #[test]
    fn the_host_of_an_authority_has_no_port_and_no_brackets() {
        for (authority, host) in [
            ("a.b:443", "a.b"),
            ("a.b", "a.b"),
            ("[::1]:443", "::1"),
            ("[::1]", "::1"),
        ] {
            assert_eq!(without_port(authority), host);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(
            text in "(dns:|unix:|ipv4:|ipv6:|passthrough:|unix-abstract:)?/{0,3}\\PC{0,40}"
        ) {
            if let Ok(target) = parse(&text) {
                prop_assert!(!target.endpoints.is_empty() && !target.authority.is_empty());
                for endpoint in target.endpoints {
                    if let Endpoint::Name(address) = endpoint {
                        prop_assert!(address.port > 0 && !address.host.is_empty());
                    }
                }
            }
        }
    }
}
