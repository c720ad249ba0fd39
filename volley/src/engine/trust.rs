//! Which server certificates are accepted.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{self, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

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
    /// `--skipTLS`: any certificate is accepted; the handshake's signatures are still checked.
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
        Err(Error::InvalidCertificate(CertificateError::Other(OtherError(error))))
            if error.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity) =>
        {
            Ok(true)
        }
        verdict => verdict.map(|()| false),
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
        if let Whom::Named { named, roots } = &self.whom {
            let server = ParsedCertificate::try_from(end_entity)?;
            if named.contains(end_entity) {
                is_authority(&server, now, self.algorithms)?;
            } else {
                verify_server_cert_signed_by_trust_anchor(
                    &server,
                    roots,
                    intermediates,
                    now,
                    self.algorithms.all,
                )?;
            }
            verify_server_name(&server, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls12_signature(message, cert, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls13_signature(message, cert, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
