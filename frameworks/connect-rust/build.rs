//! Generates the server's code from benchmark.proto, without protoc.

use std::path::PathBuf;
use std::{env, fs};

use prost::Message;

fn main() -> anyhow::Result<()> {
    println!("cargo::rerun-if-changed=benchmark.proto");
    let descriptors = protox::compile(["benchmark.proto"], ["."])?;
    let set = PathBuf::from(env::var("OUT_DIR")?).join("descriptors.bin");
    fs::write(&set, descriptors.encode_to_vec())?;
    connectrpc_build::Config::new()
        .files(&["benchmark.proto"])
        .descriptor_set(set)
        .gate_client_feature(true)
        .include_file("_connectrpc.rs")
        .compile()
}
