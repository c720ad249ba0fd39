//! The schema of the benchmark.

use std::path::PathBuf;

use volley_load::spec::SchemaSource;
use volley_protobuf::Pool;
use volley_request::schema;

/// What `requests/benchmark.proto` declares.
pub fn pool() -> Pool {
    let file = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../requests/benchmark.proto"
    ));
    let source = SchemaSource::Proto {
        file,
        import_paths: Vec::new(),
    };
    schema::read(&source)
        .expect("it compiles")
        .expect("it is a file")
}
