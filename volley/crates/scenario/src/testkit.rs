//! What unit tests share.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

pub use volley_testkit::{output, scripted, sockets, table, texts};

use volley_protobuf::Pool;
use volley_protobuf::compile::compile;

/// What the tests' own file of all kinds of fields declares.
pub fn everything() -> Pool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/protos");
    let mut open = move |name: &str| Ok(fs::read(folder.join(name)).ok());
    Pool::new(compile("everything.proto", &mut open).unwrap()).unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
