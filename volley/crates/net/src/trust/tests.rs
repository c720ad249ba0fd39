//! Certificates of OpenSSL, as they are found on old servers: `tests/certificates`. They end in a hundred years.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;

use super::*;
use crate::pem;
use crate::{Remedies, tls_words};

const REMEDIES: Remedies = Remedies {
    authority: "`--cacert`",
    any: "`--skipTLS`",
    name: "`--cname`",
    plaintext: "use `--insecure`",
    identity: "`--cert` and `--key`",
};

macro_rules! certificate {
    ($name:literal) => {
        pem::certificates(include_bytes!(concat!(
            "../../tests/certificates/",
            $name,
            ".pem"
        )))
        .unwrap()
        .remove(0)
    };
}

fn trust(root: &CertificateDer<'static>) -> Trust {
    let algorithms = ring::default_provider().signature_verification_algorithms;
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let named = vec![root.clone()];
    Trust {
        whom: Whom::Named {
            named,
            roots,
            are_given: false,
        },
        algorithms,
    }
}

fn verdict(
    trust: &Trust,
    server: &CertificateDer<'_>,
    between: &[CertificateDer<'_>],
) -> Result<(), Error> {
    let name = ServerName::try_from("a.test").unwrap();
    let verified = trust.verify_server_cert(server, between, &name, &[], UnixTime::now());
    verified.map(drop)
}

fn words(trust: &Trust, server: &CertificateDer<'_>) -> String {
    let error = verdict(trust, server, &[]).unwrap_err();
    tls_words(&std::io::Error::other(error), &REMEDIES)
}

#[test]
fn what_cannot_be_checked_is_named() {
    let authority = certificate!("authority");
    for (root, server, expected) in [
        (
            &authority,
            certificate!("version-1"),
            "the server's certificate is of X.509 version 1",
        ),
        (
            &authority,
            certificate!("sha1"),
            "the server's certificate is signed with ECDSA and SHA-1",
        ),
        (
            &certificate!("p521-authority"),
            certificate!("of-p521"),
            "the authority of the server's certificate has an ECDSA key on the curve P-521",
        ),
        (
            &certificate!("rsa1024-authority"),
            certificate!("of-rsa1024"),
            "the authority of the server's certificate has an RSA key of 1024 bits",
        ),
    ] {
        let line = format!(
            "TLS: {expected}, which volley cannot check: give it another, or accept any certificate with `--skipTLS`"
        );
        assert_eq!(words(&trust(root), &server), line);
    }
}

#[test]
fn whoever_accepts_anyone_accepts_these() {
    let anyone = Trust {
        whom: Whom::Anyone,
        algorithms: ring::default_provider().signature_verification_algorithms,
    };
    for server in [
        certificate!("version-1"),
        certificate!("sha1"),
        certificate!("of-p521"),
        CertificateDer::from_slice(b"none"),
    ] {
        assert_eq!(verdict(&anyone, &server, &[]), Ok(()));
    }
    let schemes = anyone.supported_verify_schemes();
    assert!(schemes.contains(&SignatureScheme::ECDSA_NISTP521_SHA512));
    let named = trust(&certificate!("authority")).supported_verify_schemes();
    assert!(!named.contains(&SignatureScheme::ECDSA_NISTP521_SHA512));
}

/// A root, one that it has signed, and a server's certificate that this has signed. All are authorities.
fn authorities() -> [CertificateDer<'static>; 3] {
    let params = |name: &str, constraints| {
        let mut params = CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(constraints);
        params
    };
    let root = params("root", BasicConstraints::Unconstrained);
    let between = params("between", BasicConstraints::Constrained(0));
    let server = params("server", BasicConstraints::Unconstrained);
    let keys: [_; 3] = std::array::from_fn(|_| KeyPair::generate().unwrap());
    let by_root = Issuer::from_params(&root, &keys[0]);
    let by_between = Issuer::from_params(&between, &keys[1]);
    [
        root.self_signed(&keys[0]).unwrap().der().clone(),
        between.signed_by(&keys[1], &by_root).unwrap().der().clone(),
        server
            .signed_by(&keys[2], &by_between)
            .unwrap()
            .der()
            .clone(),
    ]
}

#[test]
fn an_authority_that_a_trusted_one_has_signed_is_a_server_too() {
    let [root, between, server] = authorities();
    let trusting = trust(&root);
    let chain = [between.clone()];
    assert_eq!(verdict(&trusting, &server, &chain), Ok(()));
    assert_eq!(verdict(&trusting, &between, &[]), Ok(()));
    let unknown = Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
    assert_eq!(verdict(&trusting, &server, &[]), unknown);
    let [other, ..] = authorities();
    assert_ne!(verdict(&trust(&other), &server, &chain), Ok(()));
    let name = ServerName::try_from("b.test").unwrap();
    let elsewhere = trusting.verify_server_cert(&server, &chain, &name, &[], UnixTime::now());
    assert!(elsewhere.is_err());
}

#[test]
fn no_byte_of_an_authority_can_be_changed() {
    let [root, between, server] = authorities();
    let trusting = trust(&root);
    for at in 0..server.len() {
        let mut forged = server.to_vec();
        forged[at] ^= 1;
        let forged = CertificateDer::from(forged);
        assert_ne!(
            verdict(&trusting, &forged, std::slice::from_ref(&between)),
            Ok(()),
            "{at}"
        );
    }
    // The form that webpki is shown is not signed by anyone.
    let shown = Certificate::read(&server)
        .unwrap()
        .as_no_authority()
        .unwrap();
    let shown = CertificateDer::from(shown);
    assert_ne!(verdict(&trusting, &shown, &[between]), Ok(()));
}

#[test]
fn a_certificate_without_names_is_named_as_such() {
    let keys = KeyPair::generate().unwrap();
    let params = CertificateParams::new(Vec::<String>::new()).unwrap();
    let server = params.self_signed(&keys).unwrap().der().clone();
    let line = words(&trust(&server), &server);
    let start = "TLS: the server's certificate names no host (no subjectAltName; its common name does not count): \
                 give it one, or accept any certificate with `--skipTLS`";
    assert!(line.starts_with(start), "{line}");
}
