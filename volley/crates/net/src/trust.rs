//! Which server certificates are accepted.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{self, WebPkiSupportedAlgorithms};
use rustls::pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, ServerName,
    SignatureVerificationAlgorithm, UnixTime,
};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

use super::certificate::Certificate;

/// What a server may also sign with if nothing of it is checked.
const UNCHECKED: [SignatureScheme; 4] = [
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PKCS1_SHA1,
    SignatureScheme::ECDSA_SHA1_Legacy,
];

/// Checks the certificate of a server.
#[derive(Debug)]
pub struct Trust {
    /// Who is trusted.
    pub whom: Whom,
    /// The signatures that are understood.
    pub algorithms: WebPkiSupportedAlgorithms,
}

/// Who is trusted.
#[derive(Debug)]
pub enum Whom {
    /// `--skipTLS`: any certificate is accepted. Neither it nor the handshake's signature is looked at: whoever stands
    /// between could show a certificate of their own, so that a signature would prove nothing.
    Anyone,
    /// A chain that ends at a trusted root, or exactly a certificate that `--cacert` or the host names as a root.
    ///
    /// The second rule is how a self-signed certificate is trusted. Go and OpenSSL have it; rustls does
    /// not, because such a certificate often declares itself an authority.
    Named {
        /// The certificates of `--cacert`, or the host's own.
        named: Vec<CertificateDer<'static>>,
        /// Those that may sign others.
        roots: RootCertStore,
        /// They are not the host's own.
        are_given: bool,
    },
}

/// Whether a root may sign other certificates. Go asks for its dates, and for an authority, unless the certificate is
/// too old to say so; rustls asks for nothing.
pub fn may_sign(root: &CertificateDer<'_>, algorithms: WebPkiSupportedAlgorithms) -> bool {
    ParsedCertificate::try_from(root).map_or(true, |root| {
        is_authority(&root, UnixTime::now(), algorithms) == Ok(true)
    })
}

/// Whether a certificate is an authority. Fails if its dates are wrong, or if it is none and not for servers.
fn is_authority(
    alone: &ParsedCertificate<'_>,
    now: UnixTime,
    algorithms: WebPkiSupportedAlgorithms,
) -> Result<bool, Error> {
    let nobody = RootCertStore::empty();
    // The issuer is looked for when all else is checked.
    match verify_server_cert_signed_by_trust_anchor(alone, &nobody, &[], now, algorithms.all) {
        Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => Ok(false),
        Err(error) if is_of(&error, &webpki::Error::CaUsedAsEndEntity) => Ok(true),
        verdict => verdict.map(|()| false),
    }
}

/// Whether it is this error of webpki, which rustls has no name for.
fn is_of(error: &Error, wanted: &webpki::Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(why))) => {
            why.downcast_ref() == Some(wanted)
        }
        _ => false,
    }
}

/// What a certificate has that cannot be checked here, for people.
#[derive(Debug)]
pub struct Uncheckable(String);

impl fmt::Display for Uncheckable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Uncheckable {}

/// None of those who are named with `--cacert` has signed the certificate.
#[derive(Debug)]
pub struct Stranger(pub Error);

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Stranger {}

/// Says what a certificate has that webpki or ring cannot check, if that may be the reason.
#[cold]
fn explained(error: Error, odd: impl FnOnce() -> Option<String>) -> Error {
    use CertificateError as Wrong;
    let is_of_kind = match &error {
        Error::InvalidCertificate(
            Wrong::BadSignature
            | Wrong::UnsupportedSignatureAlgorithmContext { .. }
            | Wrong::UnsupportedSignatureAlgorithmForPublicKeyContext { .. },
        ) => true,
        error => is_of(error, &webpki::Error::UnsupportedCertVersion),
    };
    match is_of_kind.then(odd).flatten() {
        Some(words) => {
            let why = OtherError(Arc::new(Uncheckable(words)));
            Error::InvalidCertificate(Wrong::Other(why))
        }
        None => error,
    }
}

/// What cannot be checked of a server's certificate, those above it, and those that are trusted.
fn odd_chain(
    end_entity: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    named: &[CertificateDer<'_>],
) -> Option<String> {
    let own = Certificate::read(end_entity)?;
    if let Some(words) = own.odd_form() {
        return Some(format!("the server's certificate {words}"));
    }
    let above = intermediates
        .iter()
        .filter_map(|der| Certificate::read(der));
    // A root that is sent along is not checked.
    let above: Vec<_> = above.filter(|one| !one.is_issued_by(one)).collect();
    let mut odd = above
        .iter()
        .map(|one| one.odd_form().or_else(|| one.odd_key()));
    if let Some(words) = odd.find_map(|odd| odd) {
        return Some(format!("a certificate in the server's chain {words}"));
    }
    let roots = named.iter().filter_map(|der| Certificate::read(der));
    let mut odd = roots.filter_map(|root| {
        let mut below = [&own].into_iter().chain(&above);
        below
            .any(|one| one.is_issued_by(&root))
            .then(|| root.odd_key())?
    });
    let words = odd.next()?;
    Some(format!("the authority of the server's certificate {words}"))
}

/// The same of what is signed with the server's key.
fn odd_signer(end_entity: &CertificateDer<'_>) -> Option<String> {
    let words = Certificate::read(end_entity)?;
    let words = words.odd_key().or_else(|| words.odd_form())?;
    Some(format!("the server's certificate {words}"))
}

/// Whether a trusted root has signed a server's certificate. One that calls itself an authority is taken too, as Go and
/// OpenSSL take it. webpki refuses it. So webpki is shown a copy without that word, and the signature is checked over the
/// original.
fn is_signed(
    end_entity: &CertificateDer<'_>,
    roots: &RootCertStore,
    intermediates: &[CertificateDer<'_>],
    now: UnixTime,
    algorithms: WebPkiSupportedAlgorithms,
) -> Result<(), Error> {
    let verify = |der: &CertificateDer<'_>, all: &[&dyn SignatureVerificationAlgorithm]| {
        let server = ParsedCertificate::try_from(der)?;
        verify_server_cert_signed_by_trust_anchor(&server, roots, intermediates, now, all)
    };
    let verdict = verify(end_entity, algorithms.all);
    let is_authority = |error| is_of(error, &webpki::Error::CaUsedAsEndEntity);
    if !verdict.as_ref().is_err_and(is_authority) {
        return verdict;
    }
    let read = Certificate::read(end_entity);
    let Some((changed, place)) = read.and_then(|read| Some((read.as_no_authority()?, read.signed)))
    else {
        return verdict;
    };
    let original = |of: &&'static dyn SignatureVerificationAlgorithm| Original {
        of: *of,
        shown: changed.get(place.clone()).unwrap_or_default(),
        signed: end_entity.get(place.clone()).unwrap_or_default(),
    };
    let all: Vec<_> = algorithms.all.iter().map(original).collect();
    let all = all
        .iter()
        .map(|one| one as &dyn SignatureVerificationAlgorithm);
    verify(
        &CertificateDer::from_slice(&changed),
        &all.collect::<Vec<_>>(),
    )
}

/// Checks the signature of what was `signed` where webpki has it check that of what it was `shown`.
#[derive(Debug)]
struct Original<'a> {
    of: &'static dyn SignatureVerificationAlgorithm,
    shown: &'a [u8],
    signed: &'a [u8],
}

impl SignatureVerificationAlgorithm for Original<'_> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let message = match message == self.shown {
            true => self.signed,
            false => message,
        };
        self.of.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.of.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.of.signature_alg_id()
    }
}

impl Whom {
    fn check(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        now: UnixTime,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<(), Error> {
        let Self::Named {
            named,
            roots,
            are_given,
        } = self
        else {
            return Ok(());
        };
        let checked = ParsedCertificate::try_from(end_entity).and_then(|server| {
            if named.contains(end_entity) {
                is_authority(&server, now, algorithms)?;
            } else {
                is_signed(end_entity, roots, intermediates, now, algorithms)?;
            }
            verify_server_name(&server, server_name)
        });
        let checked = checked
            .map_err(|error| explained(error, || odd_chain(end_entity, intermediates, named)));
        checked.map_err(|error| match error {
            Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            ) if *are_given => {
                let why = OtherError(Arc::new(Stranger(error)));
                Error::InvalidCertificate(CertificateError::Other(why))
            }
            // Here it is a certificate's signature; the handshake's own has its own words.
            Error::InvalidCertificate(CertificateError::BadSignature) => {
                Error::InvalidCertificate(CertificateError::UnknownIssuer)
            }
            error => error,
        })
    }

    fn is_anyone(&self) -> bool {
        matches!(self, Self::Anyone)
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let algorithms = self.algorithms;
        self.whom
            .check(end_entity, intermediates, server_name, now, algorithms)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.whom.is_anyone() {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => crypto::verify_tls12_signature(message, cert, signature, &self.algorithms)
                .map_err(|error| explained(error, || odd_signer(cert))),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.whom.is_anyone() {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => crypto::verify_tls13_signature(message, cert, signature, &self.algorithms)
                .map_err(|error| explained(error, || odd_signer(cert))),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.algorithms.supported_schemes();
        if self.whom.is_anyone() {
            schemes.extend(UNCHECKED);
        }
        schemes
    }
}

#[cfg(test)]
mod tests;
