//! Why a connection is lost, or never was one.

use std::fmt;
use std::io;

use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError, Error, OtherError, PeerMisbehaved};

use super::trust::{Stranger, Uncheckable};
use volley_http::http2::GoAway;
use volley_http::{http1, http2};

/// The reason. Whoever asked for the connection words it, and says what helps.
#[derive(Debug)]
pub enum Lost {
    /// The socket could not be connected.
    Connect(io::Error),
    /// The proxy does not connect the server: what it said.
    Proxy(String),
    /// The TLS handshake failed.
    Handshake(io::Error),
    /// TLS failed after it.
    Tls(io::Error),
    /// The server chose a protocol that was not offered (ALPN).
    Alpn(Vec<u8>),
    /// The server broke a rule, perhaps with its first bytes.
    Rule { rule: Rule, is_greeting: bool },
    /// The server, or the proxy before it, closed it before it was ready.
    ClosedEarly { by_proxy: bool, is_tls: bool },
    /// The server closed it; with what it had said about that.
    Closed(Option<GoAway>),
    /// The server did not answer a PING, and brought nothing else.
    Mute,
    /// It could not be read, or not be written.
    Io(io::Error),
}

/// What is said of [`Lost::ClosedEarly`] if the proxy closed it.
pub const PROXY_CLOSED: &str = "the proxy (`HTTPS_PROXY`) closed the connection";

/// What is said of [`Lost::Mute`].
pub const MUTE: &str = "the server did not answer a PING";

/// A rule of HTTP that the server broke.
#[derive(Debug)]
pub enum Rule {
    Http1(http1::Violation),
    Http2(http2::Violation),
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http1(violation) => violation.fmt(out),
            Self::Http2(violation) => violation.fmt(out),
        }
    }
}

/// The reason why connecting failed, and what may help.
pub fn connect_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "connection refused (is the server running there?)".to_owned()
        }
        io::ErrorKind::NotFound => {
            "there is no such socket (is the server running there?)".to_owned()
        }
        io::ErrorKind::WouldBlock => "the server does not accept more connections".to_owned(),
        _ if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            "too many open files (raise `ulimit -n`, or lower `--connections`)".to_owned()
        }
        _ => error.to_string(),
    }
}

/// What remedies of TLS errors are called.
pub struct Remedies {
    /// Names an authority.
    pub authority: &'static str,
    /// Accepts any certificate.
    pub any: &'static str,
    /// The name in the certificate.
    pub name: &'static str,
    pub plaintext: &'static str,
    /// The client's own certificate.
    pub identity: &'static str,
}

/// What a TLS error means, and what helps.
pub fn tls_words(error: &io::Error, with: &Remedies) -> String {
    use CertificateError as Wrong;
    let Remedies {
        authority,
        any,
        name,
        plaintext,
        identity,
    } = with;
    let words = match cause(error) {
        Some(Error::InvalidCertificate(Wrong::UnknownIssuer)) => format!(
            "nobody who is trusted here has signed the server's certificate: name its authority with {authority}, or \
             accept any certificate with {any}"
        ),
        Some(Error::InvalidCertificate(Wrong::Other(OtherError(why))))
            if let Some(Stranger(error)) = why.downcast_ref() =>
        {
            return format!(
                "TLS: none of the certificates in {authority} has signed the server's certificate: name its authority \
                 there, or accept any certificate with {any} ({error})"
            );
        }
        Some(Error::InvalidCertificate(Wrong::Other(OtherError(why))))
            if let Some(words) = why.downcast_ref::<Uncheckable>() =>
        {
            return format!(
                "TLS: {words}, which volley cannot check: give it another, or accept any certificate with {any}"
            );
        }
        Some(Error::InvalidCertificate(Wrong::NotValidForNameContext { presented, .. }))
            if presented.is_empty() =>
        {
            format!(
                "the server's certificate names no host (no subjectAltName; its common name does not count): give it \
                 one, or accept any certificate with {any}"
            )
        }
        Some(Error::InvalidCertificate(
            Wrong::NotValidForName | Wrong::NotValidForNameContext { .. },
        )) => format!(
            "the server's certificate is for another name: give one that it has with {name}"
        ),
        Some(Error::InvalidCertificate(Wrong::Expired | Wrong::ExpiredContext { .. })) => {
            format!("the server's certificate has expired: renew it, or accept any with {any}")
        }
        Some(Error::InvalidCertificate(_)) => {
            format!("the server's certificate is not valid: mend it, or accept any with {any}")
        }
        Some(Error::InvalidMessage(_)) => {
            format!("the server does not speak TLS: if it speaks plaintext, {plaintext}")
        }
        Some(Error::AlertReceived(AlertDescription::HandshakeFailure)) => format!(
            "the server has no cipher or kind of signature that volley knows; a certificate with SHA-1 needs {any}, and \
             one with a key on P-521 {any} and TLS 1.3"
        ),
        Some(Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateUnknown,
        )) => {
            format!("the server wants a certificate that it trusts: give one with {identity}")
        }
        _ => "the handshake failed".to_owned(),
    };
    format!("TLS: {words} ({error})")
}

fn cause(error: &io::Error) -> Option<&Error> {
    error.get_ref().and_then(|cause| cause.downcast_ref())
}

/// Whether a TLS server has refused HTTP/2, or chose what it was not offered.
pub fn refuses_http2(error: &io::Error) -> bool {
    matches!(
        cause(error),
        Some(
            Error::AlertReceived(AlertDescription::NoApplicationProtocol)
                | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol)
                | Error::NoApplicationProtocol
        )
    )
}
