//! Plaintext or TLS, and the names that go with it.

use crate::cli::args::ConnectionArgs;
use crate::cli::options::Security;

use super::error::UsageError;
use super::{filled, filled_path, on};

pub struct Resolved {
    pub security: Security,
    pub authority: Option<String>,
}

pub fn resolve(args: &ConnectionArgs) -> Result<Resolved, UsageError> {
    let cacert = filled_path(args.cacert.clone());
    let cert = filled_path(args.cert.clone());
    let key = filled_path(args.key.clone());
    let cname = filled(args.cname.as_deref());
    let authority = filled(args.authority.as_deref());
    let skip_verify = on(args.skip_tls);

    if on(args.insecure) {
        let unused = [
            ("cacert", cacert.is_some()),
            ("cert", cert.is_some()),
            ("key", key.is_some()),
            ("cname", cname.is_some()),
            ("skipTLS", skip_verify),
        ];
        return match unused.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(UsageError::PlaintextWith { flag }),
            None => Ok(Resolved {
                security: Security::Plain,
                authority,
            }),
        };
    }
    match (&cert, &key) {
        (Some(_), None) => return Err(UsageError::CertWithoutKey),
        (None, Some(_)) => return Err(UsageError::KeyWithoutCert),
        _ if skip_verify && cacert.is_some() => return Err(UsageError::RootsUnused),
        _ => {}
    }
    // Either name defaults to the other one, as in grpc-go.
    let server_name = cname.clone().or_else(|| authority.as_deref().map(host_of));
    Ok(Resolved {
        security: Security::Tls {
            skip_verify,
            cacert,
            cert,
            key,
            server_name,
        },
        authority: authority.or(cname),
    })
}

/// The host of an authority, without port and brackets.
fn host_of(authority: &str) -> String {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => authority,
    };
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn the_host_of_an_authority_has_no_port_and_no_brackets() {
        for (authority, host) in [
            ("a.b:443", "a.b"),
            ("a.b", "a.b"),
            ("[::1]:443", "::1"),
            ("[::1]", "::1"),
        ] {
            assert_eq!(host_of(authority), host);
        }
    }
}
