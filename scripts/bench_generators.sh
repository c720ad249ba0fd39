#!/usr/bin/env bash
# Compare the load generators ghz, h2load and volley: each loads the same grpc-go server in turn,
# and the server counts too.
#
#   ./scripts/bench_generators.sh [--json]
#   ./scripts/bench_generators.sh --help
#
# Prints CPU per message or call, rate, memory and the difference from the server's count: the
# median of three rounds, in about six minutes. Before each turn it waits until the host was quiet
# for five seconds. Needs Go for the server. A generator that is missing is reported and left out:
# h2load is in Debian's nghttp2-client, volley needs Rust.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.bench "$@"
