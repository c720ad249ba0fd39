//! A target, ready for connections: addresses, TLS, and the names that requests carry.

use std::sync::Arc;
use std::time::Duration;

use crate::plan::{Target, Version};
use volley_http::http::HttpUrl;
use volley_http::http1;
use volley_http::http2;
use volley_load::spec::{self, Endpoint, LbStrategy, TargetSpec, TlsSpec};
use volley_net::names::{Names, system};
use volley_net::proxy::Proxies;
use volley_net::tls_config::{self, TlsClient};
use volley_net::{Lost, NetError};

use super::wire::Http;

/// The offers of ALPN.
const H2: &[u8] = b"h2";
const H1: &[u8] = b"http/1.1";

/// A target, as all threads use it.
pub struct Site {
    pub name: String,
    pub hosts: Vec<SiteHost>,
    pub version: Version,
    /// Connections over all threads; 0: it is not used.
    pub connections: u32,
    /// The most requests on one connection.
    pub streams: usize,
    pub connect_timeout_ns: u64,
    pub fails_back: bool,
}

/// One of a target's hosts.
pub struct SiteHost {
    pub names: Arc<Names>,
    pub tls: Option<TlsClient>,
    /// What `:authority` or `host` says.
    pub authority: String,
    /// The host and the port of `authority`, as cookies and redirects know them.
    host: String,
    port: u16,
    /// Those of the address, which servers write into URLs, too.
    own: (String, u16),
    /// For people.
    pub label: String,
}

impl Site {
    /// Looks the hosts up and reads the files of TLS.
    ///
    /// # Errors
    ///
    /// A name has no address, or TLS cannot be set up.
    pub fn new(target: &Target) -> Result<Self, NetError> {
        let host = |endpoint| SiteHost::new(target, endpoint);
        let is_used = |_: &&Endpoint| target.connections > 0;
        Ok(Self {
            name: target.name.clone(),
            hosts: { target.hosts.iter().filter(is_used) }
                .map(host)
                .collect::<Result<_, _>>()?,
            version: target.version,
            connections: target.connections,
            streams: match target.version {
                Version::Http1 => 1,
                _ => target.streams.max(1) as usize,
            },
            connect_timeout_ns: target.connect_timeout_ns,
            fails_back: target.fails_back,
        })
    }

    /// Which of the hosts a link of this number belongs to.
    pub fn own_host(&self, number: u32) -> usize {
        number as usize % self.hosts.len().max(1)
    }

    /// Has the hosts' names looked up soon: they may lead elsewhere by now.
    pub fn look_up_again(&self) {
        for host in &self.hosts {
            host.names.ask();
        }
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        match self.hosts.first().is_some_and(|host| host.tls.is_some()) {
            true => "https",
            false => "http",
        }
    }

    /// HTTP of a new connection, as far as it is known before the TLS handshake.
    pub fn http(&self) -> Http {
        match self.version.is_http1(self.scheme() == "https") {
            true => one(),
            false => two(),
        }
    }

    /// Makes HTTP of a connection what TLS has chosen.
    ///
    /// # Errors
    ///
    /// The server chose what was not offered.
    pub fn agree(&self, http: &mut Http, alpn: Option<&[u8]>) -> Result<(), Lost> {
        match (alpn, self.version) {
            (Some(H2), Version::Http2 | Version::Auto) => {}
            (Some(H1) | None, Version::Auto) => *http = one(),
            (Some(H1), Version::Http1) | (None, _) => {}
            (Some(other), _) => return Err(Lost::Alpn(other.to_vec())),
        }
        Ok(())
    }
}

fn one() -> Http {
    Http::One(Box::new(http1::Connection::new(&http1::Config::default())))
}

fn two() -> Http {
    let config = http2::Config {
        window: TargetSpec::default().window,
        ..http2::Config::default()
    };
    Http::Two(Box::new(http2::Connection::new(&config)))
}

impl SiteHost {
    /// The URL of a request with this path and query.
    pub fn url<'a>(&'a self, path: &'a [u8]) -> HttpUrl<'a> {
        HttpUrl {
            is_tls: self.tls.is_some(),
            authority: self.authority.as_bytes(),
            host: self.host.as_bytes(),
            port: self.port,
            target: path,
        }
    }

    /// Whether a URL leads here: by the target's `authority`, or by the host's own name.
    pub fn is_of(&self, url: &HttpUrl<'_>) -> bool {
        let own = HttpUrl {
            host: self.own.0.as_bytes(),
            port: self.own.1,
            ..self.url(b"/")
        };
        own.is_same_origin(url) || self.url(b"/").is_same_origin(url)
    }

    /// Appends the URL of a request with this path and query.
    pub fn write_url(&self, path: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(if self.tls.is_some() {
            b"https://"
        } else {
            b"http://"
        });
        out.extend_from_slice(self.authority.as_bytes());
        out.extend_from_slice(path);
    }

    fn new(target: &Target, endpoint: &Endpoint) -> Result<Self, NetError> {
        let named = named(target, endpoint);
        let authority = named.authority.clone();
        let tls = tls_config::client(&tls_spec(target), &named)?.map(|mut client| {
            let offers = match target.version {
                Version::Http1 => vec![H1.to_vec()],
                Version::Http2 => vec![H2.to_vec()],
                Version::Auto => vec![H2.to_vec(), H1.to_vec()],
            };
            Arc::make_mut(&mut client.config).alpn_protocols = offers;
            client
        });
        let own = match endpoint {
            Endpoint::Name(address) => (
                spec::without_port(&address.to_string()).to_owned(),
                address.port,
            ),
            Endpoint::Unix(_) => ("localhost".to_owned(), if target.is_tls { 443 } else { 80 }),
        };
        let mut url = if target.is_tls { "https://" } else { "http://" }.to_owned();
        url.push_str(target.authority.as_deref().unwrap_or(&authority));
        let (host, port) = match HttpUrl::parse(url.as_bytes()) {
            Ok(url) => (String::from_utf8_lossy(url.host).into_owned(), url.port),
            Err(_) => own.clone(),
        };
        Ok(Self {
            host,
            port,
            own,
            names: Names::new(
                named,
                Proxies::of_process(),
                LbStrategy::PickFirst,
                Duration::ZERO,
                Box::new(system),
            )?,
            tls,
            authority: target.authority.clone().unwrap_or(authority),
            label: endpoint.to_string(),
        })
    }
}

/// Reads the files of TLS, as [`Site::new`] does, and looks no name up.
///
/// # Errors
///
/// TLS cannot be set up.
pub fn check_tls(target: &Target) -> Result<(), NetError> {
    let mut hosts = target.hosts.iter();
    hosts.try_for_each(|host| {
        tls_config::client(&tls_spec(target), &named(target, host))?;
        Ok(())
    })
}

fn named(target: &Target, endpoint: &Endpoint) -> spec::Target {
    let authority = match endpoint {
        Endpoint::Name(address) => {
            let default_port = if target.is_tls { 443 } else { 80 };
            let text = address.to_string();
            match address.port == default_port {
                true => spec::without_port(&text).to_owned(),
                false => text,
            }
        }
        Endpoint::Unix(_) => "localhost".to_owned(),
    };
    spec::Target {
        endpoints: vec![endpoint.clone()],
        authority,
    }
}

/// The part of a run's target that TLS asks for.
fn tls_spec(target: &Target) -> TargetSpec {
    TargetSpec {
        insecure: !target.is_tls,
        authority: target.authority.clone(),
        tls: TlsSpec {
            skip_verify: target.tls.skips_verification,
            cacert: target.tls.ca.clone(),
            cert: target.tls.cert.clone(),
            key: target.tls.key.clone(),
            cname: target.tls.server_name.clone(),
        },
        ..TargetSpec::default()
    }
}
