//! Generates the server's code from benchmark.proto, without protoc.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=benchmark.proto");
    let descriptors = protox::compile(["benchmark.proto"], ["."])?;
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(descriptors)?;
    Ok(())
}
