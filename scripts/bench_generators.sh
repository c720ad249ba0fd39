#!/usr/bin/env bash
# Hold the load generators against each other: ghz, h2load and volley load the same grpc-go server
# in turn, and its own counts tell how well each one counts.
#
#   ./scripts/bench_generators.sh [--json]
#   ./scripts/bench_generators.sh --help
#
# Prints CPU per message or call, rate, memory and distance from the server's count: medians of
# three interleaved rounds, about three minutes. Needs Go, h2load (Debian: nghttp2-client), and
# for volley Rust.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" bench-generators "$@"
