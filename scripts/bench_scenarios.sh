#!/usr/bin/env bash
# Compare tools that make dependent requests: volley, h2loadrunner, h2load and k6 create, change and
# delete items on the same server in turn, and the server counts too.
#
#   ./scripts/bench_scenarios.sh [--json]
#   ./scripts/bench_scenarios.sh --help
#
# Prints CPU per request, rate and memory: the median of three rounds. Needs Go for one of the
# servers, and Rust for volley. Tools that are missing are reported and left out: H2LOADRUNNER and K6
# name them, h2load (in Debian's nghttp2-client) is found on PATH.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.bench_scenarios "$@"
