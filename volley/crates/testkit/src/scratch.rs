//! A folder for one test's files, removed when the test is over.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::CertifiedKey;

pub struct Scratch(PathBuf);

/// A certificate that signs itself, and where it and its key are.
pub struct Certificate {
    pub cert: PathBuf,
    pub key: PathBuf,
    pub der: Vec<u8>,
}

impl Default for Scratch {
    fn default() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("volley-scratch-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Scratch {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, content: &(impl AsRef<[u8]> + ?Sized)) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes a certificate for a host.
    pub fn certificate(&self, host: &str) -> Certificate {
        let made = rcgen::generate_simple_self_signed([host.to_owned()]);
        let CertifiedKey { cert, signing_key } = made.unwrap();
        Certificate {
            cert: self.write("cert.pem", &cert.pem()),
            key: self.write("key.pem", &signing_key.serialize_pem()),
            der: cert.der().to_vec(),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files left behind do no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
