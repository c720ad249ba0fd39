#!/usr/bin/env bash
# Measure frameworks under profiles, save the records, and build the leaderboard and the site.
#
#   ./scripts/benchmark.sh FRAMEWORKS [PROFILES]...
#   ./scripts/benchmark.sh grpc-go stream-grpc
#   ./scripts/benchmark.sh 'grpc-go,tonic*' 'stream-*' unary-grpc
#   ./scripts/benchmark.sh all
#   ./scripts/benchmark.sh --help
#
# Needs Python 3.11 and, for ghz and the Go servers, Go or Docker. Everything else sets itself up.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" run "$@"
