//! The server's side of TLS.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::config::Identity;
use super::error::ServeError;

/// What all TLS connections share: the identity, no client certificates, and ALPN with only `h2`.
pub(super) fn load(identity: &Identity) -> Result<Arc<ServerConfig>, ServeError> {
    let Identity { cert, key } = identity;
    let unfit = |reason| ServeError::Identity {
        cert: cert.clone(),
        key: key.clone(),
        reason,
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|reason| broken(cert, &reason))?;
    if chain.is_empty() {
        return Err(broken(cert, &PemError::NoItemsFound));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|reason| broken(key, &reason))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unfit)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(unfit)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

fn broken(path: &Path, reason: &PemError) -> ServeError {
    ServeError::Pem {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
