#!/usr/bin/env bash
# Compare volley with protoc: which .proto files are taken, what they describe, and how messages of their types are
# read from JSON and shown as JSON. Exit 1 if something differs that volley/GHZ.md does not name.
#
#   ./scripts/compare-protoc.sh [--seconds 60] [--count N] [--seed N]
#   ./scripts/compare-protoc.sh --help
#
# A seed makes the same file and messages again. Needs Rust for volley.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
# As test.sh builds it.
cargo build --quiet --locked --features docs --manifest-path "$root/volley/Cargo.toml" --example protoc_peer
peer=${CARGO_TARGET_DIR:-$root/volley/target}/debug/examples/protoc_peer
run_tool "$root" requirements-dev.lock tools.compare_protoc "$peer" "$@"
