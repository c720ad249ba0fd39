//! Generates the server's code from benchmark.proto, without protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    volo_build::Builder::protobuf()
        .add_service("benchmark.proto")
        .include_dirs(vec![".".into()])
        .write()?;
    Ok(())
}
