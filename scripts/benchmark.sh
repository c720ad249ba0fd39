#!/usr/bin/env bash
# Measure a framework under profiles, save the records, rebuild the leaderboard and the site.
#
#   ./scripts/benchmark.sh <framework|all> [profile|'pattern-*']...
#   ./scripts/benchmark.sh --help
#
# Needs Python 3.11 and, for ghz and the Go servers, Go or Docker; everything else sets itself up.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" run "$@"
