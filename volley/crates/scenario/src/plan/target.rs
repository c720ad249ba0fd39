//! Where requests go.

use std::path::PathBuf;

use serde::Deserialize;

use volley_load::spec::Endpoint;

/// A host, or several that are equal, and how to speak with it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name in the file.
    pub name: String,
    /// One or more; connections are dealt out to them in turn.
    pub hosts: Vec<Endpoint>,
    pub is_tls: bool,
    pub version: Version,
    /// Connections over all threads; 0: no request leads there.
    pub connections: u32,
    /// The most requests that may be open on one connection; HTTP/1.1: 1.
    pub streams: u32,
    pub connect_timeout_ns: u64,
    /// Connections that fell back to another host return to their own when it answers again.
    pub fails_back: bool,
    /// What becomes of URLs that lead to no target.
    pub route: Route,
    /// `:authority` or `host`; `None`: the host's own.
    pub authority: Option<String>,
    pub tls: TlsFiles,
}

/// Files and names of TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub server_name: Option<String>,
    /// Any certificate is accepted.
    pub skips_verification: bool,
}

/// The protocol of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Http1,
    /// Over plaintext with prior knowledge.
    Http2,
    /// TLS: whatever ALPN chooses. Plaintext: HTTP/1.1.
    Auto,
}

impl Version {
    /// Whether that is HTTP/1.1, as far as it is known before TLS has chosen.
    #[must_use]
    pub fn is_http1(self, is_tls: bool) -> bool {
        match self {
            Self::Http1 => true,
            Self::Http2 => false,
            Self::Auto => !is_tls,
        }
    }
}

/// What becomes of a URL that leads to no target of the file: a value such as `${url}`, or a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The step fails.
    #[default]
    Targets,
    /// Its authority gets connections of its own, as many as the target that led there and with the same `http` and `tls`.
    /// There are at most 64 such authorities.
    Authority,
}
