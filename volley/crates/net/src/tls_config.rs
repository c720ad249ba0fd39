//! How TLS is configured: which servers to trust, and the client's own identity. [`transport`](super::transport) drives it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

use super::certificate::Certificate;
use super::trust::{Trust, Whom, may_sign};
use crate::pem;
use volley_base::input;
use volley_load::spec::{Target, TargetSpec, TlsSpec, without_port};

/// Why TLS cannot be set up as requested.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file of certificates or keys is missing or broken.
    #[error("`--{flag}`: cannot read `{path}`: {reason}")]
    File {
        /// The flag that named it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The host has no root certificates.
    #[error(
        "this host has no trusted root certificates; name some with `--cacert`, or use `--skipTLS`"
    )]
    NoRoots,
    /// The name cannot appear in a certificate.
    #[error("`{0}` cannot be a name in a certificate; set one with `--cname`")]
    Name(String),
    /// The certificate and the key do not match, or rustls refuses them.
    #[error("`--cert` and `--key`: {0}")]
    Identity(String),
}

/// How TLS connections are made; the same for the whole run.
#[derive(Clone, Debug)]
pub struct TlsClient {
    /// Trust, identity and the ALPN list, which offers only h2.
    pub config: Arc<ClientConfig>,
    /// The name expected in the certificate, sent as SNI.
    pub server_name: ServerName<'static>,
}

/// Builds what all TLS connections of a run share; `None` for plaintext.
pub fn client(spec: &TargetSpec, target: &Target) -> Result<Option<TlsClient>, TlsError> {
    if spec.insecure {
        return Ok(None);
    }
    let TlsSpec {
        skip_verify,
        cacert,
        cert,
        key,
        ..
    } = &spec.tls;
    let provider = ring::default_provider();
    let algorithms = provider.signature_verification_algorithms;
    let identity = match (cert, key) {
        (Some(cert), Some(key)) => Some(identity(cert, key, &provider)?),
        _ => None,
    };
    let whom = match skip_verify {
        true => Whom::Anyone,
        false => named(cacert.as_deref(), algorithms)?,
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Identity(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trust { whom, algorithms }));
    let mut config = match identity {
        Some(own) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own))),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let host = || without_port(&target.authority).to_owned();
    let name = spec.server_name().unwrap_or_else(host);
    let server_name = ServerName::try_from(name.clone()).map_err(|_| TlsError::Name(name))?;
    Ok(Some(TlsClient {
        config: Arc::new(config),
        server_name,
    }))
}

/// Those whom `--cacert` names, or the host.
fn named(cacert: Option<&Path>, algorithms: WebPkiSupportedAlgorithms) -> Result<Whom, TlsError> {
    let named = match cacert {
        Some(path) => certificates("cacert", path)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    for root in named.iter().filter(|root| may_sign(root, algorithms)) {
        match (roots.add(root.clone()), cacert) {
            (Err(error), Some(path)) => return Err(broken("cacert", path, error)),
            // What the host has may be broken.
            (Err(_), None) | (Ok(()), _) => {}
        }
    }
    match named.is_empty() {
        true => Err(TlsError::NoRoots),
        false => Ok(Whom::Named {
            named,
            roots,
            are_given: cacert.is_some(),
        }),
    }
}

/// The client's own certificate and its key.
fn identity(cert: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let chain = certificates("cert", cert)?;
    let private = pem::private_key(&read("key", key)?);
    let private = private.map_err(|reason| broken("key", key, reason))?;
    pem::identity(chain, private, provider).map_err(TlsError::Identity)
}

fn certificates(flag: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = pem::certificates(&read(flag, path)?);
    let found = found.map_err(|reason| broken(flag, path, reason))?;
    match found.iter().all(|one| Certificate::read(one).is_some()) {
        true => Ok(found),
        false => Err(broken(
            flag,
            path,
            "its certificate is broken: it is not X.509",
        )),
    }
}

fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    input::read(path, input::TEXT).map_err(|error| broken(flag, path, error))
}

fn broken(flag: &'static str, path: &Path, reason: impl ToString) -> TlsError {
    TlsError::File {
        flag,
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
