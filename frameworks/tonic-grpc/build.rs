//! Generates the server's code from benchmark.proto, without protoc.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=benchmark.proto");
    let descriptors = protox::compile(["benchmark.proto"], ["."])?;
    let set = PathBuf::from(env::var("OUT_DIR")?).join("descriptors.bin");
    fs::write(set, descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(descriptors)?;
    Ok(())
}
