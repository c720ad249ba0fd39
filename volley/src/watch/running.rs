//! A server while it runs.

use std::fs;

use crate::spec::ListenAddress;

/// A server that ends with the program.
pub struct Server {
    /// Where it listens. A socket is removed at the end.
    pub address: ListenAddress,
    /// Waits for the answers that are on their way.
    pub(crate) farewell: Option<Box<dyn FnOnce() + Send>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(farewell) = self.farewell.take() {
            farewell();
        }
        if let ListenAddress::Unix(path) = &self.address {
            // Somebody may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}
