//! Certificates and private keys, as PEM.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, InconsistentKeys};

/// How a DER element of a certificate or a key begins.
const SEQUENCE: u8 = 0x30;

/// The certificates of a file, at least one.
///
/// # Errors
///
/// There is none, or something is no PEM.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found.map_err(|error| error.to_string())? {
        found if found.is_empty() => Err(lack(pem, "certificate", "x509")),
        found => Ok(found),
    }
}

/// The private key of a file.
///
/// # Errors
///
/// There is none, it is encrypted, or it is no PEM.
pub fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    let is_encrypted =
        has(text, "BEGIN ENCRYPTED PRIVATE KEY") || has(text, "Proc-Type: 4,ENCRYPTED");
    match PrivateKeyDer::from_pem_slice(text) {
        Ok(key) if !has(text, "Proc-Type: 4,ENCRYPTED") => Ok(key),
        _ if is_encrypted => Err(
            "the key is encrypted: decrypt it with `openssl pkey -in FILE -out PLAIN`".to_owned(),
        ),
        Ok(key) => Ok(key),
        Err(pem::Error::NoItemsFound) => Err(lack(text, "private key", "pkey")),
        Err(error) => Err(error.to_string()),
    }
}

/// A certificate of whatever version, and the key that belongs to it.
///
/// # Errors
///
/// It belongs to another one, or is of no known kind.
pub fn identity(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, String> {
    let key = provider.key_provider.load_private_key(key);
    let key = key.map_err(|_| {
        "volley cannot use this kind of key: it takes RSA of 2048 to 8192 bits, ECDSA P-256 and P-384, and Ed25519"
    })?;
    let own = CertifiedKey::new(chain, key);
    match own.keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err("the key is not that of the certificate (the first one in its file)".to_owned())
        }
        Err(Error::InvalidCertificate(CertificateError::BadEncoding)) => {
            Err("its certificate is broken: it is not X.509".to_owned())
        }
        // webpki does not read old versions: the peer has to judge them.
        Ok(()) | Err(_) => Ok(own),
    }
}

/// Why a file without what is looked for has none.
fn lack(pem: &[u8], what: &str, tool: &str) -> String {
    let other = match what {
        "certificate" => "PRIVATE KEY-----",
        _ => "BEGIN CERTIFICATE-----",
    };
    if pem.trim_ascii().is_empty() {
        "it is empty".to_owned()
    } else if pem.first() == Some(&SEQUENCE) {
        format!("it is not PEM, perhaps DER: try `openssl {tool} -inform DER -in FILE -out PEM`")
    } else if has(pem, other) {
        let held = match what {
            "certificate" => "private key",
            _ => "certificate",
        };
        format!("it holds a {held}, and no {what}")
    } else {
        format!("it holds no PEM {what}")
    }
}

fn has(pem: &[u8], words: &str) -> bool {
    memchr::memmem::find(pem, words.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_holds_something_else_is_named_as_what_it_is() {
        let keys = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(["a.test".to_owned()]).unwrap();
        let certificate = params.self_signed(&keys).unwrap();
        let (cert, key) = (certificate.pem(), keys.serialize_pem());
        assert_eq!(
            certificates(cert.as_bytes()).unwrap(),
            [certificate.der().clone()]
        );
        assert!(private_key(format!("{cert}\r\n{key}").as_bytes()).is_ok());
        for (pem, of_certificate, of_key) in [
            (&b" \n"[..], "it is empty", "it is empty"),
            (
                certificate.der(),
                "it is not PEM, perhaps DER: try `openssl x509 -inform DER -in FILE -out PEM`",
                "it is not PEM, perhaps DER: try `openssl pkey -inform DER -in FILE -out PEM`",
            ),
            (
                key.as_bytes(),
                "it holds a private key, and no certificate",
                "",
            ),
            (
                cert.as_bytes(),
                "",
                "it holds a certificate, and no private key",
            ),
            (
                b"hello",
                "it holds no PEM certificate",
                "it holds no PEM private key",
            ),
        ] {
            let found = certificates(pem).err().unwrap_or_default();
            assert_eq!(found, of_certificate);
            assert_eq!(private_key(pem).err().unwrap_or_default(), of_key);
        }
    }

    #[test]
    fn a_key_of_another_certificate_or_of_no_known_kind_is_refused() {
        let provider = rustls::crypto::ring::default_provider();
        let chain = || certificates(include_bytes!("../tests/certificates/version-1.pem")).unwrap();
        let key = include_bytes!("../tests/certificates/version-1.key");
        let own = || private_key(key).unwrap();
        assert!(identity(chain(), own(), &provider).is_ok());
        let authority = certificates(include_bytes!("../tests/certificates/authority.pem"));
        let refused = identity(authority.unwrap(), own(), &provider).unwrap_err();
        assert!(
            refused.starts_with("the key is not that of the certificate"),
            "{refused}"
        );
        let odd = PrivateKeyDer::Pkcs8(vec![SEQUENCE, 3, 2, 1, 0].into());
        let refused = identity(chain(), odd, &provider).unwrap_err();
        assert!(
            refused.starts_with("volley cannot use this kind of key"),
            "{refused}"
        );
    }

    #[test]
    fn an_encrypted_key_is_named_as_such() {
        for pem in [
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        ] {
            let words = private_key(pem.as_bytes()).unwrap_err();
            assert!(words.starts_with("the key is encrypted: decrypt it with `openssl pkey"));
        }
    }
}
