//! HOST: the server's address.

use std::fmt;

use thiserror::Error;

/// The host and port to connect to. Its text has brackets around an IPv6 address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name or an address; IPv6 without brackets.
    pub host: String,
    /// Never 0.
    pub port: u16,
}

/// Names of commands, which are no hosts.
const COMMANDS: [&str; 4] = ["blast", "merge", "schema", "serve"];

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
    #[error("HOST `{0}`: volley connects over TCP: give `host:port` instead of a `{1}` target")]
    Scheme(String, String),
    #[error(
        "HOST `{0}` is a URL: give `host:port`, with `--insecure` for plaintext or without it for TLS"
    )]
    Url(String),
    #[error("HOST `{0}`: give only `host:port`, and name the method with `--call`")]
    Path(String),
    #[error("HOST `{0}` is not a host name: give `host:port`, such as `localhost:8080`")]
    Name(String),
}

/// Reads `host:port`, `[address]:port`, or `:port` for localhost.
pub fn parse(text: &str) -> Result<Address, HostError> {
    let text = text.trim();
    let owned = || text.to_owned();
    if let Some(command) = COMMANDS.into_iter().find(|name| *name == text) {
        return Err(HostError::Command(command));
    }
    if let Some(command) = COMMANDS
        .into_iter()
        .find(|name| !text.contains(':') && strsim::osa_distance(name, text) == 1)
    {
        return Err(HostError::Typo(owned(), command));
    }
    refuse_other_targets(text)?;
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest
                .split_once(']')
                .ok_or_else(|| HostError::Brackets(owned()))?;
            if host.is_empty() {
                return Err(HostError::Brackets(owned()));
            }
            let port = rest
                .strip_prefix(':')
                .ok_or_else(|| HostError::NoPort(owned()))?;
            (host, port)
        }
        None => {
            let (host, port) = text
                .rsplit_once(':')
                .ok_or_else(|| HostError::NoPort(owned()))?;
            if host.contains(':') {
                return Err(HostError::Brackets(owned()));
            }
            (if host.is_empty() { "localhost" } else { host }, port)
        }
    };
    if host.contains(|c: char| c.is_whitespace() || c.is_control() || "[]@,".contains(c)) {
        return Err(HostError::Name(owned()));
    }
    let bad_port = || HostError::Port {
        host: owned(),
        port: port.to_owned(),
    };
    match port.parse() {
        _ if port.is_empty() => Err(HostError::NoPort(text.trim_end_matches(':').to_owned())),
        Ok(0) | Err(_) => Err(bad_port()),
        Ok(_) if port.starts_with('+') => Err(bad_port()),
        Ok(port) => Ok(Address {
            host: host.to_owned(),
            port,
        }),
    }
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

/// The host of an authority, without port and brackets.
pub fn without_port(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Detects gRPC's other name syntaxes (<https://github.com/grpc/grpc/blob/master/doc/naming.md>),
/// URLs and paths.
fn refuse_other_targets(text: &str) -> Result<(), HostError> {
    const SCHEMES: [&str; 9] = [
        "dns:",
        "unix:",
        "unix-abstract:",
        "vsock:",
        "ipv4:",
        "ipv6:",
        "passthrough:",
        "xds:",
        "google-c2p:",
    ];
    for scheme in SCHEMES {
        // `dns:53` is a host named `dns`.
        let rest = text.strip_prefix(scheme);
        if rest.is_some_and(|rest| rest.parse::<u16>().is_err()) {
            return Err(HostError::Scheme(text.to_owned(), scheme.to_owned()));
        }
    }
    match text {
        _ if text.contains("://") => Err(HostError::Url(text.to_owned())),
        _ if text.contains('/') => Err(HostError::Path(text.to_owned())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
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
            assert_eq!(parse(text), Ok(Address { host, port }), "{text}");
        }
    }

    #[test]
    fn a_host_without_a_port_is_refused() {
        let line =
            "HOST `localhost` has no port: write `localhost:8080`, or the port your server has";
        assert_eq!(refusal("localhost"), line);
        assert_eq!(refusal("localhost:"), line);
        assert_eq!(parse("[::1]"), Err(HostError::NoPort("[::1]".into())));
        assert_eq!(parse("serve"), Err(HostError::Command("serve")));
    }

    #[test]
    fn bad_ports_are_refused() {
        for port in ["0", "65536", "http", "+80", "-1"] {
            assert_eq!(
                refusal(&format!("localhost:{port}")),
                format!(
                    "HOST `localhost:{port}`: `{port}` is not a port: give a number from 1 to 65535"
                )
            );
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
    fn targets_of_other_kinds_are_refused_by_name() {
        for (text, scheme) in [
            ("dns:///localhost:8080", "dns:"),
            ("unix:/tmp/grpc.sock", "unix:"),
            ("unix-abstract:name", "unix-abstract:"),
            ("passthrough:///localhost:8080", "passthrough:"),
        ] {
            assert_eq!(
                refusal(text),
                format!(
                    "HOST `{text}`: volley connects over TCP: give `host:port` instead of a `{scheme}` target"
                )
            );
        }
        assert_eq!(
            parse("http://a:80"),
            Err(HostError::Url("http://a:80".into()))
        );
        assert_eq!(parse("a:80/x"), Err(HostError::Path("a:80/x".into())));
        assert_eq!(parse("a b:80"), Err(HostError::Name("a b:80".into())));
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
        fn any_text_is_answered(text in "\\PC{0,40}") {
            if let Ok(target) = parse(&text) {
                prop_assert!(target.port > 0 && !target.host.is_empty());
            }
        }
    }
}
